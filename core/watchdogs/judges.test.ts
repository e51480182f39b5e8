// The watchdogs of prices, profits and skill: thresholds are strict, baselines leave out what they judge, and what cannot be known is never OK.
import { describe, expect, it } from "vitest";
import * as instant from "../../contracts/src/instant.ts";
import { defaultsOf } from "./config.ts";
import { type DriftMonitorInput, driftMonitor, seriesDrift } from "./drift-monitor.ts";
import { portfolioVolDd } from "./portfolio-vol-dd.ts";
import { predictiveHealth } from "./predictive-health.ts";
import { strategyWatchdog } from "./strategy-watchdog.ts";
import { unitReturns } from "./unit-nav.ts";
import { barsPerBucketMin, type VpinBar, vpin } from "./vpin.ts";
import type { Dated } from "./watchdog.ts";

const at = instant.fromUnixMs(1_700_000_000_000);
const now = { at, openedAt: null };
const asOf = at;
const old = instant.minusMilliseconds(at, 30 * 86_400_000);
/** Alternates about a mean, so that its spread is known and nothing is drawn at random. */
const swing = (count: number, mean: number, size: number): readonly number[] =>
  Array.from({ length: count }, (_unused, index) => mean + (index % 2 === 0 ? size : -size));
const dated = (values: readonly number[]): readonly Dated[] =>
  values.map((value, index) => ({ day: `d${String(index).padStart(4, "0")}`, value }));

describe("predictive_health", () => {
  const config = defaultsOf(predictiveHealth.config);
  const backtest = swing(252, 0, 0.01);
  const judged = (nav: readonly number[], over: object = {}, configured: object = {}) =>
    predictiveHealth.judge({ backtest, unitNav: dated(nav), asOf, ...over }, { ...config, ...configured }, null, now)
      .judgement;

  it("warns on both sides, and clears only inside 95 %", () => {
    expect(judged([1, 1.03])).toMatchObject({ rung: 1, state: "WARN", clears: false, figures: { side: "HIGH" } });
    expect(judged([1, 0.97])).toMatchObject({ rung: 1, state: "WARN", figures: { side: "LOW" } });
    expect(judged([1, 1.022])).toMatchObject({ rung: 0, state: "WARN", clears: false });
    expect(judged([1, 1.001])).toMatchObject({ rung: 0, state: "OK", clears: true, observation: "d0001" });
  });

  it("has a wider band for a whole path", () => {
    expect(judged([1, 1.03], {}, { band: "pathwise" }).rung).toBe(0);
    expect(judged([1, 1.05], {}, { band: "pathwise" }).rung).toBe(1);
  });

  it("counts the error of the backtest's mean: the band widens faster than the root of time", () => {
    const year = judged([...Array.from({ length: 252 }, () => 1), 1]).figures;
    const reach = Math.log(Number(year["upper"]));
    expect(reach / (2.5958 * 0.01 * Math.sqrt(252))).toBeCloseTo(Math.sqrt(2), 2);
  });

  it("is warming up without a backtest, and never OK without data (trap 19)", () => {
    expect(judged([1, 2], { backtest: null })).toMatchObject({ state: "WARMUP", reason: "NO_BACKTEST", value: null });
    expect(judged([1])).toMatchObject({ state: "WARMUP", reason: "INSUFFICIENT_DATA" });
    expect(judged([1, 2], { backtest: backtest.slice(0, 59) }).state).toBe("WARMUP");
    expect(judged([1, Number.NaN]).state).toBe("STALE");
    expect(judged([1, 2], { backtest: [...backtest, Number.NaN] }).state).toBe("STALE");
    expect(judged([1, 2], { backtest: swing(252, 0, 0) })).toMatchObject({ reason: "CONSTANT_BASELINE", value: null });
    expect(judged([1, 1], { asOf: old })).toMatchObject({ state: "STALE", reason: "INPUT_TOO_OLD" });
  });

  it("sees no profit in a deposit (trap 7)", () => {
    expect(unitReturns([100, 150, 165], [0, 50, 0])).toEqual([0, expect.closeTo(0.1, 12)]);
    expect(unitReturns([0, 100], [0, 0])[0]).toBeNaN();
  });
});

