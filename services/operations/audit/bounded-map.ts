// A map that forgets what was not touched for longest once it is full: memory for what is likely to be asked for again, never the only place
// where it is known.

export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  clear(): void;
}

export function boundedMap<Key, Value>(sizeMax: number): BoundedMap<Key, Value> {
  const kept = new Map<Key, Value>();
  const touch = (key: Key, value: Value): void => {
    kept.delete(key);
    kept.set(key, value);
  };
  return {
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) touch(key, value);
      return value;
    },
    set(key, value) {
      touch(key, value);
      if (kept.size <= sizeMax) return;
      for (const oldest of kept.keys()) {
        kept.delete(oldest);
        return;
      }
    },
    clear: () => kept.clear(),
  };
}
