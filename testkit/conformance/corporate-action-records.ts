// The suite that every store passes with corporate actions: ports/corporate-actions.ts.
import { expect, it } from "vitest";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { Store } from "../../ports/store.ts";
import { announcedSplit } from "../announced-split.ts";
import { rejection } from "./waiting.ts";

export interface CorporateActionFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const action = (actionId: string, symbol: string, at: number, differs: Partial<StoredAction> = {}): StoredAction => ({
  ...announcedSplit(actionId, symbol, fromUnixMs(at)),
  ...differs,
});

export function corporateActionConformance(name: string, open: () => Promise<CorporateActionFixture>): void {
  it(`corporate actions, ${name}: kept as they were put, under way until they end, and in the order in which they were applied`, async () => {
    const { store, close } = await open();
    const put = (one: StoredAction) => store.transact("conformance.put", (unit) => unit.corporateActions.put(one));
    const look = () =>
      store.transact("conformance.look", async (unit) => ({
        underWay: (await unit.corporateActions.underWay()).map(({ actionId }) => actionId),
        applied: (await unit.corporateActions.applied()).map(({ actionId }) => actionId),
      }));
    try {
      expect(await look()).toEqual({ underWay: [], applied: [] });
      const first = action("a", "AAPL", 2_000);
      const second = action("b", "SPY 281215C00650000", 1_000);
      await put(first);
      await put(second);
      expect(await look()).toEqual({ underWay: ["b", "a"], applied: [] });
      expect(await store.transact("conformance.look", (unit) => unit.corporateActions.lock("a"))).toEqual(first);
      expect(await store.transact("conformance.look", (unit) => unit.corporateActions.lock("c"))).toBeUndefined();
      const applied = { ...first, state: "APPLIED", appliedAt: fromUnixMs(5_000), fillIds: ["f-1"] } as const;
      await put(applied);
      await put({ ...second, state: "APPLIED", appliedAt: fromUnixMs(4_000) });
      expect(await look()).toEqual({ underWay: ["b", "a"], applied: ["b", "a"] });
      const done = { ...applied, state: "DONE", doneAt: fromUnixMs(6_000) } as const;
      const failing = store.transact("conformance.fails", async (unit) => {
        await unit.corporateActions.put(done);
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      expect((await look()).underWay).toEqual(["b", "a"]);
      await put(done);
      expect(await look()).toEqual({ underWay: ["b"], applied: ["b", "a"] });
      expect(await store.transact("conformance.look", (unit) => unit.corporateActions.lock("a"))).toEqual(done);
      await put(action("d", "MSFT", 7_000, { state: "ABORTED", note: "too long" }));
      expect(await look()).toEqual({ underWay: ["b"], applied: ["b", "a"] });
      // A dividend holds up nothing while it is declared or due, and is applied from its ex moment on.
      const terms = { perShare: "0.26", currency: "USD", exDate: "2026-11-16", exAt: fromUnixMs(8_000) };
      const { legs: _split, ...named } = action("e", "AAPL", 8_000, { kind: "CASH_DIVIDEND" });
      const declared: StoredAction = { ...named, state: "DECLARED", legs: [], dividend: terms };
      const due = [{ fundId: "f", strategyId: "s", quantity: "-10", amount: "-2.6", openedBy: "t" }];
      const ex: StoredAction = { ...declared, state: "EX", appliedAt: terms.exAt, dividend: { ...terms, due } };
      const dividends = () => store.transact("conformance.look", (unit) => unit.corporateActions.dividends());
      expect(await dividends()).toEqual([]);
      await put(declared);
      expect([await dividends(), await look()]).toEqual([[declared], { underWay: ["b"], applied: ["b", "a"] }]);
      await put(ex);
      expect([await dividends(), await look()]).toEqual([[ex], { underWay: ["b"], applied: ["b", "a", "e"] }]);
      await put({ ...ex, state: "DONE" });
      expect([await dividends(), (await look()).applied]).toEqual([[], ["b", "a", "e"]]);
    } finally {
      await close();
    }
  });
}
