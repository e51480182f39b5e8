// 25.4: what research does with restrictions: a smaller allocation, and only reductions handed in and kept while a watchdog shadows the strategy.
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import type { NewRestriction } from "../../contracts/src/records/restriction.ts";
import type { Strategy, StrategyInput } from "../../core/strategies/shape.ts";
import { actorOf } from "../../core/strategies/strategy-orders.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { Reference } from "../../ports/reference-data.ts";
import { ampleEnvelope } from "../../testkit/ample-envelope.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { paperReference } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";
import { decide } from "./decide.ts";
import type { MarketView } from "./market-view.ts";

const strategyId = "alpha-momentum";
let fixture: ServiceFixture;
let submitted: Order[];
let cancelled: string[];
let judged: StrategyInput | undefined;

/** Wants more of MSFT, most of all, and less of AAPL, of which it holds 1,000. */
const strategy: Strategy = {
  name: strategyId,
  fundId: "alpha",
  sentence: "",
  signalled: ["AAPL"],
  allocationPct: 0.1,
  daysPerYear: 252,
  tradesEveryDays: 1,
  lookback: 1,
  watches: () => ["AAPL", "MSFT"],
  judge(input) {
    judged = input;
    const targets = [
      { symbol: "MSFT", quantity: d("2000") },
      { symbol: "AAPL", quantity: d("500") },
    ];
    return { signals: [{ symbol: "AAPL", value: 1 }], targets };
  },
};

const market = {
  price: () => ({ price: d("100"), bid: d("99.99"), ask: d("100.01"), delta: undefined, at: fixture.time.clock.now() }),
  closes: async () => [100],
} as unknown as MarketView;

const restriction = (differs: Pick<NewRestriction, "kind"> & Partial<NewRestriction>): void => {
  const since = 0 as Instant;
  const one = { restrictionId: "r-1", fundId: "alpha", strategyId, watchdog: "drift_monitor", episodeId: "e-1", since };
  fixture.tables.restrictions.set("r-1", { ...one, ...differs } as NewRestriction);
};

const open = (orderId: string, symbol: string, side: Order["side"]): void => {
  const order = {
    order_id: orderId,
    idempotency_key: orderId,
    fund_id: "alpha",
    strategy_id: strategyId,
    symbol,
    side,
    quantity: "100",
    order_type: "LIMIT",
    limit_price: "100",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: actorOf(strategyId),
  } as Order;
  const at = fixture.time.clock.now();
  const stored = { order, state: "WORKING", filledQuantity: d("0"), createdAt: at, updatedAt: at };
  fixture.tables.oms.orders.set(orderId, stored as unknown as StoredOrder);
};

async function decideOnce(): Promise<void> {
  const now = fixture.time.clock.now();
  const reference = { ...paperReference(format(now)), change: 1 } as unknown as Reference;
  const instruments = new Map(reference.instruments.map((one) => [one.symbol, one]));
  const ports = fixture.portsOf("research", {
    riskStore: { navs: async () => [{ fund_id: "alpha", nav: "10000000", currency: "USD", as_of: format(now) }] },
    riskChecks: { envelope: async () => ampleEnvelope("alpha") as RiskEnvelope },
    orderManagement: {
      submit: async (order: Order) => {
        submitted.push(order);
        return { answer: {} };
      },
      cancel: async (orderId: string) => void cancelled.push(orderId),
    },
  } as unknown as Partial<ServicePorts>);
  const memory = { signalledAt: 0, quietUntil: 0, isStopping: () => false };
  await decide(strategy, ports, market, { current: async () => ({ reference, instruments }) }, memory);
}

beforeEach(() => {
  fixture = serviceFixture(254);
  [submitted, cancelled, judged] = [[], [], undefined];
  const at = fixture.time.clock.now();
  fixture.tables.research.strategies.set(strategyId, {
    strategyId,
    fundId: "alpha",
    status: "live",
    allocationPct: 0.1,
  });
  fixture.tables.oms.positions.set("alpha AAPL", {
    fundId: "alpha",
    strategyId,
    symbol: "AAPL",
    quantity: d("1000"),
    averagePrice: d("100"),
    realisedPnl: d("0"),
    openedBy: "f-1",
    updatedAt: at,
  });
});
afterEach(() => fixture.close());

const asked = (): readonly string[] => submitted.map(({ symbol, side }) => `${side} ${symbol}`).sort();

test("25.4: without restrictions it buys and sells with its whole allocation", async () => {
  await decideOnce();
  expect(judged?.allocationPct).toBe(0.1);
  expect(asked()).toEqual(["BUY MSFT", "SELL AAPL"]);
  expect(cancelled).toEqual([]);
});

test("25.4: under a factor it works with its base times that, decided however often", async () => {
  restriction({ kind: "ALLOCATION", factor: d("0.5") });
  for (let round = 0; round < 3; round += 1) {
    await decideOnce();
    expect(judged?.allocationPct).toBe(0.05);
  }
  expect(fixture.tables.research.strategies.get(strategyId)?.allocationPct).toBe(0.1);
});

test("25.4: shadowed by a watchdog it hands in and keeps only reductions", async () => {
  restriction({ kind: "SHADOW" });
  open("more", "MSFT", "BUY");
  open("less", "AAPL", "SELL");
  await decideOnce();
  expect(cancelled).toEqual(["more"]);
  fixture.tables.oms.orders.clear();
  await decideOnce();
  expect(asked()).toEqual(["SELL AAPL"]);
});
