// How much of an order fits under a fund's limits with room to spare. Strategies ask this before they hand an order in: the risk engine says no
// at the limit, a strategy stops well before it.
//
//  1. What may be approved and filled counts: open orders on the side that makes it worse.
//  2. After the answer's quantity is added, every limit that the order touches is used to at most the given share.
//  3. A quantity that only shrinks the fund's position is bounded by the size of one order alone.
//  4. An option counts its underlying: the larger of its premium and |delta| x notional, together with everything else on that underlying.
//  5. A side that would not fit the fund's position gets what of it fits.
import * as decimal from "../../contracts/src/decimal.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { Side } from "../../contracts/src/records/values.ts";

type Decimal = decimal.Decimal;

/** What a fund has of a symbol, over all of its strategies. */
export interface HeldLine {
  readonly symbol: string;
  /** Negative when short. */
  readonly quantity: Decimal;
  /** What open orders may still buy and sell. */
  readonly openBuys: Decimal;
  readonly openSells: Decimal;
}

export interface FundRoom {
  readonly lines: readonly HeldLine[];
  readonly prices: ReadonlyMap<string, Decimal>;
  /** Of options; what has none is counted as if it moved with its underlying one to one. */
  readonly deltas: ReadonlyMap<string, Decimal>;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly nav: Decimal;
  readonly envelope: RiskEnvelope;
  /** The share of every limit that may be used: 0.8 leaves a fifth. */
  readonly share: Decimal;
}

/** The quantity (of the wanted sign, in whole lots) that fits; zero when none does. */
export function fitting(room: FundRoom, symbol: string, wanted: Decimal): Decimal {
  const { envelope, instruments, prices } = room;
  const instrument = instruments.get(symbol);
  const price = prices.get(symbol);
  if (instrument === undefined || price === undefined || decimal.sign(price) <= 0) return decimal.zero;
  const unit = decimal.multiply(price, decimal.parse(instrument.multiplier), "up");
  const line = room.lines.find((held) => held.symbol === symbol) ?? emptyLine(symbol);
  const inValue = (value: Decimal, each = unit): Decimal =>
    decimal.sign(value) <= 0 ? decimal.zero : decimal.divide(value, each, "down");
  const counted = exposureOf(room, symbol);
  let most = decimal.abs(wanted);
  if (envelope.max_notional !== undefined) {
    most = decimal.min(most, inValue(share(room, decimal.fromNumber(envelope.max_notional))));
  }
  if (!isReduction(line, wanted)) {
    most = decimal.min(most, inValue(newRiskLeft(room, instrument, line, wanted, counted), counted));
  }
  const lots = decimal.roundToIncrement(most, decimal.parse(instrument.lot_size), "down");
  return decimal.sign(wanted) < 0 ? decimal.negate(lots) : lots;
}

/** What an order of that side may do to the fund's position: SELL and BUY_TO_COVER close what is there, SELL_SHORT and BUY open beside nothing else. */
export function withinSide(line: HeldLine | undefined, side: Side, wanted: Decimal): Decimal {
  const { quantity, openBuys, openSells } = line ?? emptyLine("");
  const closable = decimal.max(
    decimal.zero,
    decimal.sign(wanted) < 0 ? decimal.subtract(quantity, openSells) : decimal.negate(decimal.add(quantity, openBuys)),
  );
  const isAgainst = decimal.sign(quantity) * decimal.sign(wanted) < 0;
  const closes = side === "SELL" || side === "BUY_TO_COVER" || isAgainst;
  if (!closes) return wanted;
  if (side === "SELL_SHORT") return decimal.zero;
  const most = decimal.min(decimal.abs(wanted), closable);
  return decimal.sign(wanted) < 0 ? decimal.negate(most) : most;
}

function emptyLine(symbol: string): HeldLine {
  return { symbol, quantity: decimal.zero, openBuys: decimal.zero, openSells: decimal.zero };
}

function share(room: FundRoom, limit: Decimal): Decimal {
  return decimal.multiply(limit, room.share, "down");
}

