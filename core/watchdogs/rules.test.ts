// The watchdogs of news, positions, options, dependencies and the database.
import { describe, expect, it } from "vitest";
import * as instant from "../../contracts/src/instant.ts";
import { defaultsOf } from "./config.ts";
import { type DbWatchdogInput, dbWatchdog } from "./db-watchdog.ts";
import { dependencyWatchdog, type PollResult } from "./dependency-watchdog.ts";
import { newStanding, step } from "./episodes.ts";
import { newsSpike, overdispersedTail } from "./news-spike.ts";
import { deltaDeviation, positionAnomaly } from "./position-anomaly.ts";
import { hedgeOrders, type OptionPosition, type ThetaMemory, thetaWatchdog } from "./theta-watchdog.ts";
import { pour, volumeBars } from "./vpin-buckets.ts";

const at = instant.fromUnixMs(1_700_000_000_000);
const now = { at, openedAt: null };
const old = instant.minusMilliseconds(at, 86_400_000);
const after = (seconds: number) => instant.plusMilliseconds(at, seconds * 1_000);

describe("news_spike", () => {
  const config = defaultsOf(newsSpike.config);
  const windows = Array.from({ length: 30 }, () => 4);
  const judged = (
    count: number,
    over: object = {},
    moment: typeof now | { at: typeof at; openedAt: typeof at } = now,
  ) => newsSpike.judge({ kind: "symbol", count, windows, asOf: moment.at, ...over }, config, null, moment).judgement;

  it("floors the deviation at Poisson's, so that a quiet symbol is no spike", () => {
    expect(judged(14)).toMatchObject({ value: 5, rung: 0 });
    expect(judged(15)).toMatchObject({ value: 5.5, rung: 1, state: "ACTION" });
    expect(judged(3, { windows: windows.map(() => 0) })).toMatchObject({ value: 3, rung: 0 });
  });

  it("leaves the judged window out of its baseline (trap 1)", () => {
    // Inside a baseline of thirty no count exceeds 5.3 deviations.
    expect(Number(judged(1_000).value)).toBeGreaterThan(100);
  });

  it("takes a feed that was out for missing, not for zero", () => {
    expect(judged(50, { windows: [null, ...windows.slice(1)] })).toMatchObject({ state: "WARMUP", value: null });
    expect(judged(50, { asOf: old })).toMatchObject({ state: "STALE" });
    expect(judged(Number.NaN)).toMatchObject({ state: "STALE" });
  });

  it("clears when the cooldown from the first alert is over and the count is ordinary", () => {
    const opened = (seconds: number) => ({ at: after(seconds), openedAt: at });
    expect(judged(4, {}, opened(3_599)).clears).toBe(false);
    expect(judged(4, {}, opened(3_600)).clears).toBe(true);
    expect(judged(40, {}, opened(3_600)).clears).toBe(false);
  });

  it("halts the firm only when three symbols, and a fifth of them, alert together", () => {
    const firm = (count: number, alerting: number, tracked: number) =>
      judged(count, { kind: "firm", alerting, tracked }).rung;
    expect([firm(40, 2, 8), firm(40, 3, 8), firm(40, 3, 16), firm(40, 4, 20), firm(14, 8, 8)]).toEqual([0, 1, 0, 1, 0]);
    const { effects } = judged(40, { kind: "firm", alerting: 3, tracked: 8 });
    expect(effects.map(({ effect }) => effect)).toContainEqual({ kind: "halt", level: "FIRM_HALT" });
  });

  it("knows the tail of counts that spread more than Poisson's", () => {
    const spread = [0, 0, 0, 12, 0, 0, 9, 0, 0, 3];
    expect(overdispersedTail(0, spread)).toBe(1);
    expect(Number(overdispersedTail(20, spread))).toBeGreaterThan(1e-4);
    expect(overdispersedTail(20, windows)).toBeNull();
  });
});

