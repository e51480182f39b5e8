// What becomes of an option when it has ended, pure and the same for broker and books: where it is worth nothing it is
// gone; in the money it is settled by delivery where its underlying is a share (a written call sells shares at the
// strike, a written put buys them; who holds the contract does the opposite), and in cash where it is not.
//
// Every leg is proportional to what is held: what the strategies of an account settle adds up to what the account does.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";

export interface SettledTerms {
  readonly symbol: string;
  readonly underlying: string;
  readonly right: "CALL" | "PUT";
  readonly strike: decimal.Decimal;
  readonly multiplier: decimal.Decimal;
  /** In shares; else in cash. */
  readonly isDelivered: boolean;
}

/** A trade that the settlement makes: by how much it changes what is held of a symbol, and at which price. */
export interface SettledLeg {
  readonly symbol: string;
  readonly change: decimal.Decimal;
  readonly price: decimal.Decimal;
}

/** Undefined for what is no option, or lacks a term. */
export function settledTerms(option: Instrument, underlying: Instrument | undefined): SettledTerms | undefined {
  const { symbol, right, strike, multiplier } = option;
  if (option.asset_class !== "OPTION" || right === undefined || strike === undefined || underlying === undefined) {
    return undefined;
  }
  return {
    symbol,
    underlying: underlying.symbol,
    right,
    strike: decimal.parse(strike),
    multiplier: decimal.parse(multiplier),
    isDelivered: underlying.asset_class === "EQUITY",
  };
}

/** Of so many contracts, negative for written ones, at that price of the underlying. */
export function settlementLegs(
  terms: SettledTerms,
  contracts: decimal.Decimal,
  price: decimal.Decimal,
): readonly SettledLeg[] {
  if (contracts === decimal.zero) return [];
  const { symbol, right, strike } = terms;
  const gain = right === "CALL" ? decimal.subtract(price, strike) : decimal.subtract(strike, price);
  const isInTheMoney = decimal.sign(gain) > 0;
  const gone = {
    symbol,
    change: decimal.negate(contracts),
    price: isInTheMoney && !terms.isDelivered ? gain : decimal.zero,
  };
  if (!isInTheMoney || !terms.isDelivered) return [gone];
  const shares = decimal.multiply(contracts, terms.multiplier, "half-even");
  return [
    gone,
    { symbol: terms.underlying, change: right === "CALL" ? shares : decimal.negate(shares), price: strike },
  ];
}
