// The suite that every store passes with what subscriptions put aside: ports/parked-events.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { NewAside } from "../../ports/parked-events.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { rejection } from "./waiting.ts";

export interface ParkedFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const at = (second: number) => fromMicroseconds(1_700_000_000_000_000 + second * 1_000_000);

function aside(eventId: string, differs: Partial<NewAside> = {}): NewAside {
  return {
    subscription: "one",
    eventId,
    subject: "a.b",
    key: "k",
    source: "oms",
    at: at(0),
    payload: `{"é":"${eventId}"}`,
    state: "PARKED",
    lane: undefined,
    error: "broken",
    attempts: 5,
    firstTriedAt: at(1),
    now: at(2),
    ...differs,
  };
}

export function parkedConformance(name: string, open: () => Promise<ParkedFixture>): void {
  it(`23.5: put aside, ${name}: kept once and in order, asked for, taken, failed, removed and discarded; a failed unit leaves nothing`, async () => {
    const { store, close } = await open();
    const doing = <T>(work: (unit: UnitOfWork) => Promise<T>) => store.transact("conformance.aside", work);
    const ids = async () => (await doing((unit) => unit.parked.list(9))).map(({ eventId }) => eventId);
    const due = async (perLane = 9) =>
      (await doing((unit) => unit.parked.due("one", perLane))).map((row) => row.eventId);
    const held = (eventId: string, lane: string, differs: Partial<NewAside> = {}) =>
      aside(eventId, { state: "HELD", lane, ...differs });
    try {
      expect(await ids()).toEqual([]);
      expect(await doing((unit) => unit.parked.put(aside("z")))).toBe(true);
      expect(await doing((unit) => unit.parked.put(aside("z", { error: "other" })))).toBe(false);
      for (const event of [
        held("y", "fund a"),
        aside("x", { key: "other" }),
        held("w", "fund a"),
        held("v", "fund b"),
      ]) {
        expect(await doing((unit) => unit.parked.put(event))).toBe(true);
      }
      await doing((unit) => unit.parked.put(aside("z", { subscription: "two", now: at(1) })));
      await doing((unit) => unit.parked.put(aside("u")));
      expect(await ids()).toEqual(["z", "y", "x", "w", "v", "z", "u"]);
      const { now: _now, ...whole } = aside("z");
      const stands = { ...whole, triedAt: at(2), since: at(2), retry: undefined };
      expect(await doing((unit) => unit.parked.lock("one", "z"))).toEqual(stands);
      expect(await doing((unit) => unit.parked.counts())).toEqual([
        { subscription: "one", count: 6, since: at(2) },
        { subscription: "two", count: 1, since: at(1) },
      ]);
      const before = (eventId: string) =>
        doing(async (unit) => (await unit.parked.before({ subscription: "one", eventId }))?.eventId);
      expect([await before("z"), await before("y"), await before("x"), await before("w"), await before("u")]).toEqual([
        ...[undefined, undefined, undefined, "y", "z"],
      ]);
      expect(await due()).toEqual(["y", "w", "v"]);
      expect(await due(1)).toEqual(["y", "v"]);
      const asked = { at: at(3), by: "operator:duty", reason: "mended" };
      await doing((unit) => unit.parked.askRetry("one", "x", asked));
      expect(await due()).toEqual(["y", "x", "w", "v"]);
      expect(await doing((unit) => unit.parked.withdrawRetry("one", "x"))).toBe(true);
      expect(await doing((unit) => unit.parked.withdrawRetry("one", "x"))).toBe(false);
      expect(await doing((unit) => unit.parked.take("one", "x", at(4)))).toBe(false);
      await doing((unit) => unit.parked.askRetry("one", "x", asked));
      expect(await doing((unit) => unit.parked.take("one", "x", at(4)))).toBe(true);
      expect(await doing((unit) => unit.parked.withdrawRetry("one", "x"))).toBe(false);
      expect((await doing((unit) => unit.parked.lock("one", "x")))?.retry).toEqual({ ...asked, takenAt: at(4) });
      await doing((unit) => unit.parked.failed("one", "x", "again", at(5)));
      expect(await doing((unit) => unit.parked.lock("one", "x"))).toMatchObject({
        error: "again",
        attempts: 6,
        triedAt: at(5),
        firstTriedAt: at(1),
        since: at(2),
        retry: undefined,
      });
      const failing = doing(async (unit) => {
        await unit.parked.remove("one", "x");
        await unit.parked.discard("one", "y", asked);
        expect((await unit.parked.list(9)).map(({ eventId }) => eventId)).toEqual(["z", "w", "v", "z", "u"]);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      await doing((unit) => unit.parked.remove("one", "x"));
      await doing((unit) => unit.parked.discard("one", "y", asked));
      expect(await ids()).toEqual(["z", "w", "v", "z", "u"]);
      const after = async (eventId: string, subscription = "one", countMax = 9) =>
        (await doing((unit) => unit.parked.list(countMax, { subscription, eventId }))).map((row) => row.eventId);
      expect(await after("w")).toEqual(["v", "z", "u"]);
      expect(await after("w", "one", 2)).toEqual(["v", "z"]);
      expect(await after("z", "two")).toEqual(["u"]);
      expect([await after("u"), await after("x"), await after("w", "two")]).toEqual([[], [], []]);
      expect(await due()).toEqual(["w", "v"]);
      expect(await before("w")).toBeUndefined();
      expect((await doing((unit) => unit.parked.lock("one", "y")))?.state).toBe("DISCARDED");
      // What was discarded stays discarded: it is neither put aside anew nor tried nor taken out.
      expect(await doing((unit) => unit.parked.put(held("y", "fund a")))).toBe(false);
      await doing((unit) => unit.parked.askRetry("one", "y", asked));
      await doing((unit) => unit.parked.remove("one", "y"));
      expect((await doing((unit) => unit.parked.lock("one", "y")))?.retry).toBeUndefined();
      expect(await doing((unit) => unit.parked.lock("one", "never"))).toBeUndefined();
    } finally {
      await close();
    }
  });
}