describe("position_anomaly", () => {
  const config = defaultsOf(positionAnomaly.config);
  const change = (delta: number, index: number, over: object = {}) => ({
    id: `o${index}`,
    delta,
    notional: Math.abs(delta) * 10_000_000,
    adjusted: false,
    ...over,
  });
  const history = Array.from({ length: 40 }, (_unused, index) => change(index % 2 === 0 ? 0.01 : -0.01, index));
  const judged = (newest: ReturnType<typeof change>, before = history, liveCount = before.length) =>
    positionAnomaly.judge({ changes: [...before, newest], liveCount, asOf: at }, config, null, now).judgement;

  it("alerts beyond two deviations on either side, and only alerts", () => {
    expect(judged(change(0.02, 99))).toMatchObject({ rung: 0, state: "OK", clears: true });
    for (const delta of [0.021, -0.021]) expect(judged(change(delta, 99))).toMatchObject({ rung: 1, state: "WARN" });
  });

  it("leaves the judged change out of its baseline (trap 1)", () => {
    expect(judged(change(1, 99)).value).toBeGreaterThan(90);
  });

  it("alerts on any change after none at all, above the floor (trap 20)", () => {
    const still = history.map((each) => ({ ...each, delta: 0, notional: 0 }));
    expect(judged(change(0, 99), still)).toMatchObject({ rung: 0, value: 0 });
    expect(judged(change(0.002, 99), still)).toMatchObject({ rung: 1, value: null, reason: "CONSTANT_BASELINE" });
    const small = { rung: 0, clears: true, state: "WARMUP", value: null, reason: "CONSTANT_BASELINE" };
    expect(judged(change(0.0005, 99), still)).toMatchObject(small);
  });

  it("takes one more of a row of equal changes for ordinary, whatever rounding says of their mean", () => {
    const equal = new Array<number>(41).fill(0.1);
    expect(deltaDeviation(0.1, equal, 20)).toEqual({ isConstant: true, z: 0, robust: 0 });
    expect(deltaDeviation(0.2, equal, 20)).toMatchObject({ isConstant: true, z: Number.POSITIVE_INFINITY });
  });

  it("warms up about first trades while the platform itself saw too few observations", () => {
    const still = history.map((each) => ({ ...each, delta: 0, notional: 0 }));
    const warming = { state: "WARMUP", reason: "INSUFFICIENT_DATA", value: null, rung: 0, observation: null };
    expect(judged(change(0.5, 99), still, 19)).toMatchObject({ ...warming, sampleCount: 19 });
    expect(judged(change(0, 99), still, 0)).toMatchObject({ ...warming, sampleCount: 0 });
    expect(judged(change(0.5, 99), still, 20)).toMatchObject({ rung: 1, state: "WARN" });
    // What was traded before the platform began is a baseline all the same, and an adjustment needs none.
    expect(judged(change(0.5, 99), history, 0)).toMatchObject({ rung: 1, state: "WARN" });
    expect(judged(change(0.001, 99, { adjusted: true }), still, 0)).toMatchObject({ rung: 2, state: "WARN" });
  });

  it("is critical about an adjustment of any size, also without a history", () => {
    const adjusted = change(0.000_001, 99, { adjusted: true });
    expect(judged(adjusted)).toMatchObject({ rung: 2 });
    expect(judged(adjusted, [])).toMatchObject({ rung: 2, value: null, observation: "o99" });
    expect(judged(change(1, 99), history.slice(0, 19))).toMatchObject({ state: "WARMUP", value: null });
    expect(judged(change(Number.NaN, 99)).state).toBe("STALE");
  });
});

