// One valid example of each record: for documentation, for foreign publishers and for tests, which hold them to the schemas.
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { FundStatus, NavUpdated } from "../contracts/src/records/fund.ts";
import type { HaltRequest, HaltResponse, HaltStatus, ResumeRequest } from "../contracts/src/records/halt.ts";
import type { Bar, Instrument, Mark, Quote } from "../contracts/src/records/market.ts";
import type { AuditEntry, WatchdogAlarm } from "../contracts/src/records/operations.ts";
import type { Fill, Order, OrderRejection, OrderTransition, RiskDecision } from "../contracts/src/records/order.ts";

const at = "2026-11-16T14:30:00.000000Z";

export const exampleOrder: Order = {
  idempotency_key: "alpha-momentum-2026-11-16T14:30:00Z",
  order_id: "o-1",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "100",
  order_type: "LIMIT",
  limit_price: "189.25",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
  notional: 18_925,
  actor: "alpha-momentum",
};

export const exampleDecision: RiskDecision = {
  approved: false,
  rejecting_gate: "position_risk",
  code: "POSITION_LIMIT_EXCEEDED",
  reason: "AAPL could become 7.4 % of NAV; 7 % is allowed.",
  order_id: "o-1",
  decision_id: "d-1",
  fund_id: "alpha",
  envelope_version: 3,
  halt_epoch: 12,
  decided_at: at,
  classification: "INCREASE",
  checks: [
    { gate: "idempotency", result: "PASSED", figures: [], microseconds: 1.5 },
    {
      gate: "position_risk",
      result: "FAILED",
      figures: [{ name: "nav", value: "10000000", age_ms: 250 }],
      microseconds: 4,
    },
  ],
  warnings: [{ limit: "max_gross_exposure_pct", used: 0.8, threshold: 0.75 }],
};

export const exampleRejection: OrderRejection = {
  order_id: "o-1",
  decision_id: "d-1",
  idempotency_key: exampleOrder.idempotency_key,
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "100",
  gate: "position_risk",
  code: "POSITION_LIMIT_EXCEEDED",
  reason: exampleDecision.reason,
  envelope_version: 3,
  halt_epoch: 12,
  figures: [{ name: "nav", value: "10000000", age_ms: 250 }],
  actor: "alpha-momentum",
  decided_at: at,
};

export const exampleEnvelope: RiskEnvelope = {
  fund_id: "alpha",
  version: 1,
  max_position_pct: 0.07,
  daily_loss_halt_pct: 0.02,
  weekly_loss_halt_pct: 0.04,
  monthly_loss_halt_pct: 0.06,
  synthetic_stop_pct: 0.05,
  max_notional: 250_000,
  allowed_brokers: ["paper"],
  allowed_order_types: ["MARKET", "LIMIT"],
  allowed_asset_classes: ["EQUITY"],
  max_gross_exposure_pct: 1.5,
  max_net_exposure_pct: 1,
  sector_limits_pct: { technology: 0.4 },
  shorting_enabled: false,
  max_borrow_fee_pct: 0.03,
  price_collar_pct: 0.05,
  order_rate_max_per_s: 50,
  halt_allow_reduce_only: true,
};

export const exampleHalt: HaltRequest = {
  severity: "FUND_HALT",
  fund_id: "alpha",
  reason: "daily loss 2.1 % reached the limit of 2 %",
  requested_by: "riskengine",
  evidence: { loss_pct: "0.021", limit_pct: "0.02" },
  halt_id: "h-1",
  epoch: 13,
  since: at,
};

export const exampleHaltResponse: HaltResponse = { halt_id: "h-1", epoch: 13, since: at, acknowledged: true };

export const exampleHaltStatus: HaltStatus = {
  fund_id: "alpha",
  halted: true,
  severity: "FUND_HALT",
  known: true,
  epoch: 13,
  halts: [{ ...exampleHalt, halt_id: "h-1", epoch: 13, since: at }],
  as_of: at,
};

export const exampleResume: ResumeRequest = { fund_id: "alpha", reason: "limits reviewed", confirmation: "RESUME" };

export const exampleAuditEntry: AuditEntry = {
  sequence: 0,
  timestamp: at,
  actor: "riskengine",
  action: "order.denied",
  subject_id: "o-1",
  data: { code: "FUND_HALTED", figures: [1, "2", null, true, { nested: [] }] },
  prev_hash: "0".repeat(64),
  hash: "a".repeat(64),
};

export const exampleQuote: Quote = { symbol: "BTC-USD", bid: "68000.1", ask: "68000.2", quoted_at: at };

export const exampleMark: Mark = { symbol: "BTC-USD", price: "68000.15", source: "simulator", at };

export const exampleBar: Bar = {
  symbol: "AAPL",
  interval: "1d",
  start: at,
  open: "189",
  high: "191.5",
  low: "188.2",
  close: "190.1",
  volume: "51234567",
  closed: true,
};

export const exampleInstrument: Instrument = {
  symbol: "SPY 261218C00600000",
  name: "SPY 600 call, 18 December 2026",
  asset_class: "OPTION",
  currency: "USD",
  tick_size: "0.01",
  lot_size: "1",
  multiplier: "100",
  sector: "index",
  calendar: "us-equities",
  underlying: "SPY",
  expiry: "2026-12-18",
  strike: "600",
  right: "CALL",
};

export const exampleFund: FundStatus = {
  fund_id: "alpha",
  name: "Alpha",
  mode: "PAPER",
  currency: "USD",
  nav: "10000000.00",
  nav_at: at,
  halted: false,
};

export const exampleNav: NavUpdated = { fund_id: "alpha", nav: "10000000.00", currency: "USD", as_of: at };

export const exampleFill: Fill = {
  fill_id: "f-1",
  order_id: "o-1",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  side: "BUY",
  quantity: "40",
  price: "189.2",
  filled_at: at,
};

export const exampleTransition: OrderTransition = {
  order_id: "o-1",
  fund_id: "alpha",
  strategy_id: "alpha-momentum",
  symbol: "AAPL",
  from: "PENDING_CHECK",
  to: "ACCEPTED",
  filled_quantity: "0",
  remaining_quantity: "100",
  decision_id: "d-1",
  at,
};

export const exampleWatchdogAlarm: WatchdogAlarm = {
  watchdog: "vpin",
  code: "WATCHDOG_VPIN",
  episode_id: "vpin-3f1c",
  event: "OPENED",
  state: "ACTION",
  symbol: "AAPL",
  value: 0.46,
  threshold: 0.4,
  unit: "fraction",
  sample_count: 50,
  figures: { buckets: 50, percentile: 0.99 },
  restriction_ids: ["r-1"],
  cross_post: false,
  dry_run: false,
  injected: false,
  action: "aggressive orders are throttled",
  sentence: "VPIN of AAPL is 0.46, above 0.4.",
  at,
};
