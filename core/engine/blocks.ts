// Which standing conditions deny new risk now. The gates themselves are asked, with the smallest order that adds risk: what they deny it with is noted,
// that one input is mended, and they are asked again, until they let it pass. So whatever a gate denies for as long as it stands is listed, and
// what is listed a gate denies. Limits and pace are no standing conditions: how much more may be done is what headroom says.
import type { DenialCode } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { compileEnvelope, type Envelope } from "../envelope/envelope.ts";
import { isFresh } from "../gates/new-risk.ts";
import { nothing, oneUnit, toDecimal } from "../money/amount.ts";
import { firstDenial } from "./check.ts";
import * as sheets from "./fast/fund-state.ts";
import { namesOf } from "./fast/order-hash.ts";
import { fillView } from "./fill-view.ts";
import type { EngineState } from "./state.ts";
import type { FundView } from "./view.ts";

export type BlockScope = "firm" | "fund" | "strategy" | "symbol";

export interface StandingBlock {
  readonly code: DenialCode;
  readonly scope: BlockScope;
  readonly fundId?: string;
  readonly strategyId?: string;
  readonly symbol?: string;
  /** As a decision would say it. */
  readonly reason: string;
  /** Undefined when the engine does not know. */
  readonly since: instant.Instant | undefined;
}

/** What is asked about: a fund by itself, with one of its strategies, or with a symbol. */
interface Probe {
  readonly fundId: string;
  readonly strategyId: string;
  /** Empty for an instrument that nothing is wrong with. */
  readonly symbol: string;
}

/** Where a condition holds, from when on, and what the view is like without it. */
interface Standing {
  scope(view: FundView): BlockScope;
  since(view: FundView, state: EngineState, probe: Probe, at: instant.Instant): instant.Instant | undefined;
  mend(view: FundView, state: EngineState, probe: Probe): void;
}

const unknown = (): undefined => undefined;
const at =
  (scope: BlockScope): Standing["scope"] =>
  () =>
    scope;

function standing(scope: BlockScope, mend: Standing["mend"], since: Standing["since"] = unknown): Standing {
  return { scope: at(scope), mend, since };
}

/** An input grew too old when it was older than allowed; one that is dated ahead never was young. */
function outdatedAt(ageMs: number, ageMsMax: number, now: instant.Instant): instant.Instant | undefined {
  return ageMs > ageMsMax ? instant.minusMilliseconds(now, ageMs - ageMsMax) : undefined;
}

function mendPrice(view: FundView): void {
  Object.assign(view, { price: oneUnit, bid: undefined, ask: undefined, market: undefined, priceAgeMs: 0 });
  view.unitValue = oneUnit;
}

const price = (view: FundView, now: instant.Instant) => outdatedAt(view.priceAgeMs, view.ages.mark, now);

/** The rate may be the symbol's own, or that of something else which the fund holds. */
function isOwnRate(view: FundView): boolean {
  const isForeign = view.instrument?.currency !== view.fundCurrency;
  return view.fxRate === undefined || (isForeign && !isFresh(view.fxAgeMs, view.ages.fx));
}

const fxRate: Standing = {
  scope: (view) => (isOwnRate(view) ? "symbol" : "fund"),
  since: (view, _state, _probe, now) => {
    const ageMs = isOwnRate(view) ? view.fxAgeMs : (view.unpricedRateAgeMs ?? Number.NaN);
    return outdatedAt(ageMs, view.ages.fx, now);
  },
  mend(view) {
    if (isOwnRate(view)) {
      Object.assign(view, { fxRate: oneUnit, fxAgeMs: 0, unitValue: oneUnit });
      return;
    }
    mendHoldings(view);
  },
};

/** The delta may be the symbol's own, or that of an option which the fund holds. */
function isOwnDelta({ instrument, option, ages }: FundView): boolean {
  if (option === undefined || instrument?.assetClass !== "OPTION") return false;
  return option.delta === undefined || option.netValue === undefined || !isFresh(option.deltaAgeMs, ages.mark);
}

const delta: Standing = {
  scope: (view) => (isOwnDelta(view) ? "symbol" : "fund"),
  since: (view, _state, _probe, now) => {
    const ageMs = isOwnDelta(view) ? view.option?.deltaAgeMs : view.unpricedRateAgeMs;
    return outdatedAt(ageMs ?? Number.NaN, view.ages.mark, now);
  },
  mend(view) {
    if (!isOwnDelta(view) || view.option === undefined) {
      mendHoldings(view);
      return;
    }
    view.option = { ...view.option, delta: oneUnit, deltaAgeMs: 0, netValue: oneUnit };
    view.unitValue = oneUnit;
  },
};

