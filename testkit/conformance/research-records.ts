// Checks of research's repository: strategies and the numbers of their decisions, signals and what came of them, skill by the day, backtests.
import { expect } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { DailySignal, ResearchRecords, StoredBacktest, StoredSignal } from "../../ports/research-records.ts";
import type { Store } from "../../ports/store.ts";
import { range } from "./bus-kit.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const at = (second: number): Instant => (second * 1_000_000) as Instant;
const strategy = { strategyId: "alpha-momentum", fundId: "alpha", status: "live", allocationPct: 0.1 } as const;

const work = <T>(store: Store, run: (records: ResearchRecords) => Promise<T>): Promise<T> =>
  transactPatiently(store, "conformance.research", (unit) => run(unit.research));

function signal(symbol: string, second: number, differs: Partial<StoredSignal> = {}): StoredSignal {
  const base = { strategyId: "alpha-momentum", value: -0.1234567890123456, price: d("200.000000000000000001") };
  return { ...base, symbol, at: at(second), horizonS: 300, ...differs };
}

const decisionsAreNumbered: StoreCheck = {
  promise: 0,
  sentence:
    "a strategy's decisions are numbered without repetition, whoever asks at once, and a rolled back number leaves no row changed",
  async run(fixture) {
    await work(fixture.store, (records) => records.putStrategy(strategy));
    const numbers = await Promise.all(
      range(1, 8).map(() => work(fixture.store, (records) => records.takeDecision(strategy.strategyId))),
    );
    expect([...numbers].sort((one, other) => one - other)).toEqual(range(1, 8));
    const failing = fixture.store.transact("conformance.research", async (unit) => {
      await unit.research.takeDecision(strategy.strategyId);
      await unit.research.putStrategy({ ...strategy, status: "halted" });
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    expect(await work(fixture.store, (records) => records.strategies())).toEqual([strategy]);
    await work(fixture.store, (records) => records.putStrategy({ ...strategy, status: "shadow", allocationPct: 0.25 }));
    const store = await fixture.reopen();
    expect(await work(store, (records) => records.takeDecision(strategy.strategyId))).toBe(9);
    expect(await work(store, (records) => records.lockStrategy(strategy.strategyId))).toMatchObject({
      status: "shadow",
      allocationPct: 0.25,
    });
    expect(await work(store, (records) => records.lockStrategy("nobody"))).toBeUndefined();
  },
};

const signalsAreJudged: StoreCheck = {
  promise: 0,
  sentence: "signals are kept exactly, come due when their horizon is over, and are removed from the oldest on",
  async run({ store }) {
    const all = [
      signal("AAPL", 10),
      signal("MSFT", 10),
      signal("AAPL", 70),
      signal("AAPL", 70, { strategyId: "other" }),
    ];
    await work(store, (records) => records.insertSignals(all));
    await work(store, (records) => records.insertSignals([signal("AAPL", 10, { value: 9 })]));
    expect(await work(store, (records) => records.signals("alpha-momentum", 10))).toEqual([all[2], all[0], all[1]]);
    const after = (mark: { at: Instant; symbol: string }, countMax = 10) =>
      work(store, (records) => records.signals("alpha-momentum", countMax, mark));
    expect(await after(signal("AAPL", 10))).toEqual([all[1]]);
    expect(await after({ at: at(99_999), symbol: "" }, 1), "after one that is not there").toEqual([all[2]]);
    expect(await after({ at: at(0), symbol: "" })).toEqual([]);
    const due = (from: number, by: number, countMax = 10) =>
      work(store, (records) => records.dueSignals("alpha-momentum", at(from), at(by), countMax));
    expect(await due(0, 309)).toEqual([]);
    expect(await due(0, 310)).toEqual([all[0], all[1]]);
    expect(await due(11, 1_000)).toEqual([all[2]]);
    expect(await due(0, 1_000, 1)).toEqual([all[0]]);
    await work(store, (records) => records.setRealised([signal("AAPL", 10, { realisedReturn: 0.25 })]));
    expect(await due(0, 310)).toEqual([all[1]]);
    expect((await work(store, (records) => records.signals("alpha-momentum", 3)))[1]).toEqual({
      ...all[0],
      realisedReturn: 0.25,
    });
    expect(await work(store, (records) => records.forgetSignals(at(70), 1))).toBe(1);
    expect(await work(store, (records) => records.forgetSignals(at(70), 10))).toBe(1);
    expect(await work(store, (records) => records.signals("alpha-momentum", 10))).toEqual([all[2]]);
  },
};

const skillAndBacktests: StoreCheck = {
  promise: 0,
  sentence: "skill is the mean of its day, newest day first, and a backtest is replaced as a whole",
  async run({ store }) {
    const days: readonly (readonly [string, number])[] = [
      ["2026-11-14", 0.5],
      ["2026-11-15", 0.25],
      ["2026-11-15", -0.75],
    ];
    for (const [day, each] of days) await work(store, (records) => records.addSkill("alpha-momentum", day, each));
    expect(await work(store, (records) => records.skill("alpha-momentum", 10))).toEqual([
      { day: "2026-11-15", mean: -0.25, count: 2 },
      { day: "2026-11-14", mean: 0.5, count: 1 },
    ]);
    expect(await work(store, (records) => records.skill("alpha-momentum", 1))).toHaveLength(1);
    const backtest: StoredBacktest = {
      strategyId: "alpha-momentum",
      madeOf: "seed 1",
      from: "2025-11-15",
      to: "2026-11-14",
      annualReturn: 0.1,
      annualVolatility: 0.2,
      drawdownMax: 0.05,
      days: [
        { day: "2025-11-17", return: 0.001, informationCoefficient: -0.1 },
        { day: "2025-11-18", return: -0.002, signals: [{ symbol: "AAPL", value: -0.25 }] },
      ],
    };
    expect(await work(store, (records) => records.backtest("alpha-momentum"))).toBeUndefined();
    for (const madeOf of ["seed 1", "seed 2"]) {
      await work(store, (records) => records.putBacktest({ ...backtest, madeOf }));
      expect(await work(store, (records) => records.backtest("alpha-momentum"))).toEqual({ ...backtest, madeOf });
    }
  },
};

const signalsAtTheClose: StoreCheck = {
  promise: 0,
  sentence: "the last signal of a day counts until its return is known, and days come newest first",
  async run({ store }) {
    const daily = (day: string, symbol: string, value: number): DailySignal => ({
      strategyId: "alpha-momentum",
      day,
      symbol,
      value,
      price: d("10.000000000000000001"),
      at: at(value),
    });
    const realised = { ...daily("2026-11-15", "MSFT", 2), realisedReturn: -0.015 };
    await work(store, (records) =>
      records.putDailySignals([daily("2026-11-15", "MSFT", 1), daily("2026-11-14", "AAPL", 1)]),
    );
    await work(store, (records) =>
      records.putDailySignals([daily("2026-11-15", "MSFT", 2), daily("2026-11-16", "AAPL", 3)]),
    );
    await work(store, (records) => records.setDailyRealised([realised, { ...realised, symbol: "NONE" }]));
    await work(store, (records) =>
      records.putDailySignals([daily("2026-11-15", "MSFT", 9), daily("2026-11-15", "AAPL", 4)]),
    );
    const newest = [daily("2026-11-16", "AAPL", 3), daily("2026-11-15", "AAPL", 4), realised];
    expect(await work(store, (records) => records.dailySignals("alpha-momentum", 2))).toEqual(newest);
    expect(await work(store, (records) => records.dailySignals("beta-trend", 2))).toEqual([]);
  },
};

const historyIsImported: StoreCheck = {
  promise: 0,
  sentence: "imported trades are put in once, without a number of their own",
  async run({ store }) {
    const fill = {
      order_id: "seed-1",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      side: "BUY",
      quantity: "1",
      price: "2",
      filled_at: "2026-01-02T00:00:00.000000Z",
      kind: "SEED",
    } as const;
    const fills = ["a", "b"].map((fill_id) => ({ ...fill, fill_id }));
    const put = () => transactPatiently(store, "conformance.history", (unit) => unit.oms.importFills(fills));
    expect([await put(), await put()]).toEqual([2, 0]);
    await transactPatiently(store, "conformance.history", async (unit) => {
      expect(await unit.oms.fillsOf("seed-1")).toEqual(fills);
      expect(await unit.oms.insertFill({ ...fill, fill_id: "c" })).toMatchObject({ sequence: 1 });
    });
  },
};

export const researchRecordChecks: readonly StoreCheck[] = [
  decisionsAreNumbered,
  signalsAreJudged,
  skillAndBacktests,
  signalsAtTheClose,
  historyIsImported,
];