/** Whether everything that is open on that side, and this, still leaves the position on its side of zero. */
function isReduction({ quantity, openBuys, openSells }: HeldLine, wanted: Decimal): boolean {
  if (decimal.sign(quantity) === 0 || decimal.sign(quantity) === decimal.sign(wanted)) return false;
  const open = decimal.sign(wanted) > 0 ? openBuys : openSells;
  return decimal.compare(decimal.add(decimal.abs(wanted), open), decimal.abs(quantity)) <= 0;
}

/** The money that this symbol may still grow by, over every limit on exposure. */
function newRiskLeft(room: FundRoom, instrument: Instrument, line: HeldLine, wanted: Decimal, unit: Decimal): Decimal {
  const { envelope, nav } = room;
  const of = (fraction: number | undefined): Decimal | undefined =>
    fraction === undefined ? undefined : share(room, decimal.multiply(nav, decimal.fromNumber(fraction), "down"));
  const others = room.lines.filter(({ symbol }) => symbol !== line.symbol);
  const sum = (values: readonly Decimal[]): Decimal => values.reduce(decimal.add, decimal.zero);
  const worst = (held: HeldLine): Decimal => notional(room, held.symbol, worstQuantity(held));
  // The side that the order makes larger, as it stands before it.
  const here = decimal.multiply(
    decimal.max(decimal.zero, decimal.sign(wanted) > 0 ? longest(line) : decimal.negate(shortest(line))),
    unit,
    "up",
  );
  const inSector = others.filter(({ symbol }) => room.instruments.get(symbol)?.sector === instrument.sector);
  const underlying = underlyingOf(room, line.symbol);
  const onSame = others.filter(({ symbol }) => underlyingOf(room, symbol) === underlying);
  // Which way an option moves depends on its right: both ways count.
  const sideways = others.map((held) =>
    underlyingOf(room, held.symbol) === held.symbol
      ? notional(
          room,
          held.symbol,
          decimal.max(decimal.zero, decimal.sign(wanted) > 0 ? longest(held) : decimal.negate(shortest(held))),
        )
      : worst(held),
  );
  const used: readonly (readonly [Decimal | undefined, Decimal])[] = [
    [of(envelope.max_position_pct), decimal.add(sum(onSame.map(worst)), here)],
    [of(envelope.max_gross_exposure_pct), decimal.add(sum(others.map(worst)), here)],
    [of(envelope.max_net_exposure_pct), decimal.add(sum(sideways), here)],
    [of(envelope.sector_limits_pct?.[instrument.sector]), decimal.add(sum(inSector.map(worst)), here)],
  ];
  return used.reduce(
    (least, [limit, taken]) => (limit === undefined ? least : decimal.min(least, decimal.subtract(limit, taken))),
    decimal.largest,
  );
}

function longest({ quantity, openBuys }: HeldLine): Decimal {
  return decimal.add(quantity, openBuys);
}

function shortest({ quantity, openSells }: HeldLine): Decimal {
  return decimal.subtract(quantity, openSells);
}

function worstQuantity(line: HeldLine): Decimal {
  return decimal.max(decimal.abs(longest(line)), decimal.abs(shortest(line)));
}

function underlyingOf({ instruments }: FundRoom, symbol: string): string {
  return instruments.get(symbol)?.underlying ?? symbol;
}

/** What one unit counts. Without a price it counts as nothing here: the risk engine denies what it cannot value. */
function exposureOf({ prices, deltas, instruments }: FundRoom, symbol: string): Decimal {
  const instrument = instruments.get(symbol);
  const multiplier = decimal.parse(instrument?.multiplier ?? "1");
  const premium = decimal.multiply(prices.get(symbol) ?? decimal.zero, multiplier, "up");
  if (instrument?.underlying === undefined) return premium;
  const delta = decimal.abs(deltas.get(symbol) ?? decimal.one);
  const notional = decimal.multiply(prices.get(instrument.underlying) ?? decimal.zero, multiplier, "up");
  return decimal.max(premium, decimal.multiply(delta, notional, "up"));
}

function notional(room: FundRoom, symbol: string, quantity: Decimal): Decimal {
  return decimal.multiply(quantity, exposureOf(room, symbol), "up");
}