describe("drift_monitor", () => {
  const config = defaultsOf(driftMonitor.config);
  const backtest = swing(252, 0.05, 0.1);
  const judged = (live: readonly number[], over: Partial<DriftMonitorInput> = {}, configured: object = {}) => {
    const input = { kind: "cross_section", backtest, live: dated(live), horizonDays: 1, day: "d", asOf, ...over };
    return driftMonitor.judge(input as DriftMonitorInput, { ...config, variance: "iid", ...configured }, null, now)
      .judgement;
  };
  /** The mean skill whose deviation is so many standard errors, of 60 days. */
  const meanAt = (z: number): number => 0.05 + z * 0.1 * Math.sqrt(252 / 251) * Math.sqrt(1 / 60 + 1 / 252);

  it("counts standard errors of the window's mean, on a strict rungs", () => {
    const rungs = [-0.4, -0.99, -1.01, -1.49, -1.51, -1.99, -2.01].map((z) => judged(swing(60, meanAt(z), 0)).rung);
    expect(rungs).toEqual([0, 0, 1, 1, 2, 2, 3]);
    expect(judged(swing(60, meanAt(-0.45), 0)).clears).toBe(true);
    expect(judged(swing(60, meanAt(-0.55), 0)).clears).toBe(false);
  });

  it("turns round for a contrarian signal", () => {
    const contrary = backtest.map((each) => -each);
    expect(judged(swing(60, 0, 0.1), { backtest: contrary }).rung).toBe(3);
    expect(judged(swing(60, -0.2, 0.1), { backtest: contrary }).rung).toBe(0);
  });

  it("halves and posts as well when it jumps to the halt", () => {
    const { effects, rung } = judged(swing(60, -0.2, 0.1));
    const wanted = effects.filter((each) => each.rung <= rung).map(({ effect }) => effect);
    expect(wanted).toMatchObject([
      { kind: "chat" },
      { kind: "restriction", restriction: "ALLOCATION", factor: 0.5 },
      { kind: "cross_post" },
      { kind: "halt", level: "STRATEGY_HALT" },
    ]);
  });

  it("allows for neighbouring days that resemble each other (trap 9)", () => {
    const slow = Array.from({ length: 252 }, (_unused, index) => 0.05 + (Math.floor(index / 6) % 2 === 0 ? 0.1 : -0.1));
    const live = swing(60, 0.03, 0.1);
    const iid = Number(judged(live, { backtest: slow }).value);
    const hac = Number(judged(live, { backtest: slow }, { variance: "hac" }).value);
    expect(iid / hac).toBeGreaterThan(1.3);
    expect(judged(live, { backtest: slow, horizonDays: 21 }, { variance: "hac" }).value).not.toBe(hac);
  });

  it("is Fisher's z with few symbols", () => {
    const z = seriesDrift({ correlation: 0.3, pairs: 252 }, { correlation: 0, pairs: 60 });
    expect(z).toBeCloseTo(-Math.atanh(0.3) / Math.sqrt(1.06 / 57 + 1.06 / 249), 12);
    expect(seriesDrift({ correlation: -0.3, pairs: 252 }, { correlation: 0, pairs: 60 })).toBeCloseTo(Number(z), 12);
    expect(seriesDrift({ correlation: 1, pairs: 252 }, { correlation: 0, pairs: 60 })).toBeNull();
    const series = { kind: "series", day: "d", asOf } as const;
    const input = { ...series, backtest: { correlation: 0.3, pairs: 252 }, live: { correlation: 0, pairs: 60 } };
    expect(driftMonitor.judge(input, config, null, now).judgement).toMatchObject({ rung: 3, sampleCount: 60 });
  });

  it("does not take too little for zero", () => {
    expect(judged(swing(19, -1, 0.1))).toMatchObject({ state: "WARMUP", reason: "INSUFFICIENT_DATA", value: null });
    expect(judged(swing(60, -1, 0.1), { backtest: null })).toMatchObject({ reason: "NO_BACKTEST" });
    expect(judged([...swing(59, 0, 0.1), Number.NaN]).state).toBe("STALE");
    expect(judged(swing(60, 0.05, 0.1), { asOf: old }).state).toBe("STALE");
  });
});

