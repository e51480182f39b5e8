// An order that passes every gate, with the view that goes with it, to be spoilt in one place: so a test says only what matters to it.
import { inspect, isDeepStrictEqual } from "node:util";
import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../contracts/src/instant.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { GateName } from "../contracts/src/records/values.ts";
import { compileEnvelope } from "../core/envelope/envelope.ts";
import { gates } from "../core/gates/index.ts";
import { amountOf, isNothing, isPositive, minus, plus, timesUp, toDecimal } from "../core/money/amount.ts";
import { product, toExact, zeroNotional } from "../core/money/exact.ts";
import { classify } from "../core/orders/classify.ts";
import { noVerdict } from "../core/state/empty-view.ts";
import type { Notes } from "../core/state/gate.ts";
import { inputAgesDefault } from "../core/state/input-ages.ts";
import { noneStands } from "../core/state/standing-condition.ts";
import { noTerms, readTerms } from "../core/state/terms.ts";
import type { FundView, InstrumentFacts } from "../core/state/view.ts";

type Writable<Kind> = { -readonly [Key in keyof Kind]: Kind[Key] };

export interface Draft {
  at: instant.Instant;
  order: Order;
  view: FundView;
  instrument: Writable<InstrumentFacts>;
  envelope: Writable<RiskEnvelope>;
}

export type Spoil = (draft: Draft) => void;

export interface Outcome {
  readonly approved: boolean;
  readonly gate: GateName | "";
  readonly code: string;
  readonly reason: string;
  readonly view: FundView;
  /** By name, as text, of every gate that was reached. */
  readonly figures: ReadonlyMap<string, string>;
  readonly ages: ReadonlyMap<string, number>;
  /** Used and allowed per limit. */
  readonly shares: ReadonlyMap<string, readonly [bigint, bigint]>;
}

export const d = decimal.parse;

/** A buy of 100 AAPL at 200 for a fund worth ten million; the risk officer is on, and agrees. */
export function passingDraft(): Draft {
  const at = instant.parse("2026-11-16T15:00:00Z");
  return {
    at,
    order: passingOrder(),
    view: passingView(),
    instrument: passingInstrument(),
    envelope: passingEnvelope(),
  };
}

/** Sets what follows from the rest: terms, unit value, compiled envelope, classification. */
export function settle(draft: Draft, has: { readonly envelope: boolean; readonly instrument: boolean }): void {
  const { view, instrument } = draft;
  view.instrument = has.instrument ? instrument : undefined;
  view.envelope = has.envelope ? compileEnvelope(draft.envelope) : undefined;
  readTerms(draft.order, view.terms);
  view.unitValue =
    view.price === undefined || view.fxRate === undefined || !isPositive(view.price)
      ? undefined
      : timesUp(timesUp(view.price, instrument.multiplier), view.fxRate);
  // What the fund holds is the strategy's own, unless a test says whose it is.
  if (isNothing(view.strategyPosition) && !view.strategyHalted) {
    view.strategyPosition = view.position;
    view.strategyPending = view.terms.direction === 1 ? view.pendingBuy : view.pendingSell;
  }
  classify(view);
}

export function judge(spoil: Spoil, has: { envelope?: boolean; instrument?: boolean } = {}): Outcome {
  const draft = passingDraft();
  spoil(draft);
  settle(draft, { envelope: has.envelope ?? true, instrument: has.instrument ?? true });
  return run(draft);
}

/** Runs the gates in order until one says no: once with bigints, and once with plain numbers, which must come to the same. */
export function run(draft: Draft): Outcome {
  const outcome = runAsIs(draft);
  const plainView = asPlain(draft.view);
  const { position, pendingBuy, pendingSell, unitValue } = plainView;
  if (unitValue !== undefined) {
    plainView.heldHigh = product(plus(position, pendingBuy), unitValue);
    plainView.heldLow = product(minus(position, pendingSell), unitValue);
  }
  const { view: _, ...plain } = runAsIs({ ...draft, view: plainView });
  const { view: __, ...wide } = outcome;
  if (!isDeepStrictEqual(plain, wide)) throw new Error(`plain numbers decide otherwise: ${inspect({ plain, wide })}`);
  return outcome;
}

const exactFields: ReadonlySet<string> = new Set(["grossOthers", "netHighOthers", "netLowOthers", "sectorOthers"]);

/** The same view with every amount as a plain number that can be one. */
function asPlain(view: FundView): FundView {
  const parts = Object.entries(view).map(([name, value]) => {
    if (typeof value === "bigint")
      return [name, exactFields.has(name) ? plainNotional(value) : amountOf(value as Decimal)];
    const isNested = name === "terms" || name === "instrument";
    return [name, isNested && value !== undefined ? asPlain(value as FundView) : value];
  });
  return Object.fromEntries(parts);
}

function plainNotional(value: bigint): bigint | number {
  const amount = value % decimal.one === 0n ? amountOf((value / decimal.one) as Decimal) : value;
  return typeof amount === "number" ? amount : value;
}

