// What a split or a change of symbol of a share makes of the options on it, as the clearing house adjusts listed options. Pure.
//
//  - n new shares for one old: n contracts for each, at an n-th of the strike.
//  - Another symbol: the same contracts under the new root.
//  - Any other split, reverse ones included: the same contracts, for as many shares as the old ones have become, at a strike that leaves
//    strike x multiplier what it was. Their root has a digit, as the clearing house names contracts that are not for 100 shares.
//
// A leg says all of it: the strike follows the price, and quantity x price x multiplier stays equal. What does not come out even is refused
// with a sentence: a rounded strike would be another contract.
import * as decimal from "../../contracts/src/decimal.ts";
import type { ActionLeg } from "../../contracts/src/records/corporate-action.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { inverse, type Ratio, scaled } from "../ledger/corporate-actions.ts";

/** Series that one action adjusts at most: each is a leg of it, and the whole action is one event. */
const seriesMax = 500;

type AdjustedOptions =
  | { readonly legs: readonly ActionLeg[] }
  /** Why it cannot be done, and what to do. */
  | { readonly why: string };

/** In the order in which they can be carried out: a series that takes another's name comes after it. */
export function optionLegs(share: Instrument, leg: ActionLeg, instruments: readonly Instrument[]): AdjustedOptions {
  const options = instruments.filter(({ underlying }) => underlying === share.symbol);
  if (options.length > seriesMax) {
    return { why: `There are ${options.length} options on it; at most ${seriesMax} are adjusted together.` };
  }
  const [to, from] = leg.quantity;
  const hasMoreContracts = from === 1 && to > 1;
  const quantity: [number, number] = hasMoreContracts ? [to, from] : [1, 1];
  const legs: ActionLeg[] = [];
  const taken = new Set(instruments.filter((one) => one.underlying !== share.symbol).map(({ symbol }) => symbol));
  for (const option of strikesInOrder(options, leg.price)) {
    const own = { symbol: option.symbol, new_symbol: option.symbol, quantity, price: leg.price };
    const why = whyNotEven(option, share, own);
    if (why !== undefined) return { why: `${why} ${closeFirst}` };
    const isOdd = multiplierRatio(own)[0] !== multiplierRatio(own)[1];
    const named = { ...own, new_symbol: seriesName(option, leg, isOdd, taken) };
    if (taken.has(named.new_symbol) || (isOdd && named.new_symbol === option.symbol)) {
      return { why: `There is no name for what ${option.symbol} becomes. ${closeFirst}` };
    }
    taken.add(named.new_symbol);
    legs.push(named);
  }
  return { legs };
}

const closeFirst = "Close what is held of it and take it out of the instruments first.";
const thousandth = decimal.parse("0.001");
const thousand = decimal.fromInteger(1_000n);
/** Eight digits in thousandths. */
const strikeMax = decimal.parse("99999.999");

/** Those whose names are taken over leave them first: the lowest while strikes fall, the highest while they rise. */
function strikesInOrder(options: readonly Instrument[], [to, from]: Ratio): readonly Instrument[] {
  const falls = to <= from ? 1 : -1;
  const strikeOf = ({ strike = "0" }: Instrument): decimal.Decimal => decimal.parse(strike);
  return [...options].sort((one, other) => falls * decimal.compare(strikeOf(one), strikeOf(other)));
}

/** By which the multiplier is multiplied: value is quantity x price x multiplier. */
function multiplierRatio({ quantity, price }: Pick<ActionLeg, "quantity" | "price">): Ratio {
  return [quantity[1] * price[1], quantity[0] * price[0]];
}

function whyNotEven(option: Instrument, share: Instrument, leg: ActionLeg): string | undefined {
  const { symbol, strike, multiplier } = option;
  if (strike === undefined) return `${symbol} has no strike.`;
  const adjusted = scaled(decimal.parse(strike), leg.price);
  const isSame = scaled(adjusted, inverse(leg.price)) === decimal.parse(strike);
  if (!isSame || !decimal.isMultipleOf(adjusted, thousandth) || adjusted > strikeMax) {
    return `The strike ${strike} of ${symbol} would be ${decimal.format(adjusted)}, which no option has.`;
  }
  const shares = scaled(decimal.parse(multiplier), multiplierRatio(leg));
  if (shares > decimal.zero && decimal.isMultipleOf(shares, decimal.parse(share.lot_size))) return undefined;
  return `${symbol} would be for ${decimal.format(shares)} shares of ${share.symbol}, which is no whole number of lots.`;
}

/** Root, padding, date and right, strike in thousandths. */
const seriesForm = /^([A-Z0-9.]*[A-Z.])(\d?)( +)(\d{6}[CP])(\d{8})$/;

/** One that is not named as the clearing house names series keeps its name. */
function seriesName(option: Instrument, leg: ActionLeg, isOdd: boolean, taken: ReadonlySet<string>): string {
  const [, root, digit = "", padding = " ", dated = ""] = seriesForm.exec(option.symbol) ?? [];
  if (root === undefined || root !== leg.symbol) return option.symbol;
  const thousandths = decimal.multiply(scaled(decimal.parse(option.strike ?? "0"), leg.price), thousand, "half-even");
  const strike = decimal.format(thousandths).padStart(8, "0");
  const width = root.length + digit.length + padding.length;
  const named = (mark: string): string => {
    const padded = `${leg.new_symbol}${mark}`.padEnd(width === 6 ? 6 : 0);
    return `${padded}${padded.endsWith(" ") ? "" : " "}${dated}${strike}`;
  };
  if (!isOdd) return named(digit);
  const marks = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  const free = marks.map(named).find((name) => !taken.has(name) && name !== option.symbol);
  return free ?? option.symbol;
}

/** The series as it is from then on. */
export function adjustedOption(option: Instrument, leg: ActionLeg, underlying: string): Instrument {
  const { strike = "0", right = "CALL", expiry = "" } = option;
  const ratio = multiplierRatio(leg);
  const [adjusted, shares] = [
    scaled(decimal.parse(strike), leg.price),
    scaled(decimal.parse(option.multiplier), ratio),
  ];
  const per = ratio[0] === ratio[1] ? "" : `, ${decimal.format(shares)} shares a contract`;
  return {
    ...option,
    symbol: leg.new_symbol,
    name: `${underlying} ${decimal.format(adjusted)} ${right.toLowerCase()}, ${expiry}${per}`,
    underlying,
    strike: decimal.format(adjusted),
    multiplier: decimal.format(shares),
  };
}
