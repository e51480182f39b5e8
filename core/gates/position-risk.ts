// Gate 4: what the fund could hold if the worst of its open orders fill, this one among them, as shares of its value.
//
// Invariants (position-risk.test.ts names them):
//  1. Pending buys and pending sells of a symbol are never netted: the worse of the two ends counts.
//  2. This order counts whole, and what it opens at the worse of the mark and its own worst price.
//  3. An amendment counts with the larger of its old and its new open quantity.
//  4. Exactly at a limit passes.
//  5. An option counts its underlying: the larger of its premium and |delta| x notional, by itself and together with everything else on
//     that underlying; net exposure goes by the signed delta. Without a fresh delta there is no new risk.
//  6. Where the envelope says so, what the fund's options and their underlyings lose in the stress stays below its limit, or does not grow.
//  7. While a fill of the symbol waits to be accepted, nothing is added to it.

import type { Denial, DenialCode } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { navLimits } from "../exposure/nav-limits.ts";
import { type WorstCase, worstCasePlainly } from "../exposure/plain-exposure.ts";
import { marketPrice, unitValueAt, valuationPrice } from "../exposure/valuation.ts";
import * as amounts from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { openQuantityMax } from "../orders/classify.ts";
import type { Gate, Notes } from "../state/gate.ts";
import { assured, isFresh, isNewRisk } from "../state/new-risk.ts";
import type { FundView } from "../state/view.ts";
import { money, percent, percentOf, quoted, seconds } from "../state/wording.ts";
import { optionCase, stressLosses } from "./option-case.ts";
import { grossDenial } from "./restricted.ts";
import { standingDenial } from "./standing-denial.ts";

export const positionRisk: Gate = {
  name: "position_risk",
  question: "Would the fund stay within its exposure limits, whatever of its open orders fills?",
  phase: "risk",
  inputs: ["nav", "mark"],
  decide(order, view, _at, notes) {
    notes.decimal("position", view.position);
    notes.decimal("pending_buy", view.pendingBuy);
    notes.decimal("pending_sell", view.pendingSell);
    if (!isNewRisk(view)) return undefined;
    return (
      inputDenial(order, view, notes) ??
      standingDenial("position_risk", "the rest", order, view, notes) ??
      exposureDenial(order, view, notes)
    );
  },
};

function inputDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  const { nav, navAgeMs, ages } = view;
  if (nav === undefined) {
    return { code: "NAV_MISSING", reason: `Fund ${quoted(order.fund_id)} has not been valued.` };
  }
  notes.decimal("nav", nav, navAgeMs);
  if (!isFresh(navAgeMs, ages.nav)) {
    return { code: "NAV_STALE", reason: `The NAV is ${seconds(navAgeMs)} old; ${seconds(ages.nav)} is the most.` };
  }
  if (!amounts.isPositive(nav)) {
    const reason = `The NAV is ${money(exact.product(nav, amounts.oneUnit), view.fundCurrency)}.`;
    return { code: "NAV_NOT_POSITIVE", reason };
  }
  const blind = deltaDenial(order, view, notes);
  if (blind !== undefined) return blind;
  const unpriced = view.unpricedSymbol ?? (isPriced(view) ? undefined : order.symbol);
  if (unpriced !== undefined) {
    notes.word("unpriced", unpriced);
    if (view.unpricedRate === "delta") return deltaWords(unpriced, view.unpricedRateAgeMs ?? Number.NaN, view, notes);
    if (view.unpricedRate !== undefined) return rateDenial(unpriced, view, notes);
    return { code: "MARK_MISSING", reason: `${quoted(unpriced)} is held or ordered and has no price.` };
  }
  const oldestAgeMs = view.priceAgeMs > view.oldestPriceAgeMs ? view.priceAgeMs : view.oldestPriceAgeMs;
  if (isFresh(view.priceAgeMs, ages.mark) && isFresh(view.oldestPriceAgeMs, ages.mark)) return undefined;
  notes.word("oldest_price", "too old", oldestAgeMs);
  const reason = `The oldest price of a position is ${seconds(oldestAgeMs)} old; ${seconds(ages.mark)} is the most.`;
  return { code: "MARK_STALE", reason };
}

