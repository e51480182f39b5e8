// A map that remembers the newest: as many as it was asked to, and at most twice as many. A map of the language keeps its entries in the
// order in which they came, but finding its first costs a step for every one that was deleted before it: with some ten thousand that is
// microseconds each time. So there are two maps, and when the younger is full it becomes the older one.
export interface NewestMap<Value> {
  get(key: string): Value | undefined;
  /** It is the newest now, also if it was there before. */
  set(key: string, value: Value): void;
  delete(key: string): void;
  clear(): void;
}

export function createNewestMap<Value>(countMin: number): NewestMap<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value) {
      if (young.size >= countMin && !young.has(key)) {
        old = young;
        young = new Map();
      }
      young.set(key, value);
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    clear() {
      young.clear();
      old.clear();
    },
  };
}