function mendHoldings(view: FundView): void {
  Object.assign(view, { unpricedSymbol: undefined, unpricedRate: undefined });
}

function mendNav(view: FundView): void {
  Object.assign(view, { nav: oneUnit, navAgeMs: 0, limits: undefined });
}

/** The next one below it, if there is one. */
function haltBelow({ halts }: EngineState, { fundId, strategyId }: Probe, view: FundView): ActiveHalt | undefined {
  const ofFund = view.halt === "FIRM_HALT" ? halts.funds.get(fundId) : undefined;
  return ofFund ?? (view.halt === "STRATEGY_HALT" ? undefined : halts.strategies.get(strategyId));
}

function halted(scope: BlockScope): Standing {
  return standing(
    scope,
    (view, state, probe) => {
      const next = haltBelow(state, probe, view);
      view.halt = next?.severity;
      view.haltId = next?.halt_id ?? "";
      view.haltReason = next?.reason ?? "";
    },
    (view, { halts }, { fundId, strategyId }) => {
      const all = { firm: halts.firm, fund: halts.funds.get(fundId), strategy: halts.strategies.get(strategyId) };
      const one = scope === "symbol" ? undefined : all[scope];
      return one === undefined || one.halt_id !== view.haltId ? undefined : instant.tryParse(one.since);
    },
  );
}

const lossesSettled = (view: FundView): void => {
  view.lossBlock = undefined;
};

/** Codes of conditions that stand until somebody or something ends them; every other code of a gate is about the order itself, its size or its pace. */
export const standingConditions: Readonly<Partial<Record<DenialCode, Standing>>> = {
  SCHEMA_FUND_UNKNOWN: standing("fund", (view) => {
    Object.assign(view, { fundKnown: true, strategyKnown: true });
  }),
  ENVELOPE_MISSING: standing("fund", (view) => {
    view.envelope = withoutLimits(imaginedEnvelope);
  }),
  SYMBOL_RESTRICTED: standing("symbol", (view) => {
    if (view.instrument !== undefined) view.instrument = { ...view.instrument, restriction: undefined };
  }),
  CORPORATE_ACTION_UNDER_WAY: standing(
    "symbol",
    (view) => {
      view.symbolBlock = undefined;
    },
    (_view, { heldSymbols }, { symbol }) => heldSymbols.get(symbol)?.since,
  ),
  SYMBOL_BLOCKED: standing(
    "symbol",
    (view) => {
      view.symbolBlock = undefined;
    },
    (_view, { symbolBlocksSince }, { fundId, symbol }) => symbolBlocksSince.get(fundId)?.get(symbol),
  ),
  THROTTLE_TRIPPED: standing(
    "strategy",
    (view) => {
      view.throttleTripped = false;
    },
    (_view, { books }, { strategyId }) => books.strategies.get(strategyId)?.trippedAt,
  ),
  REFERENCE_PRICE_MISSING: standing("symbol", mendPrice),
  REFERENCE_PRICE_STALE: standing("symbol", mendPrice, (view, _state, _probe, now) => price(view, now)),
  FX_RATE_MISSING: fxRate,
  FX_RATE_STALE: fxRate,
  OPEN_ORDERS_EXCEEDED: standing("fund", (view) => {
    view.openOrders = 0;
  }),
  NAV_MISSING: standing("fund", mendNav),
  NAV_NOT_POSITIVE: standing("fund", mendNav),
  NAV_STALE: standing("fund", mendNav, (view, _state, _probe, now) => outdatedAt(view.navAgeMs, view.ages.nav, now)),
  MARK_MISSING: standing("fund", mendHoldings),
  MARK_STALE: standing(
    "fund",
    (view) => {
      view.oldestPriceAgeMs = 0;
    },
    (view, _state, _probe, now) => outdatedAt(view.oldestPriceAgeMs, view.ages.mark, now),
  ),
  DELTA_MISSING: delta,
  DELTA_STALE: delta,
  FIRM_HALTED: halted("firm"),
  FUND_HALTED: halted("fund"),
  STRATEGY_HALTED: halted("strategy"),
  HALT_STATE_UNKNOWN: standing("firm", (view) => {
    view.haltsKnown = true;
  }),
  AUDIT_UNAVAILABLE: standing(
    "firm",
    (view) => {
      view.auditBlock = undefined;
    },
    // A broken log is good at no time.
    (_view, { audit: { goodUntil, since = goodUntil } }) =>
      Number.isFinite(since) ? instant.fromMicroseconds(since) : undefined,
  ),
  LOSS_CONFIRMATION_PENDING: standing("fund", lossesSettled),
  LOSS_NOT_JUDGED: standing("fund", lossesSettled),
  LOSS_BASELINE_MISSING: standing("fund", lossesSettled),
};

