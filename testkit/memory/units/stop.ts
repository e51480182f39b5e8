// Synthetic stops that fired, in a transaction of the memory store.
import type { StopRecords, StoredStop } from "../../../ports/stop-records.ts";
import type { RecordTools } from "../layered-map.ts";

export type StopTables = Map<string, StoredStop>;

export function stopChanges(tables: StopTables, { inTurn, lock, table }: RecordTools): StopRecords {
  const stops = table("stop", tables);
  const oldestFirst = (one: StoredStop, other: StoredStop): number =>
    one.firedAt - other.firedAt || (one.stopId < other.stopId ? -1 : 1);
  return {
    insert: (stop) =>
      inTurn(async () => {
        await lock(`stop ${stop.stopId}`);
        if (stops.has(stop.stopId)) return false;
        stops.set(stop.stopId, stop);
        return true;
      }),
    lock: (stopId) =>
      inTurn(async () => {
        await lock(`stop ${stopId}`);
        return stops.get(stopId);
      }),
    update: (stop) =>
      inTurn(async () => {
        await lock(`stop ${stop.stopId}`);
        if (stops.has(stop.stopId)) stops.set(stop.stopId, stop);
      }),
    owed: () => inTurn(async () => stops.filter(({ ended }) => ended === undefined).sort(oldestFirst)),
    ended: (since, countMax, { fundId, afterStopId } = {}) =>
      inTurn(async () => {
        const all = stops
          .filter(({ ended }) => ended !== undefined)
          .sort((one, other) => (other.ended?.at ?? 0) - (one.ended?.at ?? 0) || (one.stopId < other.stopId ? -1 : 1));
        const mark = all.findIndex(({ stopId }) => stopId === afterStopId);
        if (afterStopId !== undefined && mark === -1) return [];
        return all
          .slice(mark + 1)
          .filter((stop) => (stop.ended?.at ?? 0) >= since && (fundId === undefined || stop.fundId === fundId))
          .slice(0, countMax);
      }),
    find: (stopIds) => inTurn(async () => stops.filter(({ stopId }) => stopIds.includes(stopId)).sort(oldestFirst)),
  };
}
