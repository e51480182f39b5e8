// Checks of what a store keeps of flattens with their lines, and of drills.
import { expect } from "vitest";
import { parse as d, zero } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { DrillMeasured } from "../../contracts/src/records/halt.ts";
import type { StoredFlatten, StoredFlattenLine } from "../../ports/flatten-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const at = (second: number): Instant => (second * 1_000_000) as Instant;
const run = <T>(store: Store, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
  transactPatiently(store, "conformance.flatten", work);

const flatten = (flattenId: string, second: number): StoredFlatten => ({
  flattenId,
  requestedBy: "operator:duty",
  reason: "r",
  at: at(second),
  auditId: "e",
  fundIds: ["alpha", "beta"],
  provedFundIds: [],
  orders: [{ orderId: "o-1", fundId: "alpha", strategyId: "alpha-x", symbol: "AAPL", filledBefore: "0.25" }],
});
const line = (lineId: string, fundId: string, quantity: string): StoredFlattenLine => ({
  lineId,
  flattenId: "f-1",
  fundId,
  strategyId: `${fundId}-x`,
  symbol: "BTC-USD",
  openedBy: "fill",
  quantity: d(quantity),
  exitedBefore: zero,
  askedAt: at(1),
  at: at(1),
});

const oneRunsAtATime: StoreCheck = {
  promise: 1,
  sentence: "one flatten runs at a time, its lines are changed in place, and the newest is found",
  async run(fixture) {
    const first = flatten("f-1", 1);
    const [beta, alpha] = [line("l-1", "beta", "-0.000000000000000001"), line("l-2", "alpha", "12.5")];
    expect(await run(fixture.store, (unit) => unit.flattens.find())).toBeUndefined();
    await run(fixture.store, async (unit) => {
      expect(await unit.flattens.lockRunning()).toBeUndefined();
      expect(await unit.flattens.insert(first)).toBe(true);
      for (const one of [beta, alpha]) await unit.flattens.insertLine(one);
    });
    expect(await run(fixture.store, (unit) => unit.flattens.insert(flatten("f-2", 2)))).toBe(false);
    await rejection(
      fixture.store.transact("conformance.flatten", (unit) => unit.flattens.insertLine(beta)),
      "the same line again",
    );
    const attempt = { number: 1, orderId: "l-1-1", quantity: d("0.5"), at: at(3) };
    const moved: StoredFlattenLine = { ...beta, attempt, exitedBefore: d("0.25"), at: at(3) };
    const ended: StoredFlattenLine = { ...alpha, ended: { exitedQuantity: d("12.5"), at: at(4) } };
    await run(fixture.store, async (unit) => {
      expect(await unit.flattens.lockLine("l-1")).toEqual(beta);
      expect(await unit.flattens.lockLine("l-9")).toBeUndefined();
      await unit.flattens.updateLine(moved);
      await unit.flattens.updateLine(ended);
    });
    const done: StoredFlatten = { ...first, provedFundIds: ["alpha", "beta"], doneAt: at(5) };
    const next = flatten("f-2", 6);
    await run(fixture.store, async (unit) => {
      expect(await unit.flattens.lockRunning()).toEqual(first);
      await unit.flattens.update(done);
    });
    expect(await run(fixture.store, (unit) => unit.flattens.insert(next))).toBe(true);
    await run(await fixture.reopen(), async (unit) => {
      expect(await unit.flattens.lines("f-1")).toEqual([ended, moved]);
      expect(await unit.flattens.lines("f-2")).toEqual([]);
      expect(await unit.flattens.find("f-1")).toEqual(done);
      expect(await unit.flattens.find("f-9")).toBeUndefined();
      expect(await unit.flattens.find()).toEqual(next);
      expect(await unit.flattens.lockRunning()).toEqual(next);
    });
  },
};

const drillsAreKept: StoreCheck = {
  promise: 1,
  sentence: "a drill is written down once, and the newest come first",
  async run(fixture) {
    const drill = (id: string, second: number): DrillMeasured => ({
      drill_id: id,
      halt_id: id,
      requested_by: "operator:duty",
      reason: "",
      latched_ms: 1.25,
      passed: false,
      complaint: "not in time: blocked.",
      at: `2026-01-02T00:00:0${second}.000000Z`,
    });
    await run(fixture.store, async (unit) => {
      expect(await unit.drills.insert(drill("d-1", 1))).toBe(true);
      expect(await unit.drills.insert(drill("d-2", 3))).toBe(true);
      expect(await unit.drills.insert(drill("d-3", 2))).toBe(true);
      expect(await unit.drills.insert(drill("d-1", 9))).toBe(false);
    });
    await run(await fixture.reopen(), async (unit) => {
      expect(await unit.drills.newest(2)).toEqual([drill("d-2", 3), drill("d-3", 2)]);
      expect(await unit.drills.newest(9)).toHaveLength(3);
      expect(await unit.drills.newest(1, "d-2")).toEqual([drill("d-3", 2)]);
      expect(await unit.drills.newest(9, "d-1")).toEqual([]);
      expect(await unit.drills.newest(9, "d-9"), "after none").toEqual([]);
    });
  },
};

export const flattenRecordChecks: readonly StoreCheck[] = [oneRunsAtATime, drillsAreKept];