/** More conditions than there are codes cannot stand. */
const askedMax = 40;

function standingBlocks(state: EngineState, probe: Probe, askedAt: instant.Instant): StandingBlock[] {
  const now = askedAt > state.lastAt ? askedAt : state.lastAt;
  const { view } = state;
  const order = smallestOrder(state, probe, now);
  const found: StandingBlock[] = [];
  for (let asked = 0; asked < askedMax; asked += 1) {
    const denial = firstDenial(view, order, now);
    const condition = denial === undefined ? undefined : standingConditions[denial.code];
    if (denial === undefined || condition === undefined) return found;
    const scope = condition.scope(view);
    const since = condition.since(view, state, probe, now);
    found.push({ code: denial.code, scope, ...idsOf(scope, denial.code, probe), reason: denial.reason, since });
    condition.mend(view, state, probe);
  }
  return found;
}

/** What the whole firm is about names nobody; a restriction and a price are every fund's. */
function idsOf(
  scope: BlockScope,
  code: DenialCode,
  { fundId, strategyId, symbol }: Probe,
): Pick<StandingBlock, "fundId" | "strategyId" | "symbol"> {
  if (scope === "firm") return {};
  if (scope === "fund") return { fundId };
  if (scope === "strategy") return { fundId, strategyId };
  return code === "SYMBOL_BLOCKED" ? { fundId, symbol } : { symbol };
}

/** Fills the view for a purchase of one lot that adds risk, whatever the fund holds, and that no limit stands against. */
function smallestOrder(state: EngineState, { fundId, strategyId, symbol }: Probe, now: instant.Instant): Order {
  const { view, notes } = state;
  const order: Order = {
    idempotency_key: "blocks",
    // No order has an empty id, so this one amends nobody's; it gets one when it goes to the gates.
    order_id: "",
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    side: "BUY",
    quantity: "1",
    order_type: "MARKET",
    tif: "DAY",
    broker: imaginedName,
    asset_class: "EQUITY",
    actor: "blocks",
  };
  // The view belongs to this question now, whoever still holds a result.
  notes.reset();
  fillView(view, state, state.found, order, namesOf(order), now);
  order.order_id = imaginedName;
  if (fundId === "") order.fund_id = imaginedName;
  if (strategyId === "") order.strategy_id = imaginedName;
  view.keySeen = "no";
  view.strategyKnown = view.fundKnown;
  if (view.envelope !== undefined) view.envelope = withoutLimits(view.envelope);
  if (symbol === "") imagineInstrument(view, order);
  const { instrument } = view;
  const lot = instrument?.lotSize ?? oneUnit;
  order.asset_class = instrument?.assetClass ?? order.asset_class;
  order.quantity = decimal.format(toDecimal(lot));
  Object.assign(view.terms, { quantity: lot, notional: undefined, limitPrice: undefined, stopPrice: undefined });
  Object.assign(view, { classification: "INCREASE", closingQuantity: nothing, openingQuantity: lot });
  // What is held does not matter, only whether it can be valued.
  Object.assign(view, { position: nothing, pendingBuy: nothing, pendingSell: nothing });
  Object.assign(view, { heldHigh: undefined, heldLow: undefined, limits: undefined });
  view.exitWaits = undefined;
  Object.assign(view, { strategyOrdersInSecond: 0, fundOrdersInSecond: 0, repeatedExecutions: 0 });
  return order;
}

const imaginedName = "blocks";
/** In place of one that a fund does not have. */
const imaginedEnvelope = compileEnvelope({
  ...{ fund_id: imaginedName, version: 1, max_position_pct: 1, max_notional: 1, max_gross_exposure_pct: 1 },
  ...{ max_net_exposure_pct: 1, daily_loss_halt_pct: 1, weekly_loss_halt_pct: 1, monthly_loss_halt_pct: 1 },
  synthetic_stop_pct: 1,
  ...{ allowed_brokers: [], allowed_order_types: [], allowed_asset_classes: [], sector_limits_pct: {} },
  ...{ shorting_enabled: true, max_borrow_fee_pct: 1, price_collar_pct: 0.5, order_rate_max_per_s: 1_000 },
  ...{ halt_allow_reduce_only: true, updated_by: imaginedName, updated_at: "2000-01-01T00:00:00.000000Z", hash: "" },
});
/** Above every fraction and every amount that an envelope may hold. */
const boundless = decimal.parse("1000000000000000000");

