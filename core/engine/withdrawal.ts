// Whether money may leave a fund, and how much at most. A withdrawal makes every exposure a larger share of what is left, so it is held against the same
// limits as new risk, counted after it. What passes is reserved in the same step: the engine decides by the lower NAV from then on, until a value that was
// made after the withdrawal replaces it.
//
// Invariants (withdrawal.test.ts names them):
//  1. After a withdrawal that passes NAV is above zero and every exposure limit holds, whatever of the open orders fills. Exactly at a limit passes.
//  2. The greatest amount that the answer names passes, and a hundredth more does not.
//  3. Two that would not pass together do not both pass, and no order is approved on money that is about to leave.
//  4. Under a halt of the firm or the fund nothing leaves; and neither does it where limits or NAV cannot be evaluated.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type * as instant from "../../contracts/src/instant.ts";
import { blocksOf } from "../blocks/block-book.ts";
import { ofWholeFund } from "../blocks/condition-book.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { catchUp, firstUnpriced, oldestMarkAgeMs, sectorGross } from "../exposure/exposure.ts";
import { type LineValue, lineValue } from "../exposure/line-value.ts";
import { navOf, setNavOf } from "../exposure/nav-limits.ts";
import { tableOf } from "../exposure/value-tables.ts";
import { amountOf, toDecimal } from "../money/amount.ts";
import * as exact from "../money/exact.ts";
import { type Notional, toExact, zeroNotional } from "../money/exact.ts";
import { isAhead } from "../state/dated.ts";
import * as fundStates from "../state/fund-state.ts";
import { headOf, rowOf, slotsOf, sumOf } from "../state/fund-state.ts";
import { isFresh } from "../state/new-risk.ts";
import type { FundBook } from "../state/records.ts";
import { money, percent, quoted, seconds } from "../state/wording.ts";
import type { EngineState } from "./state.ts";
import { openPricesOf } from "./vouching/price-ranges.ts";
import { openRateOf } from "./vouching/rate-ranges.ts";

export interface WithdrawalAsked {
  readonly fundId: string;
  /** Above zero, in the fund's currency. */
  readonly amount: Decimal;
  /** What the fund has of it. */
  readonly cash: Decimal;
  /** By the clock that values are dated by: what is dated later was made after the withdrawal, or without it. */
  readonly at: instant.Instant;
}

/** What one limit lets out at most, and why. */
interface Bound {
  readonly most: Decimal;
  readonly code: "FLOW_LIMIT_EXCEEDED" | "FLOW_CASH_SHORT";
  readonly why: string;
}

const cent = (decimal.one / 100n) as Decimal;

/** Why it may not leave; undefined when it may, and then it is reserved. Nothing is awaited in between. */
export function reserveWithdrawal(
  state: EngineState,
  asked: WithdrawalAsked,
  now: instant.Instant,
): Denial | undefined {
  const halted = haltDenial(state, asked.fundId);
  if (halted !== undefined) return halted;
  const fund = state.books.funds.get(asked.fundId);
  const unknown = isAhead(asked.at, now) ? "the withdrawal is dated ahead of our clock" : whyUnknown(state, fund, now);
  const nav = fund && navOf(fund);
  if (unknown !== undefined || fund?.envelope === undefined || nav === undefined) {
    const why = unknown ?? "the fund has no limits or no value";
    const reason = `Nothing can be withdrawn from ${quoted(asked.fundId)} while its limits cannot be evaluated: ${why}.`;
    return { code: "FLOW_LIMITS_UNKNOWN", reason };
  }
  const left = toDecimal(nav);
  const bounds = boundsOf(state, fund, fund.envelope, left, asked.cash);
  const tightest = bounds.reduce((one, other) => (other.most < one.most ? other : one));
  if (asked.amount <= tightest.most) {
    setNavOf(fund, amountOf(decimal.subtract(left, asked.amount)));
    fund.navAt = Math.max(fund.navAt, asked.at + 1);
    return undefined;
  }
  const most = tightest.most <= 0n ? "Nothing" : `At most ${decimal.format(tightest.most)} ${fund.currency}`;
  return { code: tightest.code, reason: `${most} can be withdrawn from ${asked.fundId} now: ${tightest.why}.` };
}

function haltDenial({ halts }: EngineState, fundId: string): Denial | undefined {
  const halt = halts.firm ?? halts.funds.get(fundId);
  if (halt !== undefined) {
    const scope = halt === halts.firm ? "The firm" : "The fund";
    return { code: "FLOW_HALTED", reason: `${scope} is halted by ${halt.halt_id}: no money leaves ${fundId}.` };
  }
  if (halts.known) return undefined;
  return { code: "FLOW_HALTED", reason: "Whether a halt is in force is not known: no money leaves a fund." };
}

