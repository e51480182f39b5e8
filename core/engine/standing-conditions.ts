// The conditions that deny new risk for as long as they stand: where each holds, from when on, and what a view is like without it.
import type { DenialCode } from "../../contracts/src/codes.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Condition } from "../blocks/condition.ts";
import { findCondition } from "../blocks/index.ts";
import { compileEnvelope, type Envelope } from "../envelope/envelope.ts";
import { oneUnit } from "../money/amount.ts";
import { isFresh } from "../state/new-risk.ts";
import type { FundView } from "../state/view.ts";
import type { BlockScope, Probe, Standing } from "./standing.ts";
import type { EngineState } from "./state.ts";

export const imaginedName = "blocks";
/** In place of one that a fund does not have. */
const imaginedEnvelope = compileEnvelope({
  fund_id: imaginedName,
  version: 1,
  max_position_pct: 1,
  max_notional: 1,
  max_gross_exposure_pct: 1,
  max_net_exposure_pct: 1,
  daily_loss_halt_pct: 1,
  weekly_loss_halt_pct: 1,
  monthly_loss_halt_pct: 1,
  synthetic_stop_pct: 1,
  allowed_brokers: [],
  allowed_order_types: [],
  allowed_asset_classes: [],
  sector_limits_pct: {},
  shorting_enabled: true,
  max_borrow_fee_pct: 1,
  price_collar_pct: 0.5,
  order_rate_max_per_s: 1_000,
  halt_allow_reduce_only: true,
  updated_by: imaginedName,
  updated_at: "2000-01-01T00:00:00.000000Z",
  hash: "",
});
/** Above every fraction and every amount that an envelope may hold. */
const boundless = decimal.parse("1000000000000000000");

export function withoutLimits(envelope: Envelope): Envelope {
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

export function mendPrice(view: FundView): void {
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

/** What stands until somebody or something ends it and is none of the conditions: halts, values, prices, and what watchdogs limit. */
const others: Readonly<Partial<Record<DenialCode, Standing>>> = {
  SCHEMA_FUND_UNKNOWN: standing("fund", (view) => {
    Object.assign(view, { fundKnown: true, strategyKnown: true });
  }),
  ENVELOPE_MISSING: standing("fund", (view) => {
    view.envelope = withoutLimits(imaginedEnvelope);
  }),
  SYMBOL_RESTRICTED: standing("symbol", (view) => {
    if (view.instrument !== undefined) view.instrument = { ...view.instrument, restriction: undefined };
  }),
  GROSS_EXPOSURE_REDUCED: {
    scope: () => "fund",
    since: ({ restrictions }, state) => state.restrictions.since.get(restrictions?.gross?.restrictionId ?? ""),
    mend(view) {
      if (view.restrictions !== undefined) view.restrictions = { ...view.restrictions, gross: undefined };
    },
  },
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
};

/** Where a condition holds, and since when, as its source said it; and a view in which it does not stand. */
function conditionStanding({ code, scope }: Condition): Standing {
  return {
    scope: () => scope,
    since: ({ conditions }) => conditions.find((standing) => standing.code === code)?.since,
    mend(view) {
      view.conditions = view.conditions.filter((standing) => standing.code !== code);
    },
  };
}

/** Undefined for a code that another order could escape: it is about the order itself, its size or its pace. */
export function standingOf(code: DenialCode): Standing | undefined {
  const condition = findCondition(code);
  return condition === undefined ? others[code] : conditionStanding(condition);
}
