// What subscriptions put aside in the memory store. A transaction notes its changes and makes them when it commits; the memory bus, which has no store,
// makes its own at once, by the same functions.

import type { Instant } from "../../contracts/src/instant.ts";
import type { AsideEvent, ParkedRecords } from "../../ports/parked-events.ts";
import { copyOf } from "./copy-of.ts";
import type { RecordTools, Verb } from "./layered-map.ts";

/** In the order in which they were put aside. */
export type ParkedTables = AsideEvent[];

/** The same without waiting, on the rows themselves. */
export type ParkedNow = {
  readonly [Name in keyof ParkedRecords]: (
    ...given: Parameters<ParkedRecords[Name]>
  ) => Awaited<ReturnType<ParkedRecords[Name]>>;
};

/** Each row that changes is reported to `wrote`. */
export function parkedNow(rows: ParkedTables, wrote: (verb: Verb) => void = () => undefined): ParkedNow {
  const indexOf = (subscription: string, eventId: string): number =>
    rows.findIndex((row) => row.subscription === subscription && row.eventId === eventId);
  const standing = (): AsideEvent[] => rows.filter(({ state }) => state !== "DISCARDED");
  const change = (subscription: string, eventId: string, how: (row: AsideEvent) => AsideEvent | undefined): boolean => {
    const index = indexOf(subscription, eventId);
    const row = rows[index];
    const next = row === undefined ? undefined : how(row);
    if (next === undefined) return false;
    wrote("update");
    rows[index] = next;
    return true;
  };
  const standingOnly =
    (how: (row: AsideEvent) => AsideEvent) =>
    (row: AsideEvent): AsideEvent | undefined =>
      row.state === "DISCARDED" ? undefined : how(row);
  return {
    put({ now, ...event }) {
      if (indexOf(event.subscription, event.eventId) !== -1) return false;
      wrote("insert");
      rows.push({ ...event, triedAt: now, since: now, retry: undefined });
      return true;
    },
    list(countMax, after) {
      const mark = after === undefined ? -1 : indexOf(after.subscription, after.eventId);
      if (after !== undefined && mark === -1) return [];
      const later = rows.slice(mark + 1);
      return later.filter(({ state }) => state !== "DISCARDED").slice(0, countMax);
    },
    counts() {
      const found = new Map<string, { subscription: string; count: number; since: Instant }>();
      for (const { subscription, since } of standing()) {
        const known = found.get(subscription);
        const first = known === undefined || since < known.since ? since : known.since;
        found.set(subscription, { subscription, count: (known?.count ?? 0) + 1, since: first });
      }
      return [...found.values()].sort((one, other) => (one.subscription < other.subscription ? -1 : 1));
    },
    lock: (subscription, eventId) => rows[indexOf(subscription, eventId)],
    before({ subscription, eventId }) {
      const index = indexOf(subscription, eventId);
      const own = rows[index];
      if (own === undefined) return undefined;
      const isSame = (row: AsideEvent): boolean => (own.state === "HELD" ? row.lane === own.lane : row.key === own.key);
      return rows
        .slice(0, index)
        .find((row) => row.subscription === subscription && row.state === own.state && isSame(row));
    },
    askRetry(subscription, eventId, asked) {
      change(
        subscription,
        eventId,
        standingOnly((row) => ({ ...row, retry: { ...asked, takenAt: undefined } })),
      );
    },
    withdrawRetry: (subscription, eventId) =>
      change(subscription, eventId, (row) =>
        row.retry === undefined || row.retry.takenAt !== undefined ? undefined : { ...row, retry: undefined },
      ),
    discard(subscription, eventId) {
      change(subscription, eventId, (row) => ({ ...row, state: "DISCARDED", retry: undefined }));
    },
    due(subscription, perLaneMax) {
      const counts = new Map<string, number>();
      return standing().filter((row) => {
        if (row.subscription !== subscription) return false;
        if (row.state === "PARKED") return row.retry !== undefined;
        const number = (counts.get(row.lane ?? "") ?? 0) + 1;
        counts.set(row.lane ?? "", number);
        return number <= perLaneMax;
      });
    },
    take: (subscription, eventId, at) =>
      change(subscription, eventId, (row) =>
        row.retry === undefined ? undefined : { ...row, retry: { ...row.retry, takenAt: at } },
      ),
    failed(subscription, eventId, error, at) {
      change(
        subscription,
        eventId,
        standingOnly((row) => ({ ...row, error, triedAt: at, attempts: row.attempts + 1, retry: undefined })),
      );
    },
    remove(subscription, eventId) {
      const index = indexOf(subscription, eventId);
      if (index === -1 || rows[index]?.state === "DISCARDED") return;
      wrote("delete");
      rows.splice(index, 1);
    },
  };
}

export function parkedChanges(
  tables: ParkedTables,
  { inTurn, lock, wrote, atCommit }: RecordTools,
  changed: () => void,
): ParkedRecords {
  const changes: ((on: ParkedNow) => void)[] = [];
  const view = (): ParkedNow => {
    const copy = parkedNow(copyOf(tables), (verb) => wrote(verb, "parked_event"));
    for (const change of changes) change(copy);
    return copy;
  };
  const rowOf = (subscription: string, eventId: string): string =>
    `put aside ${JSON.stringify([subscription, eventId])}`;
  const changing = <Answer>(subscription: string, eventId: string, how: (on: ParkedNow) => Answer): Promise<Answer> =>
    inTurn(async () => {
      await lock(rowOf(subscription, eventId));
      const answer = how(view());
      changes.push(how);
      return answer;
    });
  const records: ParkedRecords = {
    put: (event) => changing(event.subscription, event.eventId, (on) => on.put(event)),
    list: (countMax, after) => inTurn(async () => view().list(countMax, after)),
    counts: () => inTurn(async () => view().counts()),
    lock: (subscription, eventId) =>
      inTurn(async () => {
        await lock(rowOf(subscription, eventId));
        return view().lock(subscription, eventId);
      }),
    before: (event) => inTurn(async () => view().before(event)),
    askRetry: (of, id, asked) => changing(of, id, (on) => on.askRetry(of, id, asked)),
    withdrawRetry: (of, id) => changing(of, id, (on) => on.withdrawRetry(of, id)),
    discard: (of, id, how) => changing(of, id, (on) => on.discard(of, id, how)),
    due: (subscription, perLaneMax) => inTurn(async () => view().due(subscription, perLaneMax)),
    take: (of, id, at) => changing(of, id, (on) => on.take(of, id, at)),
    failed: (of, id, error, at) => changing(of, id, (on) => on.failed(of, id, error, at)),
    remove: (of, id) => changing(of, id, (on) => on.remove(of, id)),
  };
  atCommit(() => {
    const on = parkedNow(tables);
    for (const change of changes) change(on);
    if (changes.length > 0) changed();
  });
  return records;
}