function imagineInstrument(view: FundView, order: Order): void {
  order.symbol = "BLOCKS";
  view.instrument = {
    ...{ symbol: order.symbol, assetClass: "EQUITY", currency: view.fundCurrency, sector: "", restriction: undefined },
    ...{ tickSize: oneUnit, lotSize: oneUnit, multiplier: oneUnit },
  };
  Object.assign(view, { fxRate: oneUnit, fxAgeMs: 0 });
  mendPrice(view);
}

function withoutLimits(envelope: Envelope): Envelope {
  return {
    ...envelope,
    allowedBrokers: new Set([imaginedName]),
    allowedOrderTypes: new Set(["MARKET"]),
    allowedAssetClasses: new Set(["EQUITY", "CRYPTO", "OPTION"]),
    maxNotional: boundless,
    maxPosition: boundless,
    maxGrossExposure: boundless,
    maxNetExposure: boundless,
    sectorLimits: new Map(),
    maxStressLoss: undefined,
    repeatedExecutionMax: undefined,
  };
}

/** What holds for everybody, also where no fund is known. */
export function firmBlocks(state: EngineState, askedAt: instant.Instant): readonly StandingBlock[] {
  const all = standingBlocks(state, { fundId: "", strategyId: "", symbol: "" }, askedAt);
  return all.filter(({ scope }) => scope === "firm");
}

/** What holds for a fund and for its strategies, and in the symbols that differ from its broker's. */
export function fundBlocks(state: EngineState, fundId: string, askedAt: instant.Instant): readonly StandingBlock[] {
  const own = [...state.books.strategies.values()].filter(({ fund }) => fund?.id === fundId).map(({ id }) => id);
  const found = (own.length === 0 ? [""] : own).flatMap((strategyId) =>
    standingBlocks(state, { fundId, strategyId, symbol: "" }, askedAt),
  );
  const differing = [...(state.symbolBlocks.get(fundId)?.keys() ?? [])].flatMap((symbol) =>
    standingBlocks(state, { fundId, strategyId: own[0] ?? "", symbol }, askedAt).filter(isAbout("SYMBOL_BLOCKED")),
  );
  return [...found, ...differing, ...waitingExitBlocks(state, fundId, askedAt)];
}

/** Where an exit of the platform waits for room, which nobody else gets before it. */
function waitingExitBlocks({ waitingExits }: EngineState, fundId: string, at: instant.Instant): StandingBlock[] {
  return [...waitingExits.values()]
    .filter((exit) => exit.fundId === fundId && at <= exit.until)
    .map(({ orderId, symbol, direction, since }) => {
      const verb = direction === 1 ? "buy" : "sell";
      const reason = `The platform's exit ${orderId} waits for room to ${verb} ${symbol}, which approvals that were not sent hold.`;
      return { code: "EXIT_HAS_PRIORITY", scope: "symbol", fundId, symbol, reason, since };
    });
}

const isAbout =
  (code: DenialCode) =>
  (block: StandingBlock): boolean =>
    block.code === code;

/** What holds in symbols by themselves, as this fund would be told. */
export function symbolBlocks(
  state: EngineState,
  fundId: string,
  symbols: readonly string[],
  askedAt: instant.Instant,
): readonly StandingBlock[] {
  return symbols.flatMap((symbol) =>
    standingBlocks(state, { fundId, strategyId: "", symbol }, askedAt).filter(
      (block) => block.scope === "symbol" && block.code !== "SYMBOL_BLOCKED",
    ),
  );
}

export interface BlockedFund {
  readonly fundId: string;
  readonly currency: string;
}

/** The funds that there are, and those that left something behind. */
export function fundsToAsk({ books }: EngineState): readonly BlockedFund[] {
  return [...books.funds.values()]
    .filter(({ known, count }) => known || count > 0)
    .map(({ id, currency }) => ({ fundId: id, currency }));
}

/** Instruments that the fund may trade, those that it holds or has orders in first; of any fund when none is named. */
export function symbolsToAsk({ books }: EngineState, fundId: string | undefined, countMax: number): readonly string[] {
  const fund = fundId === undefined ? undefined : books.funds.get(fundId);
  const isAllowed = (assetClass: string): boolean => fund?.envelope?.allowedAssetClasses.has(assetClass) ?? true;
  const held = new Set(fund === undefined ? [] : sheets.slotsOf(fund));
  const known = [...books.symbols.values()].filter(({ facts }) => facts !== undefined && isAllowed(facts.assetClass));
  const first = known.filter(({ slot }) => held.has(slot));
  const rest = known.filter(({ slot }) => !held.has(slot));
  return [...first, ...rest].slice(0, countMax).map(({ symbol }) => symbol);
}