describe("vpin", () => {
  const config = { ...defaultsOf(vpin.config), window_buckets: 10, sigma_bars: 40 };
  /** Bars of 60 s with 100 shares; a bucket has 10 of them. */
  const bars = (from: number, closes: readonly number[]): readonly VpinBar[] =>
    closes.map((close, index) => ({ at: instant.plusMilliseconds(old, (from + index) * 60_000), close, volume: 100 }));
  const quotedAt = at;
  const dailyVolume = 50_000;
  const judged = (handed: readonly VpinBar[], memory = vpin.emptyMemory, over: object = {}) =>
    vpin.judge({ bars: handed, dailyVolume, quotedAt, ...over }, config, memory, now);
  const noise = swing(200, 100, 0.05);
  /** Up by more and more, so that every bar is far above what is usual. */
  const informed = Array.from({ length: 200 }, (_unused, index) => 100 + 0.02 * index ** 1.6);

  it("fires on one-sided flow and not on noise", () => {
    expect(judged(bars(0, noise)).judgement).toMatchObject({ rung: 0, state: "OK", clears: true });
    expect(judged(bars(0, informed)).judgement).toMatchObject({ rung: 1, state: "ACTION" });
  });

  it("goes on after a restart with the half-filled bucket, and takes no bar twice", () => {
    const whole = judged(bars(0, informed));
    const first = judged(bars(0, informed.slice(0, 137)));
    const stored = JSON.parse(JSON.stringify(first.memory)) as typeof first.memory;
    expect(stored.bucket.volume).toBeGreaterThan(0);
    expect(judged(bars(100, informed.slice(100)), stored).memory).toEqual(whole.memory);
  });

  it("keeps the size of a bucket that is being filled when the average volume changes", () => {
    const first = judged(bars(0, noise.slice(0, 25)));
    const next = judged(bars(25, noise.slice(25, 26)), first.memory, { dailyVolume: 500_000 });
    expect(next.memory.bucketSize).toBe(1_000);
  });

  it("leaves out bars without volume, out of order or without a number", () => {
    const clean = judged(bars(0, noise));
    const [first] = bars(0, noise);
    const empty = { at: instant.plusMilliseconds(old, 12_345), close: 500, volume: 0 };
    const broken = { at: instant.plusMilliseconds(at, 1), close: Number.NaN, volume: 5 };
    const messy = [...bars(0, noise), ...(first === undefined ? [] : [{ ...first, close: 1 }]), empty, broken];
    expect(judged(messy).memory).toEqual(clean.memory);
  });

  it("leaves out a bar with more volume than there can be, instead of filling buckets without end", () => {
    const clean = judged(bars(0, noise));
    const huge = { at: instant.plusMilliseconds(at, 1), close: 100, volume: 1e18 };
    expect(judged([...bars(0, noise), huge]).memory).toEqual(clean.memory);
    expect(judged([...bars(0, noise), { ...huge, volume: 100_000 }]).memory.bucketCount).toBe(
      clean.memory.bucketCount + 100,
    );
  });

  it("is warming up until the window is full, and STALE without quotes", () => {
    expect(judged(bars(0, noise.slice(0, 50))).judgement).toMatchObject({ state: "WARMUP", value: null });
    const stale = { state: "STALE", value: null, clears: false };
    expect(judged(bars(0, noise), vpin.emptyMemory, { quotedAt: null }).judgement).toMatchObject(stale);
    expect(judged(bars(0, noise), vpin.emptyMemory, { quotedAt: old }).judgement).toMatchObject(stale);
    expect(judged(bars(0, noise), vpin.emptyMemory, { dailyVolume: null }).judgement.state).toBe("WARMUP");
  });

  it("has at least five bars a bucket, because with one chance alone gives a half (trap 5)", () => {
    expect(barsPerBucketMin).toBe(5);
    // A bar's buy fraction is uniform when nothing is known: the mean of |2 u - 1| is a half.
    const uniform = Array.from({ length: 1_000 }, (_unused, index) => (index + 0.5) / 1_000);
    expect(uniform.reduce((sum, u) => sum + Math.abs(2 * u - 1), 0) / 1_000).toBeGreaterThan(0.4);
  });
});

