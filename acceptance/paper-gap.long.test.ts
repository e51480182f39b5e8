// The gap, on real processes: a position is open, its market is closed and the broker is down, the market opens far through the stop. The intent to
// exit is durable: it outlives kill -9 of operations and order management, and when the broker is back there is exactly one exit of exactly the
// position.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Stops } from "../contracts/src/generated/svc/v1/riskworkers.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { openPaperFixture, type PaperFixture } from "../testkit/crash-rounds/paper-fixture.ts";
import { wrongWithBooks, wrongWithBroker } from "../testkit/crash-rounds/paper-verdict.ts";
import { eventually, pause } from "../testkit/platform.ts";

// Strategies stay out of the way; everything else is as it comes.
const configuration = `
research: { decide_every_s: 3600 }
synthetic_stop: { poll_interval_s: 1, poll_interval_equities_s: 1 }
lifecycle: { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200 }
`;
const waitMsMax = 120_000;
const [fund, strategy, symbol] = ["alpha", "alpha-momentum", "AAPL"];

let fixture: PaperFixture;
beforeAll(async () => {
  fixture = await openPaperFixture("gap", configuration);
}, 180_000);
afterAll(() => fixture.close(), 60_000);

const faults = (set: object) =>
  fixture.askAsOperator("Oms", "SetPaperWeather", {
    gaps: [],
    halted_symbols: [],
    news: [],
    informed: [],
    ...set,
    reason: "gap test",
  });

async function position(): Promise<string> {
  const text = `select quantity::text as quantity from portcullis.oms_position
    where fund_id = $1 and strategy_id = $2 and symbol = $3`;
  return String(Number((await fixture.owner.query(text, [fund, strategy, symbol])).rows[0]?.quantity));
}

async function owed(): Promise<Stops["stops"]> {
  const { stops } = await fixture.ask<Stops>("RiskWorkers", "ListStops", { fund_id: fund, owed_only: true });
  return stops.filter((stop) => stop.symbol === symbol && stop.strategy_id === strategy);
}

async function openOrders(): Promise<number> {
  const text = "select count(*)::int as count from portcullis.oms_order where is_open and fund_id = $1";
  return Number((await fixture.owner.query(text, [fund])).rows[0]?.count);
}

/** What its strategy traded of it since the platform began: another one may hold the symbol as well, and has a stop of its own. */
async function sold(): Promise<readonly { readonly fill_id: string; readonly quantity: string }[]> {
  const text = `select fill_id, content->>'quantity' as quantity from portcullis.oms_fill
    where fund_id = $1 and content->>'symbol' = $2 and content->>'strategy_id' = $3
      and content->>'kind' is distinct from 'SEED'`;
  return (await fixture.owner.query(text, [fund, symbol, strategy])).rows;
}

test("one stop, one exit of exactly the position, through an outage, a gap and two kills", {
  timeout: 600_000,
}, async () => {
  await eventually(
    "the position is open",
    async () => (await position()) !== "NaN" && (await position()) !== "0",
    waitMsMax,
  );
  // Research seeds its strategies a moment after the platform is ready.
  const hold = (strategy_id: string) =>
    fixture.askAsOperator("Research", "SetStrategy", { strategy_id, status: "shadow", reason: "gap test" }).then(
      () => true,
      () => false,
    );
  for (const one of ["alpha-momentum", "alpha-meanrev"]) await eventually(`${one} holds`, () => hold(one), waitMsMax);
  await eventually("the strategies have no order left", async () => (await openOrders()) === 0, waitMsMax);
  const before = new Set((await sold()).map(({ fill_id }) => fill_id));
  const held = await position();
  const gap = { symbol, pct: -0.2 };
  const silent = { broker_silent_until: new Date(Date.now() + 3_600_000).toISOString() };
  await faults({ ...silent, halted_symbols: [symbol] });
  // tidy: sleeps because a stop that fired on a halted symbol would be owed by then
  await pause(3_000);
  expect(await owed()).toEqual([]);
  await faults({ ...silent, gaps: [gap] });
  await eventually("the stop has fired", async () => (await owed()).length === 1, waitMsMax);
  const [fired] = await owed();

  fixture.kill("operations");
  fixture.kill("oms");
  await eventually("both are back", async () => (await fixture.platform().health()) === 200, waitMsMax);
  await eventually("the stop is still owed", async () => (await owed()).length === 1, waitMsMax);
  expect((await owed())[0]?.stop_id).toBe(fired?.stop_id);
  expect(await position()).toBe(held);
  expect((await sold()).filter(({ fill_id }) => !before.has(fill_id))).toEqual([]);

  await faults({ gaps: [gap] });
  await eventually("the position is closed", async () => (await position()) === "0", waitMsMax);
  await eventually("the stop is over", async () => (await owed()).length === 0, waitMsMax);
  // tidy: sleeps because whatever else would come of it would come now
  await pause(5_000);
  expect(await position()).toBe("0");
  const total = (await sold())
    .filter(({ fill_id }) => !before.has(fill_id))
    .reduce((sum, { quantity }) => sum + Number(quantity), 0);
  expect(String(total)).toBe(held);
  const triggered = `select count(*)::int as count from portcullis.outbox
    where subject = $1 and convert_from(payload, 'UTF8')::json->>'strategy_id' = $2`;
  expect((await fixture.owner.query(triggered, [subjects.stopTriggered.name, strategy])).rows[0]?.count).toBe(1);
  await eventually("the books agree", async () => (await wrongWithBooks(fixture)).length === 0, waitMsMax);
  expect(await wrongWithBroker(fixture.owner)).toEqual([]);
});