function runAsIs(draft: Draft): Outcome {
  const figures = new Map<string, string>();
  const ages = new Map<string, number>();
  const shares = new Map<string, readonly [bigint, bigint]>();
  const put = (name: string, value: string, ageMs?: number): void => {
    figures.set(name, value);
    if (ageMs !== undefined) ages.set(name, ageMs);
  };
  const notes: Notes = {
    decimal: (name, value, ageMs) => put(name, decimal.format(toDecimal(value)), ageMs),
    exact: (name, value) => put(name, toExact(value).toString()),
    word: put,
    count: (name, value) => put(name, String(value)),
    share: (limit, used, allowed) => shares.set(limit, [toExact(used), toExact(allowed)]),
  };
  for (const gate of gates) {
    // As the engine asks: only the last gate knows the risk officer's answer.
    const view = gate.phase === "model" ? draft.view : { ...draft.view, verdict: noVerdict };
    const denial = gate.decide(draft.order, view, draft.at, notes);
    if (denial !== undefined) {
      return { approved: false, gate: gate.name, ...denial, view: draft.view, figures, ages, shares };
    }
  }
  return { approved: true, gate: "", code: "", reason: "", view: draft.view, figures, ages, shares };
}

function passingOrder(): Order {
  return {
    idempotency_key: "key-1",
    order_id: "order-1",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    order_type: "LIMIT",
    limit_price: "200",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "alpha-momentum",
  };
}

function passingInstrument(): Writable<InstrumentFacts> {
  return {
    symbol: "AAPL",
    assetClass: "EQUITY",
    currency: "USD",
    tickSize: d("0.01"),
    lotSize: d("1"),
    multiplier: d("1"),
    sector: "Technology",
    restriction: undefined,
  };
}

function passingEnvelope(): Writable<RiskEnvelope> {
  return {
    fund_id: "alpha",
    version: 3,
    max_position_pct: 0.07,
    daily_loss_halt_pct: 0.02,
    weekly_loss_halt_pct: 0.04,
    monthly_loss_halt_pct: 0.08,
    synthetic_stop_pct: 0.05,
    max_notional: 250_000,
    allowed_brokers: ["paper"],
    allowed_order_types: ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"],
    allowed_asset_classes: ["EQUITY", "OPTION"],
    max_gross_exposure_pct: 1.5,
    max_net_exposure_pct: 1,
    sector_limits_pct: { Technology: 0.4 },
    shorting_enabled: true,
    max_borrow_fee_pct: 0.03,
    price_collar_pct: 0.05,
    order_rate_max_per_s: 50,
    halt_allow_reduce_only: true,
    repeated_execution_max: 20,
    cro_veto_enabled: true,
    cro_veto_timeout_ms: 2_000,
    cro_veto_on_timeout: "DENY",
  };
}

function passingView(): FundView {
  return {
    keySeen: "no",
    keyAgeMs: Number.NaN,
    fundKnown: true,
    fundCurrency: "USD",
    strategyKnown: true,
    envelope: undefined,
    instrument: undefined,
    terms: noTerms(),
    amends: false,
    amendsAnother: false,
    heldAtBroker: false,
    strategyPosition: decimal.zero,
    strategyPending: decimal.zero,
    reducesStrategy: false,
    strategyHalted: false,
    ages: inputAgesDefault,
    classification: undefined,
    closingQuantity: decimal.zero,
    openingQuantity: decimal.zero,
    position: decimal.zero,
    pendingBuy: decimal.zero,
    pendingSell: decimal.zero,
    ownRemaining: decimal.zero,
    ownFilled: decimal.zero,
    openOrders: 0,
    openOrdersMax: 1_000,
    price: d("200"),
    bid: undefined,
    ask: undefined,
    priceSource: "",
    priceAgeMs: 500,
    fxRate: decimal.one,
    fxAgeMs: Number.NaN,
    unitValue: undefined,
    nav: d("10000000"),
    navAgeMs: 1_000,
    grossOthers: zeroNotional,
    netHighOthers: zeroNotional,
    netLowOthers: zeroNotional,
    sectorOthers: zeroNotional,
    unpricedSymbol: undefined,
    oldestPriceAgeMs: 0,
    limits: undefined,
    heldHigh: undefined,
    heldLow: undefined,
    haltsKnown: true,
    haltEpoch: 7,
    halt: undefined,
    haltId: "",
    haltReason: "",
    strategyOrdersInSecond: 0,
    fundOrdersInSecond: 0,
    conditions: noneStands,
    repeatedExecutions: 0,
    borrowAvailable: d("1000000"),
    borrowFee: d("0.01"),
    borrowAgeMs: 60_000,
    verdict: { kind: "pass", reason: "", model: "persona-1", promptHash: "ab12", costUsd: "0.002", tookMs: 150 },
  };
}
