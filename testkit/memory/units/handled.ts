// Which events were acted on, in a transaction of the memory store.
import type { UnitOfWork } from "../../../ports/store.ts";
import type { RecordTools } from "../layered-map.ts";

/** By subscription and event. */
export type HandledTables = Map<string, true>;

export function handledChanges(tables: HandledTables, { inTurn, lock, table }: RecordTools): UnitOfWork["handled"] {
  const handled = table("handled_event", tables);
  const isFirst = async (subscription: string, eventId: string): Promise<boolean> => {
    const row = JSON.stringify([subscription, eventId]);
    await lock(`handled ${row}`);
    if (handled.has(row)) return false;
    handled.set(row, true);
    return true;
  };
  return {
    firstTime: (subscription, eventId) => inTurn(() => isFirst(subscription, eventId)),
    firstTimes: (subscription, eventIds) =>
      inTurn(async () => {
        const first = new Set<string>();
        for (const eventId of [...eventIds].sort()) if (await isFirst(subscription, eventId)) first.add(eventId);
        return first;
      }),
  };
}
