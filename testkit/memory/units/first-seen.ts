// Since when things stand, in a transaction of the memory store.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { FirstSeenRecords } from "../../../ports/first-seen.ts";
import type { RecordTools } from "../layered-map.ts";

/** By kind, then by what it is about. */
export type FirstSeenTables = Map<string, Map<string, Instant>>;

export function firstSeenChanges(tables: FirstSeenTables, { inTurn, lock, table }: RecordTools): FirstSeenRecords {
  const kinds = table("first_seen", tables);
  const kindOf = (kind: string): Map<string, Instant> => kinds.get(kind) ?? new Map();
  const change = (kind: string, how: (seen: Map<string, Instant>) => void): Promise<void> =>
    inTurn(async () => {
      await lock(`first seen ${kind}`);
      const seen = kindOf(kind);
      how(seen);
      kinds.set(kind, seen);
    });
  return {
    all: (kind) => inTurn(async () => new Map([...kindOf(kind)].sort(([one], [other]) => (one < other ? -1 : 1)))),
    put: (kind, more) =>
      change(kind, (seen) => {
        for (const [about, at] of more) if (!seen.has(about)) seen.set(about, at);
      }),
    remove: (kind, abouts) =>
      change(kind, (seen) => {
        for (const about of abouts) seen.delete(about);
      }),
  };
}
