// Options income on SPY: shares, a call written on every hundred of them, and puts whose strike could be paid in cash. A call whose strike
// comes near is bought back and written again further up; after a fall a few more shares are held.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { exactFraction, returnOver, type Strategy, type StrategyInput, type StrategyTarget } from "./shape.ts";

const underlying = "SPY";
const reach = 5;
/** How far from the price a strike must be to be written, and how near it may come before it is rolled away from. */
const distanceToWrite = 0.05;
const distanceToKeep = 0.03;
/** Of the allocation: for shares, and for what the puts could cost. */
const sharesShare = 0.4;
const putsShare = 0.6;
const hundred = decimal.fromInteger(100n);
/** Shares beyond the covering ones, at most, and the fall at which all of them are held. */
const cushionMax = 60;
const fallForAll = 0.01;

export const gammaIncome: Strategy = {
  name: "gamma-income",
  fundId: "gamma",
  sentence:
    "Holds SPY, writes a call on every hundred shares and puts that cash could pay for, and rolls them as strikes come near.",
  watches: (instruments) => [underlying, ...optionsOf(instruments).map(({ symbol }) => symbol)],
  signalled: [underlying],
  allocationPct: 0.1,
  daysPerYear: 252,
  tradesEveryDays: 3,
  lookback: reach + 1,
  judge(input) {
    const moved = returnOver(input.closes.get(underlying), reach);
    const spot = input.closes.get(underlying)?.at(-1);
    const price = input.prices.get(underlying);
    if (moved === undefined || spot === undefined || price === undefined) return { signals: [], targets: [] };
    const money = decimal.multiply(input.nav, exactFraction(Math.max(0, Math.min(1, input.allocationPct))), "down");
    const shares = decimal.divide(part(money, sharesShare), price, "down");
    const covered = wholeHundreds(shares);
    const cushion = Math.round(cushionMax * Math.max(0, Math.min(1, 0.5 - moved / fallForAll / 2)));
    const room = decimal.subtract(shares, covered);
    const more = decimal.min(decimal.fromInteger(BigInt(cushion)), decimal.roundToIncrement(room, decimal.one, "down"));
    return {
      signals: [{ symbol: underlying, value: -moved }],
      targets: [
        { symbol: underlying, quantity: decimal.add(covered, more) },
        ...written(input, "CALL", spot, decimal.divide(covered, hundred, "down")),
        ...written(input, "PUT", spot, undefined, part(money, putsShare)),
      ],
    };
  },
};

function optionsOf(instruments: ReadonlyMap<string, Instrument>): readonly Instrument[] {
  return [...instruments.values()]
    .filter(({ underlying: of, strike, right }) => of === underlying && strike !== undefined && right !== undefined)
    .sort((one, other) => Number(one.strike) - Number(other.strike));
}

/** All of it in the strike that is written already, or else in the nearest that is far enough away; the others are bought back. */
function written(
  input: StrategyInput,
  right: "CALL" | "PUT",
  spot: number,
  contracts: decimal.Decimal | undefined,
  cash: decimal.Decimal = decimal.zero,
): readonly StrategyTarget[] {
  const all = optionsOf(input.instruments).filter((option) => option.right === right);
  const isAway = ({ strike }: Instrument, distance: number): boolean =>
    right === "CALL" ? Number(strike) >= spot * (1 + distance) : Number(strike) <= spot * (1 - distance);
  const priced = all.filter(({ symbol }) => input.prices.has(symbol));
  const far = priced.filter((option) => isAway(option, distanceToWrite));
  const kept = priced.find((option) => isHeld(input, option) && isAway(option, distanceToKeep));
  const chosen = kept ?? (right === "CALL" ? far.at(0) : far.at(-1));
  return all.map((option) => {
    if (option.symbol !== chosen?.symbol) return { symbol: option.symbol, quantity: decimal.zero };
    const count = contracts ?? payable(option, cash);
    return { symbol: option.symbol, quantity: decimal.negate(decimal.roundToIncrement(count, decimal.one, "down")) };
  });
}

function isHeld({ positions }: StrategyInput, { symbol }: Instrument): boolean {
  return decimal.sign(positions.get(symbol) ?? decimal.zero) !== 0;
}

/** How many puts could be paid out in full. */
function payable({ strike = "0", multiplier }: Instrument, cash: decimal.Decimal): decimal.Decimal {
  const each = decimal.multiply(decimal.parse(strike), decimal.parse(multiplier), "up");
  return decimal.sign(each) <= 0 ? decimal.zero : decimal.divide(cash, each, "down");
}

function wholeHundreds(shares: decimal.Decimal): decimal.Decimal {
  return decimal.roundToIncrement(shares, hundred, "down");
}

function part(money: decimal.Decimal, share: number): decimal.Decimal {
  return decimal.multiply(money, exactFraction(share), "down");
}
