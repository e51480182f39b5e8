// Why nobody vouches for a fill that was booked: what a foreign program calls it, its order, its fee and its date. Its price and its size are judged beside
// this (judge-fill.ts). What is not vouched for counts where it tightens, and waits to be accepted where it would loosen (decision 0085).
//
// Invariants (vouch-fill.test.ts names them):
//  1. Our own order management's seeds, adjustments, crosses, settlements and corporate actions are vouched for; so is a foreign trade whose order was asked about.
//  2. Before a fund's first value there is nothing that a seed, or a fill without an order, could loosen: whoever begins brings books along.
//  3. The fee and the date of a trade are judged whoever reports them, and any fee of a foreign program.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import * as instant from "../../../contracts/src/instant.ts";
import type { BlockCause } from "../../../contracts/src/records/block.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { navOf } from "../../exposure/nav-limits.ts";
import { oneUnit, toDecimal } from "../../money/amount.ts";
import { isAhead } from "../../state/dated.ts";
import type { EngineState } from "../state.ts";

/** What is known about a fill beside itself. */
export interface FillStanding {
  /** The foreign program that published it; undefined for our own order management. */
  readonly publisher: string | undefined;
  /** Whether its order was ever asked about; undefined where nobody looked. */
  readonly isAsked: boolean | undefined;
  /** When it was; NaN where that is not known. */
  readonly askedAt: number;
  /** Corporate actions of its symbol: when each was applied, NaN while it is under way. */
  readonly actionsAt: readonly number[];
  /** Of a leg of a cross: whether the other one is booked. */
  readonly hasOtherLeg: boolean;
}

export interface Unvouched {
  readonly cause: BlockCause;
  /** Goes on after "Fill F of S for FUND: ". */
  readonly reason: string;
}

const actionVouchesMs = 7 * 86_400_000;
const dayMs = 86_400_000;
/** As far as clocks may differ. */
const askedMsMax = 5_000;
const hundred = decimal.parse("100");

/** All of it, the gravest first; none when the fill is vouched for as far as this goes. */
export function whyUnvouched(
  { books }: Pick<EngineState, "books">,
  fill: Fill,
  standing: FillStanding,
  now: Instant,
): readonly Unvouched[] {
  const { kind = "TRADE" } = fill;
  const fund = books.funds.get(fill.fund_id);
  const hasValue = fund !== undefined && navOf(fund) !== undefined;
  const book = books.symbols.get(fill.symbol);
  const multiplier = toDecimal(book?.facts?.multiplier ?? oneUnit);
  const endsAt = book?.option?.endsAt ?? Number.NaN;
  const ofKind = kind === "TRADE" ? ofTrade(fill, standing, hasValue) : ofOther(fill, standing, { hasValue, endsAt });
  const isJudged = kind === "TRADE" || standing.publisher !== undefined;
  const ofItsFee = isJudged ? ofFee(fill, multiplier) : undefined;
  const ofItsDate = kind === "TRADE" ? ofDate(fill, standing, now) : undefined;
  // The other leg ends what one leg opened, and says nothing about a fee.
  const found = kind === "CROSS" ? [ofItsFee, ofKind] : [ofKind, ofItsFee, ofItsDate];
  return found.filter((one) => one !== undefined);
}

/** Invariants 1 and 2. */
function ofTrade({ order_id: orderId }: Fill, { publisher, isAsked }: FillStanding, hasValue: boolean) {
  if (publisher === undefined || isAsked !== false || !hasValue) return undefined;
  const reason = `${publisher} published it of order ${orderId}, which the risk engine was never asked about`;
  return { cause: "FILL_WITHOUT_ORDER", reason } as const;
}

function ofOther(
  { kind, filled_at }: Fill,
  { publisher, actionsAt, hasOtherLeg }: FillStanding,
  { hasValue, endsAt }: { readonly hasValue: boolean; readonly endsAt: number },
): Unvouched | undefined {
  if (publisher === undefined) return undefined;
  const unvouched = (why: string): Unvouched => ({
    cause: "FILL_KIND_UNVOUCHED",
    reason: `${publisher} calls it ${kind}, and ${why}`,
  });
  const at = instant.parse(filled_at);
  switch (kind) {
    case "CROSS":
      if (hasOtherLeg) return undefined;
      return { cause: "CROSS_ONE_LEG", reason: `${publisher} calls it one leg of a cross, and the other has not come` };
    case "SEED":
      return hasValue ? unvouched("the fund has a value already") : undefined;
    case "SETTLEMENT":
      return at >= endsAt - dayMs * 1_000 ? undefined : unvouched("no option of that name ends on its day");
    case "CORPORATE_ACTION":
    case "CASH_IN_LIEU":
      return actionsAt.some((appliedAt) => Number.isNaN(appliedAt) || at - appliedAt <= actionVouchesMs * 1_000)
        ? undefined
        : unvouched("no corporate action of its symbol is announced");
    default:
      return unvouched("nothing of ours shows why");
  }
}

/** Invariant 3. */
function ofFee({ fee: text, price, quantity }: Fill, multiplier: decimal.Decimal): Unvouched | undefined {
  if (text === undefined) return undefined;
  const fee = decimal.parse(text);
  // Whole, so that no figure is too large for it.
  const worth = decimal.abs(decimal.parse(price)) * multiplier * decimal.parse(quantity);
  const isTooHigh = fee > hundred && fee * 10n * decimal.one * decimal.one > worth;
  const isTooLow = fee < 0n && -fee * 100n * decimal.one * decimal.one > worth;
  if (!isTooHigh && !isTooLow) return undefined;
  const most = isTooHigh ? "a tenth" : "minus a hundredth";
  return { cause: "FILL_FEE_ODD", reason: `its fee of ${decimal.format(fee)} lies beyond ${most} of what it is worth` };
}

function ofDate({ filled_at: text }: Fill, { askedAt, actionsAt }: FillStanding, now: Instant): Unvouched | undefined {
  const at = instant.parse(text);
  const odd = (reason: string): Unvouched => ({ cause: "FILL_DATE_ODD", reason: `it is dated ${text}, ${reason}` });
  if (isAhead(at, now)) return odd("which lies ahead of our clock");
  if (askedAt - at > askedMsMax * 1_000) return odd("before its order was asked about");
  if (actionsAt.some((appliedAt) => appliedAt > at))
    return odd("before a corporate action of its symbol that is booked");
  return undefined;
}
