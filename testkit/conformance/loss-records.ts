// Checks of the repository of losses: a state per fund under its lock, baselines that are only ever added, samples for the windows.
import { expect } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Baseline, LossState } from "../../contracts/src/losses.ts";
import type { Store } from "../../ports/store.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const at = (second: number): Instant => (second * 1_000_000) as Instant;

function baseline(differs: Partial<Baseline> = {}): Baseline {
  return {
    limit: "daily",
    period: "2026-11-18",
    version: 0,
    value: d("10000000.000000000000000001"),
    netFlows: d("-3"),
    valuedAt: at(1),
    setBy: "riskengine",
    reason: "A period began.",
    setAt: at(2),
    ...differs,
  };
}

function state(differs: Partial<LossState> = {}): LossState {
  const valuation = { at: at(1), currency: "USD", value: d("100.5"), netFlows: d("0") };
  const strategies = [{ strategyId: "alpha-momentum", profit: d("-0.000000000000000001") }];
  return {
    newest: { ...valuation, strategies },
    steady: { ...valuation, units: d("999999.000000000000000001"), shift: d("-0.5") },
    jump: { isUp: false, seen: 1, since: at(1) },
    baselines: [baseline(), baseline({ limit: "strategy", strategyId: "alpha-momentum" })],
    before: [],
    peak: { value: d("120"), netFlows: d("0"), at: at(0), units: d("1000000"), shift: d("0") },
    sampledAt: at(1),
    windowsFrom: at(0),
    windowsVersion: 0,
    pending: [{ baseline: baseline(), seen: 1, since: at(1) }],
    trips: [{ limit: "weekly", period: "2026-11-16", version: 0, haltId: "h-1", loss: d("4") }],
    ...differs,
  };
}

const run = <T>(store: Store, work: Parameters<Store["transact"]>[1]): Promise<T> =>
  transactPatiently(store, "conformance.losses", work) as Promise<T>;

export const lossStatesAreKept: StoreCheck = {
  promise: 1,
  sentence: "what is remembered of a fund's losses comes back as it was, and one unit at a time has it",
  async run(fixture) {
    expect(await run(fixture.store, (unit) => unit.losses.lock("alpha"))).toBeUndefined();
    expect(await run(fixture.store, (unit) => unit.losses.all())).toEqual([]);
    await run(fixture.store, (unit) => unit.losses.put("beta", state({ pending: [] })));
    await run(fixture.store, (unit) => unit.losses.put("alpha", state()));
    const failing = fixture.store.transact("conformance.losses", async (unit) => {
      await unit.losses.put("alpha", state({ trips: [] }));
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    // Whoever reads under the lock adds to what the one before wrote.
    const grow = () =>
      run(fixture.store, async (unit) => {
        const known = await unit.losses.lock("alpha");
        await unit.losses.put("alpha", state({ windowsVersion: (known?.windowsVersion ?? 0) + 1 }));
      });
    await Promise.all([grow(), grow(), grow()]);
    const store = await fixture.reopen();
    expect(await run(store, (unit) => unit.losses.lock("alpha"))).toEqual(state({ windowsVersion: 3 }));
    expect(await run(store, (unit) => unit.losses.all())).toEqual([
      { fundId: "alpha", state: state({ windowsVersion: 3 }) },
      { fundId: "beta", state: state({ pending: [] }) },
    ]);
  },
};

export const baselinesAreAdded: StoreCheck = {
  promise: 1,
  sentence: "a baseline is written once for its limit, strategy, period and version, and stays as it was",
  async run(fixture) {
    const put = (one: Baseline, fundId = "alpha") => run(fixture.store, (unit) => unit.losses.putBaseline(fundId, one));
    const others = [
      baseline({ version: 1, setAt: at(5), setBy: "operator:duty" }),
      baseline({ period: "2026-11-19", setAt: at(4) }),
      baseline({ limit: "strategy", strategyId: "alpha-momentum", setAt: at(3) }),
    ];
    expect(await put(baseline())).toBe(true);
    expect(await put(baseline({ value: d("1") }))).toBe(false);
    for (const other of others) expect(await put(other)).toBe(true);
    expect(await put(baseline(), "beta")).toBe(true);
    const store = await fixture.reopen();
    expect(await run(store, (unit) => unit.losses.baselines("alpha", 10))).toEqual([...others, baseline()]);
    expect(await run(store, (unit) => unit.losses.baselines("alpha", 1))).toEqual(others.slice(0, 1));
  },
};

export const samplesAreKept: StoreCheck = {
  promise: 1,
  sentence: "a window begins with the newest sample before it, or the oldest there is; older ones are forgotten",
  async run(fixture) {
    const sample = (second: number) => ({ at: at(second), value: d(String(second)), netFlows: d("0.5") });
    const put = (second: number, keepFrom: number) =>
      run(fixture.store, (unit) => unit.losses.putSample("alpha", sample(second), at(keepFrom)));
    const look = (store: Store, second: number) => run(store, (unit) => unit.losses.sampleAt("alpha", at(second)));
    expect(await look(fixture.store, 100)).toBeUndefined();
    for (const second of [10, 20, 30]) await put(second, 0);
    await run(fixture.store, (unit) => unit.losses.putSample("alpha", { ...sample(20), value: d("7") }, at(0)));
    expect(await look(fixture.store, 5)).toEqual(sample(10));
    expect(await look(fixture.store, 20)).toEqual(sample(20));
    expect(await look(fixture.store, 29)).toEqual(sample(20));
    await put(40, 29);
    const store = await fixture.reopen();
    expect(await look(store, 5)).toEqual(sample(20));
    expect(await look(store, 100)).toEqual(sample(40));
  },
};

export const lossRecordChecks: readonly StoreCheck[] = [lossStatesAreKept, baselinesAreAdded, samplesAreKept];
