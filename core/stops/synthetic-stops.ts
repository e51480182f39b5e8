// Synthetic stops: when a price has reached the loss at which a position is closed, and what is to be done about one that fired. Everything is
// decided from what is handed in, so that the answer after a crash is the answer before it.
//
// The basis is the average entry price of the current opening, one stop per fund, strategy and symbol: a position that was built in
// five trades is one decision, and so is its exit. Per-lot stops would close the dear lots first and leave the rest without one.
//
// Invariants (synthetic-stops.test.ts names them):
//  1. A long position is watched at the bid and a short one at the ask: at what it could be closed for.
//  2. Reached is crossed: a price equal to the trigger fires.
//  3. A quote that is missing, stale, dated ahead, crossed or not above zero neither fires nor counts as resting: it is UNPRICED.
//  4. One attempt at a time: while one may still trade there is no other.
//  5. No attempt is larger than what is left of the opening minus what other orders close of it already.
//  6. It ends only when the opening is over and nothing of its own can trade any more.
//  7. No exit stays owed because of another strategy: what those hold against it is crossed.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Side } from "../../contracts/src/records/values.ts";

export interface StopQuote {
  readonly bid: Decimal | undefined;
  readonly ask: Decimal | undefined;
  readonly at: Instant | undefined;
}

interface WatchedPosition {
  /** Negative when short; never zero. */
  readonly quantity: Decimal;
  /** The average entry price of the current opening. */
  readonly basisPrice: Decimal;
}

export type StopJudgement =
  | {
      readonly state: "RESTING" | "FIRES";
      readonly triggerPrice: Decimal;
      readonly observedPrice: Decimal;
      readonly observedAt: Instant;
    }
  | { readonly state: "UNPRICED"; readonly triggerPrice: Decimal; readonly complaint: string };

export function closingSide(quantity: Decimal): Side {
  return quantity > 0n ? "SELL" : "BUY_TO_COVER";
}

/** Rounded towards the entry where it cannot be kept exactly, so that a price that has reached it fires. */
export function triggerPrice({ quantity, basisPrice }: WatchedPosition, pct: Decimal): Decimal {
  if (quantity > 0n) return decimal.multiply(basisPrice, decimal.subtract(decimal.one, pct), "ceiling");
  return decimal.multiply(basisPrice, decimal.add(decimal.one, pct), "floor");
}

export function judgeStop(
  position: WatchedPosition,
  pct: Decimal,
  quote: StopQuote | undefined,
  at: Instant,
  ageMsMax: number,
): StopJudgement {
  const trigger = triggerPrice(position, pct);
  const unpriced = (complaint: string): StopJudgement => ({ state: "UNPRICED", triggerPrice: trigger, complaint });
  if (position.basisPrice <= 0n) return unpriced("its average entry price is not above zero");
  if (quote === undefined) return unpriced("there is no quote");
  const { bid, ask, at: quotedAt } = quote;
  if (bid === undefined || ask === undefined || quotedAt === undefined) return unpriced("the quote cannot be read");
  const ageMs = millisecondsBetween(quotedAt, at);
  if (ageMs > ageMsMax) return unpriced(`the quote is ${Math.round(ageMs / 1_000)} s old`);
  if (ageMs < -ageMsMax) return unpriced(`the quote is dated ${Math.round(-ageMs / 1_000)} s ahead`);
  if (bid <= 0n || ask <= 0n) return unpriced("the quote is not above zero");
  if (bid > ask) return unpriced("the quote is crossed");
  const isLong = position.quantity > 0n;
  const observedPrice = isLong ? bid : ask;
  const isReached = isLong ? observedPrice <= trigger : observedPrice >= trigger;
  return { state: isReached ? "FIRES" : "RESTING", triggerPrice: trigger, observedPrice, observedAt: quotedAt };
}

/** What is known of a stop that fired at one moment, all from durable state. */
export interface OwedFacts {
  /** Of the opening that fired; undefined when that is over: closed, flipped, or opened anew since. */
  readonly openQuantity: Decimal | undefined;
  /** The newest attempt: none yet, one that order management has not got, or one that it has. */
  readonly attempt: "none" | "not there" | "alive" | "ended";
  /** What other open orders of the same strategy close of the symbol, and what all open orders of the fund do. */
  readonly pendingOfStrategy: Decimal;
  readonly pendingOfFund: Decimal;
  /** The fund's position over all its strategies: the broker and the gates know no other. */
  readonly fundQuantity: Decimal;
  readonly lotSize: Decimal;
  /** What other strategies of the fund hold of the other side, beyond their own exits under way; nothing where no cross is meant. */
  readonly opposed?: readonly Opposed[];
  /** Whether it is enough that the fund as a whole holds nothing, although its strategies hold sides against each other. */
  readonly endsWithFund?: boolean;
}

