// What a split or a change of symbol does to quantities, prices and costs. Pure, and the same for everybody who counts them: order management, treasury
// and the paper broker come to the same whole numbers because they ask the same functions.
//
// Invariants (corporate-actions.test.ts names them):
//  1. What a position is worth, and what it cost, is the same before and after, but for what rounding takes at the eighteenth place.
//  2. An account holds whole lots afterwards, rounded towards zero; its strategies together hold what the account does.
//  3. What a strategy holds in fractions is sold or bought in lieu at the price of the moment: together exactly the account's own fraction.
//  4. A price of before the action is turned into one of after it once, through every action that lies between.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, plusMicroseconds } from "../../contracts/src/instant.ts";
import type { ActionLeg } from "../../contracts/src/records/corporate-action.ts";
import type { BookedPosition } from "./position.ts";

/** So many new ones for so many old ones. */
export type Ratio = readonly [to: number, from: number];

const ratioForm = /^([1-9]\d{0,3}):([1-9]\d{0,3})$/;
const sharesMax = 1_000;

/** In its lowest terms; undefined for what is no ratio, or changes nothing. */
export function parseRatio(text: string): Ratio | undefined {
  const [, left, right] = ratioForm.exec(text) ?? [];
  const [to, from] = [Number(left), Number(right)];
  if (left === undefined || right === undefined || to === from || to > sharesMax || from > sharesMax) return undefined;
  const common = divisor(to, from);
  return [to / common, from / common];
}

function divisor(left: number, right: number): number {
  return right === 0 ? left : divisor(right, left % right);
}

export function inverse([to, from]: Ratio): Ratio {
  return [from, to];
}

export function scaled(value: Decimal, [to, from]: Ratio): Decimal {
  if (to === from) return value;
  const product = decimal.multiply(value, decimal.fromInteger(BigInt(to)), "half-even");
  return decimal.divide(product, decimal.fromInteger(BigInt(from)), "half-even");
}

/** What an account holds of it afterwards. */
export function wholeOf(quantity: Decimal, ratio: Ratio, lotSize: Decimal): Decimal {
  return decimal.roundToIncrement(scaled(quantity, ratio), lotSize, "down");
}

export interface Allotted {
  /** With its fraction. */
  readonly exact: Decimal;
  /** What it holds when the fraction is paid for. */
  readonly whole: Decimal;
}

/** What each strategy of one account holds afterwards, in the order in which they were given. */
export function allot(quantities: readonly Decimal[], ratio: Ratio, lotSize: Decimal): readonly Allotted[] {
  const sum = (values: readonly Decimal[]): Decimal => values.reduce<Decimal>(decimal.add, decimal.zero);
  const exact = quantities.map((quantity) => scaled(quantity, ratio));
  const whole = exact.map((quantity) => decimal.roundToIncrement(quantity, lotSize, "down"));
  let missing = decimal.subtract(wholeOf(sum(quantities), ratio, lotSize), sum(whole));
  const isMore = missing > decimal.zero;
  const lot = isMore ? lotSize : decimal.negate(lotSize);
  const fraction = (index: number): Decimal => decimal.subtract(at(exact, index), at(whole, index));
  // Who lacks most of a lot gets one first; of equals the first.
  const turns = exact
    .map((_, index) => index)
    .sort((one, other) => decimal.compare(fraction(one), fraction(other)) * (isMore ? -1 : 1) || one - other);
  for (let turn = 0; missing !== decimal.zero && turns.length > 0; turn += 1) {
    const index = turns[turn % turns.length] ?? 0;
    whole[index] = decimal.add(at(whole, index), lot);
    missing = decimal.subtract(missing, lot);
  }
  return exact.map((quantity, index) => ({ exact: quantity, whole: at(whole, index) }));
}

function at(values: readonly Decimal[], index: number): Decimal {
  return values[index] ?? decimal.zero;
}

/** The same cost for another quantity of the same sign; the opening goes on. */
export function requantified(position: BookedPosition, quantity: Decimal): BookedPosition {
  const averagePrice = quantity === decimal.zero ? decimal.zero : decimal.divide(position.cost, quantity, "half-even");
  return { ...position, quantity, averagePrice };
}

/**
 * The same opening in other units, of which each may be for more or fewer shares. What it cost in money stays: what rounding took of it is a
 * part of the result, so that the result of a flat position is exact.
 */
export function reissued(
  position: BookedPosition,
  { quantity: [more, fewer], price: [to, from] }: ActionLeg,
  quantity: Decimal,
  multiplier: Decimal,
): BookedPosition {
  const perUnit: Ratio = [more * to, fewer * from];
  const cost = scaled(position.cost, perUnit);
  const paid = (amount: Decimal, per: Decimal): Decimal => decimal.multiply(amount, per, "half-even");
  const rounded = decimal.subtract(paid(cost, scaled(multiplier, inverse(perUnit))), paid(position.cost, multiplier));
  const realisedPnl = decimal.add(position.realisedPnl, rounded);
  return requantified({ ...position, cost, realisedPnl }, quantity);
}

/** An action that our books have, or a dividend that was declared. */
export interface AppliedAction {
  readonly symbol?: string;
  readonly legs: readonly ActionLeg[];
  readonly appliedAt?: Instant;
  readonly dividend?: PaidDividend;
}