/** Of the order's own symbol, if it is an option. What was recorded before options counted so has nothing to judge. */
function deltaDenial({ symbol }: Order, view: FundView, notes: Notes): Denial | undefined {
  const { option, instrument, ages } = view;
  if (option === undefined || instrument?.assetClass !== "OPTION") return undefined;
  if (option.netValue === undefined || option.delta === undefined) return deltaWords(symbol, Number.NaN, view, notes);
  notes.decimal("delta", option.delta, option.deltaAgeMs);
  return isFresh(option.deltaAgeMs, ages.mark) ? undefined : deltaWords(symbol, option.deltaAgeMs, view, notes);
}

function deltaWords(symbol: string, ageMs: number, { ages }: FundView, notes: Notes): Denial {
  if (Number.isNaN(ageMs)) {
    notes.word("option_delta", "missing");
    return { code: "DELTA_MISSING", reason: `The option ${quoted(symbol)} has no delta, or its underlying no price.` };
  }
  notes.word("option_delta", "too old", ageMs);
  const age = `${seconds(ageMs)} old; ${seconds(ages.mark)} is the most`;
  return { code: "DELTA_STALE", reason: `The delta of ${quoted(symbol)}, or its underlying's price, is ${age}.` };
}

/** Of another symbol than the order's: its price is known, and cannot be turned into the fund's currency. */
function rateDenial(symbol: string, view: FundView, notes: Notes): Denial {
  const held = `${quoted(symbol)} is held or ordered`;
  if (view.unpricedRate === "missing") {
    notes.word("fx_rate", "missing");
    return {
      code: "FX_RATE_MISSING",
      reason: `${held}, and there is no rate from its currency into ${view.fundCurrency}.`,
    };
  }
  const ageMs = view.unpricedRateAgeMs ?? Number.NaN;
  notes.word("fx_rate", "too old", ageMs);
  const rate = `the rate from its currency into ${view.fundCurrency}`;
  const reason = `${held}, and ${rate} is ${seconds(ageMs)} old; ${seconds(view.ages.fx)} is the most.`;
  return { code: "FX_RATE_STALE", reason };
}

function isPriced(view: FundView): boolean {
  return view.unitValue !== undefined && amounts.isPositive(view.unitValue) && marketPrice(view) !== undefined;
}

function exposureDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  const envelope = assured(view.envelope, "an envelope");
  const instrument = assured(view.instrument, "an instrument");
  const unitValue = assured(view.unitValue, "a price");
  const own = ownValue(order, view, envelope, unitValue);

  const { position, gross, net, inSector } =
    optionCase(view, own, unitValue) ?? worstCasePlainly(view, own) ?? worstCase(view, own, unitValue);
  // Every other exposure is at most the gross one, so what it can keep all of them can.
  if (exact.isTooLarge(gross)) {
    const reason = `The exposure of ${money(gross, view.fundCurrency)} has more digits than can be kept exactly.`;
    return { code: "EXPOSURE_OVERFLOW", reason };
  }

  notes.exact("resulting_position", position);
  notes.exact("resulting_gross", gross);
  notes.exact("resulting_net", net);
  const nav = assured(view.nav, "a NAV");
  const limits = navLimits(view.limits, envelope, nav);
  notes.share("max_position_pct", position, limits.position);
  if (exact.isMore(position, limits.position)) {
    return denialOf(positionLimit, order.symbol, position, envelope.maxPosition, view);
  }
  const group = view.option === undefined ? position : exact.plus(view.option.groupOthers, position);
  if (view.option !== undefined) notes.exact("resulting_underlying", group);
  if (exact.isMore(group, limits.position)) {
    return denialOf(underlyingLimit, view.option?.underlying ?? "", group, envelope.maxPosition, view);
  }
  notes.share("max_gross_exposure_pct", gross, limits.gross);
  if (exact.isMore(gross, limits.gross)) return denialOf(grossLimit, "", gross, envelope.maxGrossExposure, view);
  const reduced = grossDenial(view, gross, notes);
  if (reduced !== undefined) return reduced;
  notes.share("max_net_exposure_pct", net, limits.net);
  if (exact.isMore(net, limits.net)) return denialOf(netLimit, "", net, envelope.maxNetExposure, view);
  const { sector } = instrument;
  const fraction = envelope.sectorLimits.get(sector);
  if (fraction === undefined) return stressDenial(view, envelope, notes);
  const sectorAllowed = exact.product(fraction, nav);
  notes.exact("resulting_sector", inSector);
  notes.share(`sector_limits_pct.${sector}`, inSector, sectorAllowed);
  if (!exact.isMore(inSector, sectorAllowed)) return stressDenial(view, envelope, notes);
  return denialOf(sectorLimits, sector, inSector, fraction, view);
}

