// What rests is cancelled when its strategy is paused or restricted to reductions; proven exits stay.
import { afterEach, expect, it } from "vitest";
import type { OrderStatus } from "../../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { WatchdogAlarm } from "../../../contracts/src/records/operations.ts";
import type { StrategyStatus } from "../../../contracts/src/records/values.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type OmsFixture, type OmsLife, omsFixture, orderOf } from "../../../testkit/oms-fixture.ts";
import { ignoreEndedIncarnations } from "../../../testkit/virtual/incarnation.ts";

const seed = 45_005;
const strategyId = "alpha-momentum";
const fixtures: OmsFixture[] = [];
let undo: () => void = () => undefined;

async function fixtureOf(): Promise<OmsFixture> {
  undo = ignoreEndedIncarnations();
  const fixture = await omsFixture({ seed });
  fixtures.push(fixture);
  return fixture;
}

afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close();
  undo();
});

const submit = (oms: OmsLife, ...given: Parameters<typeof orderOf>) =>
  oms.call<OrderStatus>("SubmitOrder", orderOf(...given));
const becomes = (fixture: OmsFixture, id: string, state: string) =>
  fixture.until(`${id} is ${state}`, async () => (await fixture.order(id))?.state === state);
const sale = { side: "SELL", quantity: "40" } as const;

/** The strategy and another one hold 100 each. */
async function holding(fixture: OmsFixture, oms: OmsLife): Promise<void> {
  for (const one of [strategyId, "alpha-meanrev"]) {
    await oms.call("AdjustPosition", {
      adjustment_id: `hold-${one}`,
      fund_id: "alpha",
      strategy_id: one,
      symbol: "AAPL",
      from_quantity: "0",
      to_quantity: "100",
      price: "230",
      broker: "paper",
      reason: "test",
    });
  }
  expect(await fixture.positions()).toHaveLength(2);
}

const pause = (fixture: OmsFixture, status: StrategyStatus, changed: StrategyStatus = status) =>
  fixture.outside.transact("research.strategy", async (unit) => {
    await unit.research.putStrategy({ strategyId, fundId: "alpha", status, allocationPct: 0.1 });
    await unit.events.publish(subjects.strategyChanged, {
      strategy_id: strategyId,
      fund_id: "alpha",
      status: changed,
      allocation_pct: 0.1,
      changed_by: "operator:duty",
      reason: "test",
      at: format(fixture.time.clock.now()),
    });
  });

/** As the strategy watchdog does. */
const shadow = (fixture: OmsFixture) =>
  fixture.outside.transact("watchdogs.change", async (unit) => {
    const named = { fundId: "alpha", strategyId };
    const by = { watchdog: "strategy_watchdog", episodeId: "e-1", since: 0 as Instant } as const;
    await unit.restrictions.open({ restrictionId: "r-1", kind: "SHADOW", ...named, ...by });
    const alarm: WatchdogAlarm = {
      watchdog: "strategy_watchdog",
      code: "WATCHDOG_STRATEGY",
      episode_id: "e-1",
      event: "OPENED",
      state: "ACTION",
      fund_id: "alpha",
      strategy_id: strategyId,
      value: 1,
      threshold: 1,
      unit: "fraction",
      sample_count: 30,
      figures: {},
      restriction_ids: ["r-1"],
      cross_post: false,
      dry_run: false,
      injected: false,
      action: "",
      sentence: "It left its backtest.",
      at: format(fixture.time.clock.now()),
    };
    await unit.events.publish(subjects.watchdogStrategy, alarm);
  });

it.each(["shadow", "halted"] as const)(
  "45.5: a strategy that is %s has nothing at the broker but proven exits",
  async (status) => {
    const fixture = await fixtureOf();
    const oms = await fixture.start();
    await holding(fixture, oms);
    await submit(oms, "adds");
    await submit(oms, "other", { strategy_id: "alpha-meanrev" });
    await submit(oms, "exit", { ...sale, reduce_only: true });
    await submit(oms, "sale", sale);
    await pause(fixture, status);
    for (const id of ["adds", "sale"]) {
      await becomes(fixture, id, "CANCELLED");
      expect((await fixture.order(id))?.reason).toBe(`The strategy ${strategyId} is paused (${status}).`);
      expect(fixture.broker.kept.get(id)?.state).toBe("CANCELLED");
    }
    await fixture.time.timers.sleep(5_000);
    for (const id of ["other", "exit"]) expect((await fixture.order(id))?.state, id).toBe("WORKING");
  },
);

it("45.5: a strategy that a watchdog restricts keeps its exits, whatever else rests is cancelled", async () => {
  const fixture = await fixtureOf();
  const oms = await fixture.start();
  await holding(fixture, oms);
  await submit(oms, "adds");
  await submit(oms, "other", { strategy_id: "alpha-meanrev" });
  await submit(oms, "exit", { ...sale, reduce_only: true });
  await shadow(fixture);
  await becomes(fixture, "adds", "CANCELLED");
  expect((await fixture.order("adds"))?.reason).toContain("restricted to reductions by strategy_watchdog");
  await fixture.time.timers.sleep(5_000);
  for (const id of ["other", "exit"]) expect((await fixture.order(id))?.state, id).toBe("WORKING");
});

it("45.5: an order that is on its way to the broker is cancelled as well, also after a restart", async () => {
  const fixture = await fixtureOf();
  const first = await fixture.start();
  fixture.broker.silence = (question) => (question === "submit" || question === "order" ? "before" : undefined);
  await submit(first, "adds");
  expect((await fixture.order("adds"))?.state).toBe("UNKNOWN");
  first.kill();
  await pause(fixture, "halted");
  fixture.broker.silence = () => undefined;
  await fixture.start();
  await becomes(fixture, "adds", "CANCELLED");
  expect(fixture.broker.arrivals.size).toBe(0);
});

it("45.5: an old word of a pause cancels nothing of a strategy that trades again", async () => {
  const fixture = await fixtureOf();
  const oms = await fixture.start();
  await submit(oms, "adds");
  await pause(fixture, "live", "halted");
  await fixture.time.timers.sleep(5_000);
  expect((await fixture.order("adds"))?.state).toBe("WORKING");
});
