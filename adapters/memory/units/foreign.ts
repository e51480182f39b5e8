// The numbering of foreign publishers, in a transaction of the memory store.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { ForeignRecords, ForeignStream, KeptPosition } from "../../../ports/foreign-records.ts";
import type { RecordTools } from "../layered-map.ts";

type Kept = ForeignStream & KeptPosition;

export interface ForeignTables {
  readonly positions: Map<string, Kept>;
  readonly unnumbered: Map<string, Instant>;
}

export function foreignTables(): ForeignTables {
  return { positions: new Map(), unnumbered: new Map() };
}

export function foreignChanges(tables: ForeignTables, { inTurn, lock, table }: RecordTools): ForeignRecords {
  const positions = table("foreign_position", tables.positions);
  const unnumbered = table("foreign_unnumbered", tables.unnumbered);
  const sorted = (isWanted: (kept: Kept) => boolean): readonly Kept[] => positions.sorted().filter(isWanted);
  return {
    lock: (stream) =>
      inTurn(async () => {
        await lock(`foreign position ${keyOf(stream)}`);
        const kept = positions.get(keyOf(stream));
        return kept === undefined ? undefined : { last: kept.last, missing: kept.missing };
      }),
    put: ({ source, fundId, kind }, { last, missing }) =>
      inTurn(async () => {
        const stream = { source, fundId, kind };
        await lock(`foreign position ${keyOf(stream)}`);
        positions.set(keyOf(stream), { ...stream, last, missing });
      }),
    noteUnnumbered: (source, at) =>
      inTurn(async () => {
        await lock(`foreign source ${source}`);
        if (unnumbered.has(source)) return false;
        unnumbered.set(source, at);
        return true;
      }),
    positions: (source, fundId) =>
      inTurn(async () => sorted((kept) => kept.source === source && kept.fundId === fundId)),
    withGaps: () => inTurn(async () => sorted(({ missing }) => missing.length > 0)),
  };
}

function keyOf({ source, fundId, kind }: ForeignStream): string {
  return [source, fundId, kind].join("\0");
}
