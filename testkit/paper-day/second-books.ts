// The books of the paper funds, kept a second time from what was reported: trades, cash that no trade moved, corporate actions and values. This file
// imports nothing on purpose: a mistake that it shared with the services would be no mistake to it.
//
// Numbers are fractions of whole numbers, so nothing is ever rounded but where the platform says that it rounds: one holding's value at 18
// places, half to even.

/** A number as a fraction of a power of ten: digits / 10^places. */
interface Exact {
  readonly digits: bigint;
  readonly places: number;
}

export interface ReportedInstrument {
  readonly symbol: string;
  readonly currency: string;
  readonly multiplier: string;
}

export interface ReportedFill {
  readonly fill_id: string;
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly price: string;
  readonly fee?: string;
  readonly currency?: string;
  readonly kind?: string;
}

export interface ReportedCash {
  readonly entry_id: string;
  readonly fund_id: string;
  readonly currency: string;
  readonly amount: string;
}

export interface ReportedValue {
  readonly fund_id: string;
  readonly nav: string;
  readonly currency: string;
  readonly cash: string;
  readonly positions_value: string;
  readonly prices: Readonly<Record<string, { readonly quantity: string; readonly price: string }>>;
  readonly rates?: Readonly<Record<string, { readonly rate: string }>>;
}

export type Entry =
  | { readonly kind: "fill"; readonly reported: ReportedFill }
  | { readonly kind: "cash"; readonly reported: ReportedCash }
  /** Every holding of one symbol becomes so many of another, or of itself, in every fund. */
  | {
      readonly kind: "exchange";
      readonly from: string;
      readonly to: string;
      readonly times: string;
      readonly per: string;
    };

export interface SecondBooks {
  /** By fund and symbol; nothing is left out but what is zero. */
  readonly positions: ReadonlyMap<string, string>;
  /** By fund and currency. */
  readonly cash: ReadonlyMap<string, string>;
}

const zero: Exact = { digits: 0n, places: 0 };

export function exact(text: string): Exact {
  const found = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (found === null) throw new Error(`${JSON.stringify(text)} is no decimal number`);
  const [, sign = "", whole = "0", fraction = ""] = found;
  const digits = BigInt(whole + fraction);
  return { digits: sign === "-" ? -digits : digits, places: fraction.length };
}

function withPlaces(number: Exact, places: number): bigint {
  return number.digits * 10n ** BigInt(places - number.places);
}

function plus(one: Exact, other: Exact): Exact {
  const places = Math.max(one.places, other.places);
  return { digits: withPlaces(one, places) + withPlaces(other, places), places };
}

function times(one: Exact, other: Exact): Exact {
  return { digits: one.digits * other.digits, places: one.places + other.places };
}

/** Refuses what does not come out even: no holding may be made of a part that nobody can write down. */
function over(one: Exact, other: Exact): Exact {
  const spare = 30;
  const top = withPlaces(one, one.places + spare);
  const bottom = withPlaces(other, Math.max(other.places, 0));
  const shifted = top * 10n ** BigInt(other.places);
  if (shifted % bottom !== 0n) throw new Error(`${text(one)} / ${text(other)} has no end`);
  return { digits: shifted / bottom, places: one.places + spare };
}

function rounded(number: Exact, places: number): Exact {
  if (number.places <= places) return number;
  const unit = 10n ** BigInt(number.places - places);
  const isNegative = number.digits < 0n;
  const size = isNegative ? -number.digits : number.digits;
  const [whole, rest] = [size / unit, (size % unit) * 2n];
  const up = rest > unit || (rest === unit && whole % 2n === 1n);
  const digits = up ? whole + 1n : whole;
  return { digits: isNegative ? -digits : digits, places };
}

export function text({ digits, places }: Exact): string {
  const isNegative = digits < 0n;
  const all = (isNegative ? -digits : digits).toString().padStart(places + 1, "0");
  const whole = all.slice(0, all.length - places);
  const fraction = all.slice(all.length - places).replace(/0+$/, "");
  const plain = fraction === "" ? whole : `${whole}.${fraction}`;
  return isNegative && plain !== "0" ? `-${plain}` : plain;
}

const sells = new Set(["SELL", "SELL_SHORT"]);
const known = new Set([...sells, "BUY", "BUY_TO_COVER"]);

