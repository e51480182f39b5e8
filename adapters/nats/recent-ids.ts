// The ids of the events handled last, bounded: what JetStream's own window (minutes) lets through twice is noticed here.
export interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
}

/** Keeps between `countMax` and twice that many ids: two generations cost less than deleting the oldest one by one. */
export function recentIds(countMax: number): RecentIds {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    has: (id) => young.has(id) || old.has(id),
    add(id) {
      young.add(id);
      if (young.size < countMax) return;
      old = young;
      young = new Set();
    },
  };
}