describe("theta_watchdog", () => {
  const config = defaultsOf(thetaWatchdog.config);
  const option = (
    symbol: string,
    contracts: number,
    thetaPerDay: number | null,
    strategyId = "income",
    closing = 0,
  ): OptionPosition => ({
    strategyId,
    closing,
    symbol,
    contracts,
    multiplier: 100,
    thetaPerDay,
    gamma: 0.01,
  });
  const judged = (positions: readonly OptionPosition[], nav: number | null = 1_000_000, asOf = at) =>
    thetaWatchdog.judge({ positions, nav, asOf }, config, thetaWatchdog.emptyMemory, now).judgement;

  it("holds net theta against a share of NAV, on either side", () => {
    expect(judged([option("A", 50, -0.1)])).toMatchObject({ value: 0.0005, rung: 0 });
    expect(judged([option("A", 51, -0.1)])).toMatchObject({ rung: 1, figures: { side: "PAYING_DECAY" } });
    expect(judged([option("A", -51, -0.1)])).toMatchObject({ rung: 1, figures: { side: "SHORT_OPTIONALITY" } });
    expect(judged([option("A", 51, -0.1), option("B", -51, -0.1)])).toMatchObject({ value: 0, clears: true });
    expect(judged([option("A", 41, -0.1)]).clears).toBe(false);
    expect(judged([option("A", 39, -0.1)]).clears).toBe(true);
  });

  it("hedges with the fewest contracts, by reductions alone, and no further than needed", () => {
    const positions = [option("A", -30, -0.1), option("B", -4, -1), option("C", 5, -0.2)];
    // Net 300 + 400 - 100 = 600; 100 too much: one contract of B, which has 100.
    const buy = { strategyId: "income", side: "BUY" };
    expect(hedgeOrders(positions, 500)).toEqual([{ ...buy, symbol: "B", contracts: 1 }]);
    expect(hedgeOrders(positions, 150)).toEqual([
      { ...buy, symbol: "B", contracts: 4 },
      { ...buy, symbol: "A", contracts: 5 },
    ]);
    const [sell] = hedgeOrders([option("A", 60, -0.1)], 500);
    expect(sell).toEqual({ strategyId: "income", symbol: "A", side: "SELL", contracts: 10 });
    expect(hedgeOrders(positions, 600)).toEqual([]);
  });

  it("reduces each strategy by no more than what that one holds", () => {
    const positions = [option("A", -30, -0.1, "second"), option("A", -25, -0.1, "first")];
    // 550 too much by 400: 25 contracts of the first, 15 of the second.
    expect(hedgeOrders(positions, 150)).toEqual([
      { strategyId: "first", symbol: "A", side: "BUY", contracts: 25 },
      { strategyId: "second", symbol: "A", side: "BUY", contracts: 15 },
    ]);
  });

  it("counts what is being closed as closed, and wants what is left again", () => {
    // 550 too much by 50: five contracts; four of them are on their way.
    const positions = [option("A", -55, -0.1, "income", 4)];
    expect(hedgeOrders(positions, 500)).toEqual([{ strategyId: "income", symbol: "A", side: "BUY", contracts: 1 }]);
    expect(judged(positions)).toMatchObject({ rung: 1, again: [{ kind: "hedge", orders: [{ contracts: 1 }] }] });
    expect(hedgeOrders([option("A", -55, -0.1, "income", 5)], 500)).toEqual([]);
    expect(judged([option("A", -55, -0.1, "income", 60)])).toMatchObject({ rung: 1, again: [] });
  });

  it("holds an episode open that follows soon on the last, and ends the first at once", () => {
    const minute = (count: number) => instant.plusMilliseconds(at, count * 60_000);
    const flat = (memory: ThetaMemory, minutes: number, openedAt: number | null, threshold = config.threshold) =>
      thetaWatchdog.judge({ positions: [], nav: 1e6, asOf: minute(minutes) }, { ...config, threshold }, memory, {
        at: minute(minutes),
        openedAt: openedAt === null ? null : minute(openedAt),
      });
    const first = flat(thetaWatchdog.emptyMemory, 1, 0);
    expect(first.judgement).toMatchObject({ clears: true, figures: { held: false } });
    const between = flat(first.memory, 2, null);
    const second = flat(between.memory, 4, 3);
    expect(second.judgement).toMatchObject({ clears: false, figures: { held: true } });
    expect(flat(second.memory, 62, 3).judgement.clears).toBe(false);
    expect(flat(second.memory, 63, 3).judgement.clears).toBe(true);
    expect(flat(second.memory, 5, 3, 2 * config.threshold).judgement.clears, "people raised it").toBe(true);
    // One that opens an hour after the end is a first one again.
    expect(flat(between.memory, 63, 62).judgement.clears).toBe(true);
  });

  it("is STALE without greeks, NAV or fresh quotes, and OK without options", () => {
    expect(judged([option("A", 1, null)])).toMatchObject({ state: "STALE", reason: "MISSING_GREEKS" });
    expect(judged([option("A", 1, Number.NaN)])).toMatchObject({ state: "STALE" });
    expect(judged([option("A", 1, -1)], null)).toMatchObject({ state: "STALE", reason: "NO_INPUT" });
    expect(judged([], null)).toMatchObject({ state: "OK", value: 0 });
    expect(judged([option("A", 1, -1)], 1_000_000, old)).toMatchObject({ state: "STALE", reason: "INPUT_TOO_OLD" });
    expect(judged([])).toMatchObject({ state: "OK", value: 0 });
  });
});

describe("dependency_watchdog", () => {
  const config = defaultsOf(dependencyWatchdog.config);
  const rules = { persistence: config.persistence, clearAfter: config.clear_after, acting: true };
  /** Polls one after the other and tells the events and the states. */
  function polled(results: readonly PollResult[], everyS = 10) {
    let [standing, memory] = [newStanding(at), dependencyWatchdog.emptyMemory];
    return results.map((result, index) => {
      const polledAt = after(index * everyS);
      const input = { dependency: "broker", poll: `p${index}`, result, polledAt, detail: "" };
      const judged = dependencyWatchdog.judge(input, config, memory, { at: polledAt, openedAt: null });
      const next = step(standing, judged.judgement, rules, polledAt, `e${index}`);
      [standing, memory] = [next.standing, judged.memory];
      return next.change?.event ?? standing.state;
    });
  }

  it("alerts once after three bad polls, recovers after two good ones", () => {
    expect(polled(["red", "timeout", "red", "red", "green", "green", "green"])).toEqual([
      "WARN",
      "WARN",
      "OPENED",
      "WARN",
      "WARN",
      "CLEARED",
      "OK",
    ]);
  });

  it("holds the count while nothing is known, and too much of that is STALE", () => {
    expect(polled(["red", "unknown", "red", "unknown", "red"]).at(-1)).toBe("OPENED");
    expect(polled(["green", "unknown", "unknown", "unknown", "unknown"])).toEqual([
      "OK",
      "WARN",
      "WARN",
      "WARN",
      "STALE",
    ]);
  });

  it("is one episode while it flaps", () => {
    const turn: readonly PollResult[] = ["red", "red", "red", "green", "green"];
    const events = polled([...turn, ...turn, ...turn, ...turn]).filter(
      (each) => each === "OPENED" || each === "CLEARED",
    );
    expect(events).toEqual(["OPENED", "CLEARED", "OPENED"]);
  });

  it("counts a poll once", () => {
    const input = { dependency: "bus", poll: "p", result: "red", polledAt: at, detail: "" } as const;
    const first = dependencyWatchdog.judge(input, config, dependencyWatchdog.emptyMemory, now);
    expect(dependencyWatchdog.judge(input, config, first.memory, now).judgement.value).toBe(1);
  });
});

