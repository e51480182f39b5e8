// The suite that every store passes with corporate actions: ports/corporate-actions.ts.
import { expect, it } from "vitest";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { Store } from "../../ports/store.ts";
import { announcedSplit } from "../announced-split.ts";
import { rejection } from "./waiting.ts";

export interface CorporateActionRig {
  readonly store: Store;
  close(): Promise<void>;
}

const action = (actionId: string, symbol: string, at: number, differs: Partial<StoredAction> = {}): StoredAction => ({
  ...announcedSplit(actionId, symbol, fromUnixMs(at)),
  ...differs,
});

export function corporateActionConformance(name: string, open: () => Promise<CorporateActionRig>): void {
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
    } finally {
      await close();
    }
  });
}
