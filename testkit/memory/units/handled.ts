// Which events were acted on, in a transaction of the memory store.
import type { KnownContent, UnitOfWork } from "../../../ports/store.ts";
import type { RecordTools } from "../layered-map.ts";

/** By subscription and event; with the hash of its content, where that is kept. */
export type HandledTables = Map<string, string | true>;

export function handledChanges(tables: HandledTables, { inTurn, lock, table }: RecordTools): UnitOfWork["handled"] {
  const handled = table("handled_event", tables);
  /** What was kept before; undefined the first time. */
  const remember = async (subscription: string, eventId: string, kept: string | true) => {
    const row = JSON.stringify([subscription, eventId]);
    await lock(`handled ${row}`);
    const before = handled.get(row);
    if (before === undefined) handled.set(row, kept);
    return before;
  };
  const isFirst = async (subscription: string, eventId: string): Promise<boolean> =>
    (await remember(subscription, eventId, true)) === undefined;
  return {
    firstTime: (subscription, eventId) => inTurn(() => isFirst(subscription, eventId)),
    firstTimes: (subscription, eventIds) =>
      inTurn(async () => {
        const first = new Set<string>();
        for (const eventId of [...eventIds].sort()) if (await isFirst(subscription, eventId)) first.add(eventId);
        return first;
      }),
    contents: (subscription, events) =>
      inTurn(async () => {
        const known = new Map<string, KnownContent>();
        for (const { eventId, hash } of [...events].sort((one, other) => (one.eventId < other.eventId ? -1 : 1))) {
          const before = await remember(subscription, eventId, hash);
          const isSame = before === true || before === hash;
          known.set(eventId, before === undefined ? "NEW" : isSame ? "SAME" : "OTHER");
        }
        return known;
      }),
  };
}