describe("db_watchdog", () => {
  const config = defaultsOf(dbWatchdog.config);
  const judged = (input: DbWatchdogInput, memory = dbWatchdog.emptyMemory) =>
    dbWatchdog.judge(input, config, memory, { at: input.asOf, openedAt: null });

  it("lets one ledger follow the other for a while, then alerts", () => {
    const rows = (seconds: number, right: number) =>
      ({ kind: "rows", name: "fills", left: 10, right, asOf: after(seconds) }) as const;
    const first = judged(rows(0, 9));
    expect(first.judgement).toMatchObject({ rung: 0, clears: false });
    expect(judged(rows(59, 9), first.memory).judgement.rung).toBe(0);
    expect(judged(rows(60, 8), first.memory).judgement).toMatchObject({
      rung: 1,
      value: 2,
      figures: { difference: 2 },
    });
    const equal = judged(rows(30, 10), first.memory);
    expect(equal.judgement.clears).toBe(true);
    expect(judged(rows(60, 9), equal.memory).judgement.rung).toBe(0);
  });

  it("takes a count that failed for an alert, not for equal", () => {
    const failed = { kind: "rows", name: "fills", left: null, right: null, asOf: at } as const;
    expect(judged(failed).judgement).toMatchObject({ rung: 1, value: null, reason: "COUNT_FAILED", clears: false });
  });

  it("calls queries slow above both limits", () => {
    const samples = (ms: number) => Array.from({ length: 20 }, () => ms);
    const queries = (ms: number, baseline: number) =>
      judged({ kind: "queries", samplesMs: samples(ms), baselineMs: samples(baseline), asOf: at }).judgement.rung;
    expect([queries(200, 10), queries(201, 10), queries(400, 200), queries(401, 200)]).toEqual([0, 1, 0, 1]);
    const few = judged({ kind: "queries", samplesMs: [9_999], baselineMs: samples(1), asOf: at }).judgement;
    expect(few).toMatchObject({ state: "WARMUP", value: null });
  });

  it("vacuums by PostgreSQL's rule, hourly at most", () => {
    const table = (dead: number, vacuumedAt: typeof at | null = null) =>
      judged({ kind: "dead_rows", table: "t", dead, live: 800, vacuumedAt, asOf: at }).judgement;
    expect(table(210)).toMatchObject({ rung: 0, clears: true });
    expect(table(211).effects).toContainEqual({ rung: 1, effect: { kind: "vacuum", tables: ["t"] } });
    expect(table(211, instant.minusMilliseconds(at, 3_599_000)).effects).toHaveLength(1);
    expect(table(211, instant.minusMilliseconds(at, 3_600_000)).effects).toHaveLength(2);
  });

  it("is STALE on what is too old", () => {
    const input = { kind: "rows", name: "fills", left: 1, right: 1, asOf: old } as const;
    expect(dbWatchdog.judge(input, config, dbWatchdog.emptyMemory, now).judgement.state).toBe("STALE");
  });
});

describe("vpin's buckets", () => {
  it("are full of five bars of a fifth, and bars of a trade of many, although their sums are off by a rounding", () => {
    const size = 973.2;
    expect(5 * size - size - size - size - size).toBeGreaterThan(size);
    let [filled, partial] = [0, { volume: 0, buy: 0 }];
    for (let bar = 0; bar < 5; bar += 1) {
      const next = pour(partial, { volume: size, buyFraction: 1 }, 5 * size);
      filled += next.full.length;
      partial = next.partial;
    }
    expect(filled).toBe(1);
    expect(partial.volume).toBeCloseTo(0, 9);
    expect(volumeBars([{ atMs: 0, price: 1, volume: 0.3 }], 0.1)).toHaveLength(3);
  });
});