/** Everything reported since the beginning, in its order; each trade and each entry counts once, however often it was reported. */
export function keepSecondBooks(instruments: readonly ReportedInstrument[], entries: readonly Entry[]): SecondBooks {
  const terms = new Map(instruments.map((instrument) => [instrument.symbol, instrument]));
  const positions = new Map<string, Exact>();
  const cash = new Map<string, Exact>();
  const seen = new Set<string>();
  const add = (to: Map<string, Exact>, fund: string, what: string, by: Exact): void => {
    const key = `${fund} ${what}`;
    to.set(key, plus(to.get(key) ?? zero, by));
  };
  const once = (id: string): boolean => !seen.has(id) && seen.add(id) !== undefined;

  function trade(fill: ReportedFill): void {
    const instrument = terms.get(fill.symbol);
    if (instrument === undefined) throw new Error(`the instrument ${fill.symbol} was never reported`);
    if (!known.has(fill.side)) throw new Error(`${fill.fill_id} has the side ${fill.side}`);
    const size = exact(fill.quantity);
    const signed = sells.has(fill.side) ? { ...size, digits: -size.digits } : size;
    const paid = times(times(signed, exact(instrument.multiplier)), exact(fill.price));
    add(positions, fill.fund_id, fill.symbol, signed);
    add(cash, fill.fund_id, instrument.currency, { ...paid, digits: -paid.digits });
    const fee = exact(fill.fee ?? "0");
    add(cash, fill.fund_id, fill.currency ?? instrument.currency, { ...fee, digits: -fee.digits });
  }

  for (const entry of entries) {
    // What a corporate action makes of a holding is worked out from its terms, never taken from what the platform booked for it.
    const isTrade = entry.kind === "fill" && entry.reported.kind !== "CORPORATE_ACTION";
    if (isTrade && once(`fill ${entry.reported.fill_id}`)) trade(entry.reported);
    if (entry.kind === "cash" && once(`cash ${entry.reported.entry_id}`)) {
      add(cash, entry.reported.fund_id, entry.reported.currency, exact(entry.reported.amount));
    }
    if (entry.kind === "exchange") {
      for (const [key, held] of [...positions]) {
        const fund = key.slice(0, key.indexOf(" "));
        if (key !== `${fund} ${entry.from}`) continue;
        positions.delete(key);
        add(positions, fund, entry.to, over(times(held, exact(entry.times)), exact(entry.per)));
      }
    }
  }
  const asText = (from: Map<string, Exact>) =>
    new Map([...from].filter(([, amount]) => amount.digits !== 0n).map(([key, amount]) => [key, text(amount)]));
  return { positions: asText(positions), cash: asText(cash) };
}

/** Sentences about what is wrong with a value: its own sum, and, for the newest one of a fund, what it is made of. */
export function wrongWithValue(
  instruments: readonly ReportedInstrument[],
  value: ReportedValue,
  books?: SecondBooks,
): readonly string[] {
  const terms = new Map(instruments.map((instrument) => [instrument.symbol, instrument]));
  const wrong: string[] = [];
  const rateOf = (currency: string): Exact => {
    if (currency === value.currency) return exact("1");
    const reported = value.rates?.[currency];
    if (reported === undefined) throw new Error(`the value of ${value.fund_id} names no rate of ${currency}`);
    return exact(reported.rate);
  };
  const compare = (what: string, reported: string, ours: Exact): void => {
    if (text(exact(reported)) !== text(ours))
      wrong.push(`${value.fund_id}: ${what} was reported as ${reported} and is ${text(ours)}.`);
  };
  let positions = zero;
  for (const [symbol, { quantity, price }] of Object.entries(value.prices)) {
    const instrument = terms.get(symbol);
    if (instrument === undefined) throw new Error(`the instrument ${symbol} was never reported`);
    const own = times(times(exact(quantity), exact(instrument.multiplier)), exact(price));
    positions = plus(positions, rounded(times(own, rateOf(instrument.currency)), 18));
  }
  compare("positions_value", value.positions_value, positions);
  compare("nav", value.nav, plus(exact(value.cash), exact(value.positions_value)));
  if (books === undefined) return wrong;
  const prefix = `${value.fund_id} `;
  let cash = zero;
  for (const [key, amount] of books.cash) {
    if (!key.startsWith(prefix)) continue;
    cash = plus(cash, rounded(times(exact(amount), rateOf(key.slice(prefix.length))), 18));
  }
  compare("cash", value.cash, cash);
  const held = new Map([...books.positions].filter(([key]) => key.startsWith(prefix)));
  for (const [symbol, { quantity }] of Object.entries(value.prices)) {
    compare(`the position in ${symbol}`, quantity, exact(held.get(prefix + symbol) ?? "0"));
    held.delete(prefix + symbol);
  }
  for (const [key, quantity] of held) wrong.push(`${key}: ${quantity} are held, and the value leaves them out.`);
  return wrong;
}