interface PaidDividend {
  readonly perShare: string;
  readonly exAt: Instant;
  readonly due?: readonly (Opening & { readonly quantity: string })[];
}

interface Opening {
  readonly fundId: string;
  readonly strategyId: string;
  readonly openedBy: string;
}

interface Dated {
  readonly price: Decimal;
  /** When it was true. */
  readonly at: Instant;
  /** Once an action turned it: the moment in whose terms it is since. Kept with the price, or the action turns it again. */
  readonly turnedAt?: Instant;
}

const termsAt = ({ at, turnedAt }: Dated): Instant => turnedAt ?? at;

/**
 * Every price as one of now, also those that were turned before; the actions are in the order in which they were applied, and dividends that were only declared come last. A dividend that
 * our books have is no part of a price; of one that they do not have yet the price has it, also if the market quotes without it already.
 */
export function pricesAfter<Price extends Dated>(
  prices: ReadonlyMap<string, Price>,
  actions: readonly AppliedAction[],
): ReadonlyMap<string, Price> {
  if (actions.length === 0) return prices;
  const after = new Map(prices);
  for (const { symbol, legs, appliedAt, dividend } of actions) {
    if (dividend !== undefined) paidFor(after, symbol ?? "", dividend, appliedAt !== undefined);
    // All of them are taken before one is put: a symbol may be another's old one.
    const moved = legs.flatMap((leg) => {
      const before = after.get(leg.symbol);
      return before === undefined || appliedAt === undefined || termsAt(before) >= appliedAt
        ? []
        : [{ leg, before, appliedAt }];
    });
    for (const { leg } of moved) after.delete(leg.symbol);
    for (const { leg, before, appliedAt: turnedAt } of moved) {
      const known = after.get(leg.new_symbol);
      if (known === undefined || known.at < before.at) {
        after.set(leg.new_symbol, { ...before, price: scaled(before.price, leg.price), turnedAt });
      }
    }
  }
  return after;
}

function paidFor<Price extends Dated>(
  prices: Map<string, Price>,
  symbol: string,
  { perShare, exAt }: PaidDividend,
  isBooked: boolean,
): void {
  const before = prices.get(symbol);
  if (before === undefined || termsAt(before) < exAt !== isBooked) return;
  const paid = decimal.parse(perShare);
  const price = isBooked ? decimal.subtract(before.price, paid) : decimal.add(before.price, paid);
  // With the dividend it is one of before the ex moment, however it is dated.
  prices.set(symbol, { ...before, price, turnedAt: isBooked ? exAt : plusMicroseconds(exAt, -1) });
}

/** What an opening was paid, or paid, in dividends, per unit of what it is now: a fall of the price that was no loss to it. */
export function dividendsOf(
  opening: Opening & { readonly quantity: Decimal },
  actions: readonly AppliedAction[],
): Decimal {
  const paid: { symbol: string; perShare: Decimal; quantity: Decimal }[] = [];
  for (const { symbol = "", legs, dividend } of actions) {
    for (const leg of legs) {
      for (const one of paid.filter((before) => before.symbol === leg.symbol)) {
        const [perShare, quantity] = [scaled(one.perShare, leg.price), scaled(one.quantity, leg.quantity)];
        Object.assign(one, { symbol: leg.new_symbol, perShare, quantity });
      }
    }
    const own = dividend?.due?.find((due) => isSame(due, opening));
    if (dividend === undefined || own === undefined) continue;
    paid.push({ symbol, perShare: decimal.parse(dividend.perShare), quantity: decimal.parse(own.quantity) });
  }
  // What was bought since was bought without it.
  const now = decimal.abs(opening.quantity);
  return paid.reduce((sum, { perShare, quantity }) => {
    const held = decimal.min(decimal.abs(quantity), now);
    return now === decimal.zero
      ? sum
      : decimal.add(sum, decimal.divide(decimal.multiply(perShare, held, "half-even"), now, "down"));
  }, decimal.zero);
}

function isSame(one: Opening, other: Opening): boolean {
  return one.fundId === other.fundId && one.strategyId === other.strategyId && one.openedBy === other.openedBy;
}

/** By how much quantities of a moment are multiplied to be quantities of now. */
export function quantityRatioSince(symbol: string, since: Instant, actions: readonly AppliedAction[]): Ratio {
  let ratio: Ratio = [1, 1];
  let name = symbol;
  for (const { legs, appliedAt } of actions) {
    if (appliedAt === undefined || appliedAt < since) continue;
    for (const leg of legs) {
      if (leg.symbol !== name) continue;
      name = leg.new_symbol;
      const [to, from] = [ratio[0] * leg.quantity[0], ratio[1] * leg.quantity[1]];
      const common = divisor(to, from);
      ratio = [to / common, from / common];
      break;
    }
  }
  return ratio;
}

/** What a symbol is called now that was called so at that moment. */
export function nameNow(symbol: string, since: Instant, actions: readonly AppliedAction[]): string {
  let name = symbol;
  for (const { legs, appliedAt } of actions) {
    if (appliedAt === undefined || appliedAt < since) continue;
    name = legs.find((leg) => leg.symbol === name)?.new_symbol ?? name;
  }
  return name;
}
