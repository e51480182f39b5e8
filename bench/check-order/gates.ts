// The gates alone, in this process, without a wire and without a store: whole checks, with hashing the order, looking at the books, the seven
// gates, and reserving. And how much of a check depends on the number of funds, each order being another fund's.
import { systemBlake3 } from "../../adapters/system/hashing.ts";
import { systemStopwatch } from "../../adapters/system/stopwatch.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import { createEngine, type Engine } from "../../core/engine/engine.ts";
import { compileEnvelope } from "../../core/envelope/envelope.ts";
import { inputAgesDefault } from "../../core/state/input-ages.ts";
import { benchEnvelope, benchFill, benchNav, benchReference } from "./fixture.ts";
import { medianOf, percentile } from "./measure.ts";
import { fundOf, positionsPerFund, symbolOf } from "./orders.ts";

export interface Speed {
  readonly decisions_per_s: number;
  readonly p99_us: number;
}

const start = instant.fromUnixMs(1_800_000_000_000);
/** A decision per simulated 20 microseconds, so that keys pass out of their window as they would. */
const stepUs = 20;
/** Open orders before the oldest ends: what a busy order management has under way. */
const openMax = 2_000;

interface Run {
  readonly engine: Engine;
  readonly funds: number;
  number: number;
  at: number;
  readonly open: Order[];
  denied: number;
}

export function buildRun(funds: number): Run {
  const engine = createEngine({
    blake3: systemBlake3,
    stopwatch: systemStopwatch,
    ages: { ...inputAgesDefault, nav: 86_400_000 },
    keyWindowMs: 300_000,
    approvalValidMs: 5_000,
    openOrdersPerFundMax: 100_000,
    valueUnexplainedMax: decimal.parse("0.05"),
  });
  engine.setReference(benchReference(funds));
  for (let fund = 0; fund < funds; fund += 1) {
    engine.setEnvelope(compileEnvelope(benchEnvelope(fundOf(fund))));
    engine.setNav(benchNav(fundOf(fund), start));
    for (let symbol = 0; symbol < positionsPerFund; symbol += 1) engine.applyFill(benchFill(fund, symbol, start));
  }
  engine.setHalts({ known: true, epoch: 1, active: [] });
  const run: Run = { engine, funds, number: 0, at: start, open: [], denied: 0 };
  movePrices(run);
  return run;
}

function movePrices(run: Run): void {
  const at = instant.format(instant.fromMicroseconds(run.at));
  for (let symbol = 0; symbol < positionsPerFund; symbol += 1) {
    const price = `100.0${run.number % 9}`;
    run.engine.setMark({ symbol: symbolOf(symbol), price, bid: "99.99", ask: "100.09", source: "bench", at });
  }
}

function nextOrder(run: Run): Order {
  run.number += 1;
  const fund = (run.number * 7_919) % run.funds;
  return {
    ...emptyOrder,
    idempotency_key: `key-${run.number}`,
    order_id: `order-${run.number}`,
    fund_id: fundOf(fund),
    strategy_id: `${fundOf(fund)}-a`,
    symbol: symbolOf((run.number * 37) % positionsPerFund),
    side: run.number % 3 === 0 ? "SELL" : "BUY",
    quantity: "3",
    limit_price: "100.05",
  };
}

const emptyOrder: Order = {
  ...Order.decode(new Uint8Array()),
  order_type: "LIMIT",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
  actor: "bench",
};

/** Prices move twice a second of the simulated time; what that costs is paid by the checks that come after. */
const pricesEverySteps = 500_000 / stepUs;

/** Microseconds of every single check, each by itself. */
export function timeChecks(run: Run, count: number): Float64Array {
  const took = new Float64Array(count);
  for (let index = 0; index < count; index += 1) {
    run.at += stepUs;
    if (run.number % pricesEverySteps === 0) movePrices(run);
    const order = nextOrder(run);
    const before = systemStopwatch();
    const checked = run.engine.check(order, instant.fromMicroseconds(run.at));
    took[index] = systemStopwatch() - before;
    if (checked.outcome === "approved") run.open.push(order);
    else run.denied += 1;
    if (run.open.length > openMax) endOldest(run);
  }
  return took;
}

function endOldest(run: Run): void {
  const order = run.open.shift();
  if (order === undefined) return;
  run.engine.applyTransition({
    order_id: order.order_id,
    fund_id: order.fund_id,
    strategy_id: order.strategy_id,
    symbol: order.symbol,
    from: "WORKING",
    to: "CANCELLED",
    filled_quantity: "0",
    remaining_quantity: "0",
    at: "2027-01-01T00:00:00Z",
  });
}

/** The rate is that of the measured time alone: making the orders is not the engine's work. */
export function measureGates(windows: number, perWindow: number): Speed {
  const run = buildRun(10);
  timeChecks(run, perWindow);
  const seen = Array.from({ length: windows }, () => timeChecks(run, perWindow));
  if (run.denied > 0) throw new Error(`${run.denied} orders of the bench were denied and should not have been`);
  return speedOf(seen);
}

function speedOf(windows: readonly Float64Array[]): Speed {
  return {
    decisions_per_s: medianOf(windows.map((took) => (took.length * 1_000_000) / sumOf(took))),
    p99_us: medianOf(windows.map((took) => percentile(took.slice().sort(), 0.99))),
  };
}

function sumOf(took: Float64Array): number {
  return took.reduce((sum, each) => sum + each, 0);
}

/** Mean microseconds per check by the number of funds, windows interleaved. */
export function measureScale(
  sizes: readonly number[],
  windows: number,
  perWindow: number,
): Readonly<Record<string, number>> {
  const runs = sizes.map((funds) => ({ funds, run: buildRun(funds), means: [] as number[] }));
  for (const { run } of runs) timeChecks(run, perWindow);
  for (let window = 0; window < windows; window += 1) {
    for (const { run, means } of runs) means.push(sumOf(timeChecks(run, perWindow)) / perWindow);
  }
  return Object.fromEntries(runs.map(({ funds, means }) => [String(funds), medianOf(means)]));
}
