// A map that forgets the oldest once it is full: memory for what is likely to be asked for again, never the only place where it is known. It is two
// maps, the older of which goes as a whole: moving every key that is touched to the end costs more than the work it saves, and finding the first key
// of a map costs a step for every one that was deleted before it.

export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
}

/** Keeps at most `sizeMax` keys, and at least the half of them that was set last. */
export function boundedMap<Key, Value>(sizeMax: number): BoundedMap<Key, Value> {
  const halfMax = Math.max(1, Math.floor(sizeMax / 2));
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value) {
      young.set(key, value);
      if (young.size < halfMax) return;
      old = young;
      young = new Map();
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    clear() {
      young = new Map();
      old = new Map();
    },
  };
}