/** Only an order in an option or in what the fund has options on changes it. One that does not make it worse passes: hedges must. */
function stressDenial(view: FundView, envelope: Envelope, notes: Notes): Denial | undefined {
  const { option } = view;
  const fraction = envelope.maxStressLoss;
  if (option === undefined || fraction === undefined) return undefined;
  const { before, after } = stressLosses(view, option, openQuantityMax(view));
  const allowed = exact.product(fraction, assured(view.nav, "a NAV"));
  notes.exact("stress_loss", after);
  notes.share("max_stress_loss_pct", after, allowed);
  if (!exact.isMore(after, allowed) || after <= before) return undefined;
  return denialOf(stressLimit, "", after, fraction, view);
}

/** The two ends that the symbol can reach: every purchase fills and no sale does, and the other way round. */
function worstCase(view: FundView, own: exact.Notional, unitValue: amounts.Amount): WorstCase {
  let high = view.heldHigh ?? exact.product(amounts.plus(view.position, view.pendingBuy), unitValue);
  let low = view.heldLow ?? exact.product(amounts.minus(view.position, view.pendingSell), unitValue);
  if (view.terms.direction === 1) high = exact.plus(high, own);
  else low = exact.minus(low, own);
  const position = exact.larger(exact.magnitude(high), exact.magnitude(low));
  const netHigh = exact.magnitude(exact.plus(view.netHighOthers, high));
  const netLow = exact.magnitude(exact.plus(view.netLowOthers, low));
  return {
    position,
    gross: exact.plus(view.grossOthers, position),
    net: exact.larger(netHigh, netLow),
    inSector: exact.plus(view.sectorOthers, position),
  };
}

interface Limit {
  readonly code: DenialCode;
  words(of: string): string;
}

const positionLimit: Limit = {
  code: "POSITION_LIMIT_EXCEEDED",
  words: (symbol) => `The position in ${quoted(symbol)}`,
};
const underlyingLimit: Limit = {
  code: "POSITION_LIMIT_EXCEEDED",
  words: (underlying) => `The exposure to ${quoted(underlying)} with its options`,
};
const grossLimit: Limit = {
  code: "GROSS_EXPOSURE_EXCEEDED",
  words: () => "Gross exposure",
};
const netLimit: Limit = {
  code: "NET_EXPOSURE_EXCEEDED",
  words: () => "Net exposure",
};
const stressLimit: Limit = {
  code: "STRESS_LOSS_EXCEEDED",
  words: () => "The loss of options and their underlyings, 20 % up or down with volatility half as high again,",
};
const sectorLimits: Limit = {
  code: "SECTOR_LIMIT_EXCEEDED",
  words: (sector) => `Exposure to the sector ${quoted(sector)}`,
};

function denialOf(limit: Limit, of: string, value: exact.Notional, fraction: amounts.Amount, view: FundView): Denial {
  const notional = `${money(value, view.fundCurrency)}, ${percentOf(value, assured(view.nav, "a NAV"))} of NAV`;
  return { code: limit.code, reason: `${limit.words(of)} could reach ${notional}; ${percent(fraction)} is the most.` };
}

/** What the order itself adds: at the mark, but what it opens at the order's own worst price if that is worse. */
function ownValue(order: Order, view: FundView, envelope: Envelope, unitValue: amounts.Amount): exact.Notional {
  const own = openQuantityMax(view);
  const market = assured(marketPrice(view), "a price");
  const fxRate = assured(view.fxRate, "a rate");
  const price = valuationPrice(order.order_type, view.terms, market, envelope.priceCollar);
  const worst = unitValueAt(price, assured(view.instrument, "an instrument"), fxRate);
  if (!amounts.isMore(worst, unitValue)) return exact.product(own, unitValue);
  const { closingQuantity } = view;
  if (amounts.isNothing(closingQuantity)) return exact.product(own, worst);
  const opening = exact.product(amounts.minus(own, closingQuantity), worst);
  return exact.plus(exact.product(closingQuantity, unitValue), opening);
}