/** What keeps the limits from being evaluated. */
function whyUnknown(state: EngineState, fund: FundBook | undefined, at: instant.Instant): string | undefined {
  const { books, ages, conditions } = state;
  if (fund?.known !== true) return "the risk engine does not know the fund";
  if (fund.envelope === undefined) return "the fund has no limits";
  if (navOf(fund) === undefined) return "the fund has not been valued";
  const navAgeMs = (at - headOf(fund, fundStates.navPricedAt)) / 1_000;
  if (!isFresh(navAgeMs, ages.nav)) return `its NAV is ${seconds(navAgeMs)} old, and ${seconds(ages.nav)} is the most`;
  const pending = ofWholeFund(conditions, fund.id, "LOSS_CONFIRMATION_PENDING", at);
  if (pending !== undefined) return "a loss of it is above its limit and waits for its confirmation";
  const unjudged = ofWholeFund(conditions, fund.id, "LOSS_NOT_JUDGED", at);
  if (unjudged !== undefined) return `a loss limit of it is not judged (${unjudged.reason})`;
  const [open] = blocksOf(state.blockBook, fund.id);
  if (open !== undefined) return `block ${open.block_id} waits: ${open.reason}`;
  const [price] = openPricesOf(state, fund);
  if (price !== undefined) return `the price of ${quoted(price.book.symbol)} is not believed yet`;
  const rate = openRateOf(state, fund);
  if (rate !== undefined) return `the rate ${rate} is not believed yet`;
  catchUp(books, fund);
  const unpriced = firstUnpriced(books, fund, -1, at, ages.fx);
  if (unpriced !== undefined) return `${quoted(unpriced.symbol)} is held or ordered and cannot be valued`;
  const markAgeMs = oldestMarkAgeMs(books, fund, -1, at, ages.mark);
  if (!isFresh(markAgeMs, ages.mark)) {
    return `the oldest price of a position is ${seconds(markAgeMs)} old, and ${seconds(ages.mark)} is the most`;
  }
  const deltaAt = fund.options?.oldestDeltaAt ?? at;
  return isFresh((at - deltaAt) / 1_000, ages.mark) ? undefined : "the delta of an option is missing or too old";
}

/** The fund's sums are up to date. */
function boundsOf(
  { books }: EngineState,
  fund: FundBook,
  envelope: Envelope,
  nav: Decimal,
  cash: Decimal,
): readonly Bound[] {
  const { maxPosition, maxGrossExposure, maxNetExposure, maxStressLoss, sectorLimits } = envelope;
  const limit = (field: string, words: string, exposure: Notional, of: Envelope["maxPosition"]): Bound => {
    const fraction = toDecimal(of);
    const most = mostUnder(nav, toExact(exposure), fraction);
    const why = `${words} is ${money(exposure, fund.currency)}, and ${field} allows ${percent(of)} of NAV`;
    return { most, code: "FLOW_LIMIT_EXCEEDED", why };
  };
  const line: LineValue = { high: zeroNotional, low: zeroNotional, gross: zeroNotional };
  const { values } = tableOf(books, fund);
  const positions = slotsOf(fund).map((slot) => {
    lineValue(fund, rowOf(fund, slot), values[slot], line);
    return limit("max_position_pct", `the position in ${quoted(books.bySlot[slot]?.symbol)}`, line.gross, maxPosition);
  });
  const groups = [...(fund.options?.groups ?? [])].map(([slot, { gross }]) => {
    const words = `the exposure to ${quoted(books.bySlot[slot]?.symbol)} with its options`;
    return limit("max_position_pct", words, gross, maxPosition);
  });
  const [netHigh, netLow] = [sumOf(fund, fundStates.netHigh), sumOf(fund, fundStates.netLow)].map(exact.magnitude);
  const net = exact.larger(netHigh ?? zeroNotional, netLow ?? zeroNotional);
  const sectors = [...sectorLimits].map(([sector, fraction]) => {
    const gross = sectorGross(books, fund, books.sectorNumbers.get(sector) ?? 0);
    return limit(`sector_limits_pct.${sector}`, `exposure to the sector ${quoted(sector)}`, gross, fraction);
  });
  const stress =
    maxStressLoss === undefined || fund.options === undefined
      ? []
      : [limit("max_stress_loss_pct", "what its options lose in the stress", fund.options.stress, maxStressLoss)];
  const whole = money(exact.product(amountOf(nav), amountOf(decimal.one)), fund.currency);
  const inCash = `it has ${decimal.format(cash)} ${fund.currency} in cash`;
  return [
    {
      most: inCents((nav - 1n) as Decimal),
      code: "FLOW_LIMIT_EXCEEDED",
      why: `its NAV is ${whole} and must stay above zero`,
    },
    limit("max_gross_exposure_pct", "gross exposure", sumOf(fund, fundStates.gross), maxGrossExposure),
    limit("max_net_exposure_pct", "net exposure", net, maxNetExposure),
    ...sectors,
    ...positions,
    ...groups,
    ...stress,
    { most: cash, code: "FLOW_CASH_SHORT", why: inCash },
  ];
}

/** The most that may leave so that the exposure is no larger a share of what is left, in whole hundredths. */
function mostUnder(nav: Decimal, exposure: bigint, fraction: Decimal): Decimal {
  if (exposure === 0n) return nav;
  if (fraction <= 0n) return decimal.zero;
  // An exact product has twice the places of a decimal.
  const needed = (exposure + fraction - 1n) / fraction;
  return inCents((nav - needed) as Decimal);
}

function inCents(amount: Decimal): Decimal {
  return amount <= 0n ? decimal.zero : ((amount - (amount % cent)) as Decimal);
}
