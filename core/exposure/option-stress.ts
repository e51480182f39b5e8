// The stress that funds with options are limited by: the underlying 20 % higher or lower, volatility half as high again. Options are worth then
// what their mark said (option-risk.ts), the underlying's own line moves along; of an underlying's two cases the worse counts, and underlyings add
// up. Everything is exact: products of decimals, as in exact.ts.
//
// Invariants (option-stress.test.ts compares them with trying every case):
//  1. A line loses at its worse end: every pending buy fills and no sell does, or the other way round.
//  2. An underlying that would gain in both cases loses nothing, and makes up for no other.
import { type Decimal, one } from "../../contracts/src/decimal.ts";
import { type Amount, minus, plus, toDecimal } from "../money/amount.ts";
import type { Exact } from "../money/exact.ts";
import type { SymbolBook, SymbolPrices } from "../state/records.ts";
import type { Losses, UnitStress } from "../state/view.ts";

export const noLosses: Losses = { up: 0n as Exact, down: 0n as Exact };
/** A fifth. */
const movedBy = 5n;

/** Undefined while the option's stressed prices, or a price, are not known. */
export function unitStress(
  { option, facts }: SymbolBook,
  { price, stressedUp, stressedDown }: SymbolPrices,
  rate: Amount | undefined,
): UnitStress | undefined {
  if (price === undefined || facts === undefined || rate === undefined) return undefined;
  const inFundCurrency = (change: bigint): Decimal => {
    const contract = (change * toDecimal(facts.multiplier)) / one;
    return ((contract * toDecimal(rate)) / one) as Decimal;
  };
  const now = toDecimal(price);
  if (option === undefined) return { up: inFundCurrency(now / movedBy), down: inFundCurrency(-now / movedBy) };
  if (stressedUp === undefined || stressedDown === undefined) return undefined;
  return { up: inFundCurrency(toDecimal(stressedUp) - now), down: inFundCurrency(toDecimal(stressedDown) - now) };
}

/** What a line loses in each case, at the worse of its two ends; below zero it gains. */
export function lineLosses(position: Amount, buys: Amount, sells: Amount, unit: UnitStress): Losses {
  const most = toDecimal(plus(position, buys));
  const least = toDecimal(minus(position, sells));
  const loss = (change: bigint): Exact => larger(-most * change, -least * change) as Exact;
  return { up: loss(unit.up), down: loss(unit.down) };
}

export function plusLosses(left: Losses, right: Losses): Losses {
  return { up: (left.up + right.up) as Exact, down: (left.down + right.down) as Exact };
}

export function minusLosses(left: Losses, right: Losses): Losses {
  return { up: (left.up - right.up) as Exact, down: (left.down - right.down) as Exact };
}

/** Of one underlying; never below zero. */
export function worstLoss({ up, down }: Losses): Exact {
  return larger(larger(up, down), 0n) as Exact;
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
