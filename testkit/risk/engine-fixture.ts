// A small world for tests of the engine: three funds, eight instruments, envelopes, marks and valuations, and words to change them. Every
// helper takes only what a test is about; the rest is ordinary.
import { systemBlake3 } from "../../adapters/system/hashing.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { Mark, OptionRisk } from "../../contracts/src/records/market.ts";
import type { Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";
import { createEngine, type Engine, type EngineOptions } from "../../core/engine/engine.ts";
import { compileEnvelope } from "../../core/envelope/envelope.ts";
import type { StandingCondition } from "../../core/state/standing-condition.ts";

export const startOfDay = instant.parse("2026-11-15T13:30:00.000000Z");

export function moment(milliseconds: number): instant.Instant {
  return instant.plusMilliseconds(startOfDay, milliseconds);
}

export const engineOptions: EngineOptions = {
  blake3: systemBlake3,
  stopwatch: () => 0,
  ages: { mark: 10_000, nav: 60_000, fx: 3_600_000, borrow: 86_400_000 },
  keyWindowMs: 300_000,
  approvalValidMs: 5_000,
  openOrdersPerFundMax: 1_000,
  valueUnexplainedMax: decimal.parse("0.05"),
};

function instrument(symbol: string, sector: string, more: Partial<ReferenceContents["instruments"][number]> = {}) {
  const steps = { tick_size: "0.01", lot_size: "1", multiplier: "1" };
  const rest = { asset_class: "EQUITY" as const, currency: "USD", sector, calendar: "us" };
  return { symbol, name: symbol, ...steps, ...rest, ...more };
}

function option(symbol: string, right: "CALL" | "PUT", strike: string) {
  const terms = { underlying: "SPY", right, strike, expiry: "2028-12-15" };
  return instrument(symbol, "options", { asset_class: "OPTION", multiplier: "100", ...terms });
}

export const reference: ReferenceContents = {
  instruments: [
    instrument("AAPL", "technology"),
    instrument("MSFT", "technology"),
    instrument("XOM", "energy"),
    instrument("SAP", "technology", { currency: "EUR" }),
    instrument("BTC-USD", "crypto", { asset_class: "CRYPTO", lot_size: "0.0001" }),
    instrument("SPY", "index"),
    option("SPY-C500", "CALL", "500"),
    option("SPY-P400", "PUT", "400"),
  ],
  funds: [
    { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", calendar: "us", strategies: ["trend", "value"] },
    { fund_id: "beta", name: "Beta", mode: "PAPER", currency: "USD", calendar: "us", strategies: ["coins"] },
    { fund_id: "gamma", name: "Gamma", mode: "PAPER", currency: "EUR", calendar: "us", strategies: ["euro"] },
  ],
  fx: [{ base: "EUR", quote: "USD", rate: "1.08", as_of: instant.format(startOfDay) }],
  borrow: ["AAPL", "MSFT", "XOM", "BTC-USD", "SPY"].map((symbol) => ({
    symbol,
    available_quantity: "100000",
    fee_pct: "0.01",
    as_of: instant.format(startOfDay),
  })),
  restricted: [],
  venues: [],
  calendars: [],
};

export const prices: Readonly<Record<string, string>> = {
  AAPL: "200",
  MSFT: "400",
  XOM: "100",
  SAP: "150",
  "BTC-USD": "50000",
  SPY: "480",
  "SPY-C500": "5",
  "SPY-P400": "3",
};

/** What the marks of the options say beside their price. */
export const optionRisks: Readonly<Record<string, Omit<OptionRisk, "at">>> = {
  "SPY-C500": { delta: "0.25", stressed_up: "90", stressed_down: "0.5" },
  "SPY-P400": { delta: "-0.125", stressed_up: "0.4", stressed_down: "35" },
};

/** A symbol's mark, an option's with its delta. */
export function markOf(symbol: string, price: string, at: instant.Instant, delta?: string): Mark {
  const risk = optionRisks[symbol];
  const [source, when] = ["test", instant.format(at)];
  const option_risk = risk && { ...risk, ...(delta !== undefined && { delta }), at: when };
  return { symbol, price, source, ...(option_risk && { option_risk }), at: when };
}

export function envelopeRecord(fundId: string, more: Partial<RiskEnvelope> = {}): RiskEnvelope {
  return {
    fund_id: fundId,
    version: 1,
    max_position_pct: 0.2,
    daily_loss_halt_pct: 0.02,
    weekly_loss_halt_pct: 0.04,
    monthly_loss_halt_pct: 0.08,
    synthetic_stop_pct: 0.05,
    max_notional: 500_000,
    allowed_brokers: ["paper"],
    allowed_order_types: ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"],
    allowed_asset_classes: ["EQUITY", "CRYPTO", "OPTION"],
    max_gross_exposure_pct: 2,
    max_net_exposure_pct: 1,
    sector_limits_pct: { technology: 0.5 },
    shorting_enabled: true,
    max_borrow_fee_pct: 0.05,
    price_collar_pct: 0.05,
    order_rate_max_per_s: 1_000,
    halt_allow_reduce_only: true,
    ...more,
  };
}

export function markAll(engine: Engine, at: instant.Instant, changes: Readonly<Record<string, string>> = {}): void {
  for (const [symbol, price] of Object.entries({ ...prices, ...changes })) {
    engine.setMark(markOf(symbol, price, at));
  }
}

export function valueAll(engine: Engine, at: instant.Instant, nav = "1000000"): void {
  for (const [fund_id, currency] of [
    ["alpha", "USD"],
    ["beta", "USD"],
    ["gamma", "EUR"],
  ] as const) {
    engine.setNav({ fund_id, nav, currency, as_of: instant.format(at) });
  }
}

/** An engine of that world at its beginning, with nothing held. */
export function engineFixture(more: Partial<RiskEnvelope> = {}, options: Partial<EngineOptions> = {}): Engine {
  const engine = createEngine({ ...engineOptions, ...options });
  engine.setReference(reference);
  for (const fundId of ["alpha", "beta", "gamma"]) engine.setEnvelope(compileEnvelope(envelopeRecord(fundId, more)));
  engine.setHalts({ known: true, epoch: 1, active: [] });
  markAll(engine, startOfDay);
  valueAll(engine, startOfDay);
  return engine;
}

export function orderOf(id: string, more: Partial<Order> = {}): Order {
  return {
    idempotency_key: `key-${id}`,
    order_id: id,
    fund_id: "alpha",
    strategy_id: "trend",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "test",
    ...more,
  };
}

/** A fill of that order; `n` tells several apart. */
export function fillOf(order: Order, quantity: string, n = 1): Fill {
  return {
    fill_id: `${order.order_id}-fill-${n}`,
    order_id: order.order_id,
    fund_id: order.fund_id,
    strategy_id: order.strategy_id,
    symbol: order.symbol,
    side: order.side as Fill["side"],
    quantity,
    price: "200",
    filled_at: instant.format(startOfDay),
  };
}

export function transitionOf(
  order: Order,
  to: OrderTransition["to"],
  more: Partial<OrderTransition> = {},
): OrderTransition {
  return {
    order_id: order.order_id,
    fund_id: order.fund_id,
    strategy_id: order.strategy_id,
    symbol: order.symbol,
    from: "WORKING",
    to,
    filled_quantity: "0",
    remaining_quantity: "0",
    at: instant.format(startOfDay),
    ...more,
  };
}

/** Hands a condition in, as a source of its own does. */
export function stand(engine: Engine, standing: StandingCondition): void {
  engine.setConditions(standing.code, [standing]);
}

/** A position out of nowhere: a fill of an order that nobody asked about. */
export function hold(engine: Engine, fundId: string, symbol: string, quantity: string): void {
  const sells = quantity.startsWith("-");
  engine.applyFill({
    ...fillOf(orderOf(`seed-${fundId}-${symbol}`, { fund_id: fundId, symbol }), sells ? quantity.slice(1) : quantity),
    side: sells ? "SELL" : "BUY",
  });
}