export interface Opposed {
  readonly strategyId: string;
  /** All that it holds, negative when short. */
  readonly quantity: Decimal;
  /** What of it can be crossed; above zero. */
  readonly free: Decimal;
}

interface OwedCross {
  readonly with: Opposed;
  readonly quantity: Decimal;
}

/**
 * Invariant 7: what the fund's net position can never prove, because other strategies hold the other side, is crossed with them, the one with the most first.
 * What other open orders close meanwhile is no reason: those trade, or end.
 */
export function owedCross(facts: OwedFacts): OwedCross | undefined {
  const { openQuantity, opposed = [], attempt } = facts;
  if (openQuantity === undefined || attempt === "alive" || attempt === "not there") return undefined;
  const isOpposed = decimal.sign(facts.fundQuantity) !== decimal.sign(openQuantity);
  const proven = isOpposed ? decimal.zero : decimal.abs(facts.fundQuantity);
  const own = decimal.subtract(decimal.abs(openQuantity), facts.pendingOfStrategy);
  const lacking = decimal.subtract(own, proven);
  const [most] = [...opposed].sort((left, right) =>
    left.free === right.free ? (left.strategyId < right.strategyId ? -1 : 1) : left.free > right.free ? -1 : 1,
  );
  if (lacking <= 0n || most === undefined) return undefined;
  return { with: most, quantity: decimal.min(lacking, most.free) };
}

type OwedStep =
  /** Nothing left to do. */
  | { readonly step: "end" }
  /** The attempt in hand may still trade. */
  | { readonly step: "wait" }
  /** The opening is over while an attempt may still trade: that must go. */
  | { readonly step: "withdraw" }
  /** Recorded and not there yet: the very same order again. */
  | { readonly step: "hand in again" }
  | { readonly step: "attempt"; readonly quantity: Decimal }
  /** Nothing can be handed in at present, and why. */
  | { readonly step: "blocked"; readonly complaint: string };

export function nextOwedStep(facts: OwedFacts): OwedStep {
  const { openQuantity, attempt } = facts;
  if (attempt === "alive") return { step: openQuantity === undefined ? "withdraw" : "wait" };
  if (openQuantity === undefined) return { step: "end" };
  if (attempt === "not there") return { step: "hand in again" };
  if (facts.endsWithFund === true && facts.fundQuantity === 0n && facts.pendingOfFund === 0n) return { step: "end" };
  const quantity = exitQuantity(openQuantity, facts);
  if (quantity > 0n) return { step: "attempt", quantity };
  const isOpposed = decimal.sign(facts.fundQuantity) !== decimal.sign(openQuantity);
  const complaint = isOpposed
    ? "other strategies of the fund hold the other side, so that no order would reduce the fund's position"
    : "other open orders close all of it already";
  return { step: "blocked", complaint };
}

/** Never more than the opening, never more than the fund can prove to reduce, and in whole lots unless all of the fund's position goes. */
function exitQuantity(openQuantity: Decimal, facts: OwedFacts): Decimal {
  const isOpposed = decimal.sign(facts.fundQuantity) !== decimal.sign(openQuantity);
  if (isOpposed) return decimal.zero;
  const ofStrategy = decimal.subtract(decimal.abs(openQuantity), facts.pendingOfStrategy);
  const fund = decimal.abs(facts.fundQuantity);
  const ofFund = decimal.subtract(fund, facts.pendingOfFund);
  const quantity = decimal.min(ofStrategy, ofFund);
  if (quantity <= 0n) return decimal.zero;
  if (quantity === fund || decimal.isMultipleOf(quantity, facts.lotSize)) return quantity;
  const whole = decimal.roundToIncrement(quantity, facts.lotSize, "down");
  return whole > 0n ? whole : quantity;
}

/** How long a stop that could not be handed in, or whose attempt came to nothing, waits before the next; it never gives up. */
export function attemptPauseMs(failures: number): number {
  return Math.min(1_000 * 2 ** Math.min(failures, 10), 60_000);
}