describe("strategy_watchdog", () => {
  const config = defaultsOf(strategyWatchdog.config);
  const backtest = swing(420, 10, 100);
  const judged = (live: readonly number[], over: object = {}, configured: object = {}) =>
    strategyWatchdog.judge({ backtest, live: dated(live), asOf, ...over }, { ...config, ...configured }, null, now)
      .judgement;

  it("goes into the shadow on the low side and alerts on the high one", () => {
    expect(judged(swing(30, -40, 0))).toMatchObject({ rung: 2, state: "ACTION", figures: { side: "LOW" } });
    expect(judged(swing(30, 60, 0))).toMatchObject({ rung: 1, state: "WARN", figures: { side: "HIGH" } });
    expect(judged(swing(30, 60, 0), {}, { sides: "both" })).toMatchObject({ rung: 2, state: "ACTION" });
    expect(judged(swing(30, 10, 0))).toMatchObject({ rung: 0, state: "OK", clears: true });
  });

  it("does not take the sums that a backtest happened to have for the spread (trap 10)", () => {
    // Every thirty days of this backtest add up to 300; its days swing by 100.
    expect(judged(swing(30, -10, 0))).toMatchObject({ rung: 0, state: "OK" });
    expect(judged(swing(30, 30, 0))).toMatchObject({ rung: 0, state: "OK" });
  });

  it("adds the last thirty days only, and needs all of them", () => {
    expect(judged([...swing(30, -1_000, 0), ...swing(30, 10, 0)]).rung).toBe(0);
    expect(judged(swing(29, -1_000, 0))).toMatchObject({ state: "WARMUP", value: null });
    expect(judged(swing(30, -1_000, 0), { backtest: backtest.slice(0, 119) }).state).toBe("WARMUP");
    expect(judged(swing(30, -1_000, 0), { backtest: null })).toMatchObject({ reason: "NO_BACKTEST" });
    expect(judged([...swing(29, 0, 0), Number.NaN]).state).toBe("STALE");
  });
});

describe("portfolio_vol_dd", () => {
  const config = defaultsOf(portfolioVolDd.config);
  const judged = (returns: readonly number[], over: object = {}, configured: object = {}) =>
    portfolioVolDd.judge(
      { returns: dated(returns), backtestVolatility: 0.1, periodsPerYear: 252, asOf, ...over },
      { ...config, ...configured },
      null,
      now,
    ).judgement;
  const calm = swing(252, 0, 0.1 / Math.sqrt(252));
  const wild = [...calm, ...swing(20, 0, 0.3 / Math.sqrt(252))];

  it("acts when both estimators say so, with target over realised", () => {
    expect(judged(calm)).toMatchObject({ rung: 0, state: "OK", clears: true });
    const { effects, rung, figures } = judged(wild);
    expect(rung).toBe(1);
    expect(figures["factor"]).toBeCloseTo(0.1 / Number(figures["simple_vol"]), 12);
    expect(effects.slice(1)).toMatchObject([
      { effect: { restriction: "GROSS", factor: figures["factor"] } },
      { effect: { restriction: "ALLOCATION", factor: figures["factor"] } },
    ]);
  });

  it("does not act on one of them alone", () => {
    const jump = [...calm, (4.8 * 0.1) / Math.sqrt(252)];
    const { figures, rung } = judged(jump);
    expect(Number(figures["ewma_vol"]) / 0.1).toBeGreaterThan(1.5);
    expect([Number(figures["simple_vol"]) / 0.1 < 1.5, rung]).toEqual([true, 0]);
    expect(judged(jump).clears).toBe(false);
  });

  it("never cuts below a quarter", () => {
    expect(judged([...calm, ...swing(20, 0, 0.2)]).figures["factor"]).toBe(0.25);
  });

  it("takes the days of its own year (trap 2), and a target of its own before the backtest's", () => {
    expect(Number(judged(wild, { periodsPerYear: 365 }).value) / Number(judged(wild).value)).toBeCloseTo(
      Math.sqrt(365 / 252),
      12,
    );
    expect(judged(wild, {}, { target_vol: 0.3 }).rung).toBe(0);
    expect(judged(wild, { backtestVolatility: null })).toMatchObject({ state: "WARMUP", reason: "NO_BACKTEST" });
    expect(judged(calm.slice(0, 19)).state).toBe("WARMUP");
    expect(judged([...calm, Number.NaN]).state).toBe("STALE");
  });

  it("counts the drawdown from the start value (trap 4)", () => {
    expect(judged([-0.1, ...swing(20, 0, 0)]).figures["drawdown"]).toBeCloseTo(-0.1, 12);
  });
});
