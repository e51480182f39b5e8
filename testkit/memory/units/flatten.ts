// Flattens with their lines, and drills, in a transaction of the memory store.
import { Fault } from "../../../contracts/src/fault.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { DrillMeasured } from "../../../contracts/src/records/halt.ts";
import type { DrillRecords } from "../../../ports/drill-records.ts";
import type { FlattenRecords, StoredFlatten, StoredFlattenLine } from "../../../ports/flatten-records.ts";
import type { RecordTools } from "../layered-map.ts";
import { pageAfter } from "../page-after.ts";

export interface FlattenTables {
  readonly flattens: Map<string, StoredFlatten>;
  readonly lines: Map<string, StoredFlattenLine>;
  readonly drills: Map<string, DrillMeasured>;
}

export function flattenTables(): FlattenTables {
  return { flattens: new Map(), lines: new Map(), drills: new Map() };
}

type Changes = { readonly flattens: FlattenRecords; readonly drills: DrillRecords };

export function flattenChanges(tables: FlattenTables, { inTurn, lock, table }: RecordTools): Changes {
  const flattens = table("flatten", tables.flattens);
  const lines = table("flatten_line", tables.lines);
  const drills = table("drill", tables.drills);
  const running = (): StoredFlatten | undefined => flattens.filter(({ doneAt }) => doneAt === undefined)[0];
  return {
    flattens: {
      insert: (flatten) =>
        inTurn(async () => {
          await lock("flatten");
          if (flatten.doneAt === undefined && running() !== undefined) return false;
          flattens.set(flatten.flattenId, flatten);
          return true;
        }),
      update: (flatten) =>
        inTurn(async () => {
          await lock("flatten");
          if (flattens.has(flatten.flattenId)) flattens.set(flatten.flattenId, flatten);
        }),
      lockRunning: () =>
        inTurn(async () => {
          if (running() !== undefined) await lock("flatten");
          return running();
        }),
      find: (flattenId) =>
        inTurn(async () =>
          flattenId === undefined ? flattens.filter(() => true).sort(newest)[0] : flattens.get(flattenId),
        ),
      insertLine: (line) =>
        inTurn(async () => {
          await lock(`flatten line ${line.lineId}`);
          if (lines.has(line.lineId)) throw new Fault("STORE_CONFLICT", "that line is there", { retry: "now" });
          lines.set(line.lineId, line);
        }),
      lockLine: (lineId) =>
        inTurn(async () => {
          await lock(`flatten line ${lineId}`);
          return lines.get(lineId);
        }),
      updateLine: (line) =>
        inTurn(async () => {
          await lock(`flatten line ${line.lineId}`);
          if (lines.has(line.lineId)) lines.set(line.lineId, line);
        }),
      lines: (flattenId) => inTurn(async () => lines.filter((line) => line.flattenId === flattenId).sort(byName)),
    },
    drills: {
      insert: (drill) =>
        inTurn(async () => {
          await lock(`drill ${drill.drill_id}`);
          if (drills.has(drill.drill_id)) return false;
          drills.set(drill.drill_id, drill);
          return true;
        }),
      newest: (countMax, after) =>
        inTurn(async () => {
          const order = (one: DrillMeasured, other: DrillMeasured): number =>
            parse(other.at) - parse(one.at) || byText(other.drill_id, one.drill_id);
          return pageAfter(drills.filter(() => true).sort(order), countMax, after, (id) => drills.get(id), order);
        }),
    },
  };
}

function byText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function newest(one: StoredFlatten, other: StoredFlatten): number {
  return other.at - one.at || byText(other.flattenId, one.flattenId);
}

function byName(one: StoredFlattenLine, other: StoredFlattenLine): number {
  return (
    byText(one.fundId, other.fundId) ||
    byText(one.strategyId, other.strategyId) ||
    byText(one.symbol, other.symbol) ||
    byText(one.lineId, other.lineId)
  );
}
