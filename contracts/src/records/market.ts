// Prices and what they are prices of: quotes, marks, bars and instruments.
import { z } from "zod";
import {
  countNumber,
  currencyText,
  dateText,
  decimalText,
  idText,
  instantText,
  nameText,
  positiveDecimalText,
  symbolText,
} from "./fields.ts";
import { assetClass } from "./values.ts";

/** The best prices of a symbol at a moment. Prices of spreads may be negative, so they are decimals of either sign. */
export const quote = z.object({
  symbol: symbolText,
  bid: decimalText,
  ask: decimalText,
  /** The last trade's price. */
  last: decimalText.optional(),
  bid_size: decimalText.optional(),
  ask_size: decimalText.optional(),
  /** Traded so far in this session, in units of the instrument. */
  volume: decimalText.optional(),
  currency: currencyText.optional(),
  venue: nameText.optional(),
  /** Of an option, for one unit of its underlying: theta per day, vega per hundredth of volatility. */
  greeks: z.object({ delta: z.number(), gamma: z.number(), theta: z.number(), vega: z.number() }).optional(),
  /** When the quote was true at its source. */
  quoted_at: instantText,
});
export type Quote = z.infer<typeof quote>;

/** How an option's worth follows its underlying, by a model: what its exposure and its stress are counted by. */
const optionRisk = z.object({
  /** How much its price moves when its underlying's moves by one; negative for a put. Six digits. */
  delta: decimalText,
  /** Its price if the underlying stood 20 % higher, or lower, and its volatility half as high again. */
  stressed_up: decimalText,
  stressed_down: decimalText,
  /** When it was true: as old as the older of the two prices that it was computed from. */
  at: instantText,
});
export type OptionRisk = z.infer<typeof optionRisk>;

/** The price that positions are valued at; conflated on the bus, where only the newest per symbol matters. */
export const mark = z.object({
  symbol: symbolText,
  price: decimalText,
  bid: decimalText.optional(),
  ask: decimalText.optional(),
  currency: currencyText.optional(),
  /** The feed that said so. */
  source: nameText,
  /** Of an option; without it no new risk is taken in it. */
  option_risk: optionRisk.optional(),
  /** When the price was true at its source; ages are counted from here. */
  at: instantText,
});
export type Mark = z.infer<typeof mark>;

/** The name of the simulated market. What it says is a price for PAPER funds alone. */
export const paperSource = "paper";

export function isSimulated({ source }: Pick<Mark, "source">): boolean {
  return source === paperSource;
}

/** Zero is a price of an option alone, which says its risk beside it; below zero there is none. */
export function isPossiblePrice({ price, option_risk: optionRisk }: Pick<Mark, "price" | "option_risk">): boolean {
  return !price.startsWith("-") && (optionRisk !== undefined || /[1-9]/.test(price));
}

export const barInterval = z.enum(["1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"]);
export type BarInterval = z.infer<typeof barInterval>;

export const bar = z
  .object({
    symbol: symbolText,
    interval: barInterval,
    /** The first moment that the bar covers. */
    start: instantText,
    open: decimalText,
    high: decimalText,
    low: decimalText,
    close: decimalText,
    volume: decimalText,
    trade_count: countNumber.optional(),
    /** Its interval is over: it changes no more. */
    closed: z.boolean(),
  })
  .meta({ id: "Bar" });
export type Bar = z.infer<typeof bar>;

/** The public API quotes it always, so that programs can be tried where nothing trades. It is no instrument. */
export const testSymbol = "TEST";

/** The symbol of kept bars that say that somebody listened in their time; their prices mean nothing. */
export const listeningSymbol = "";

/** Sources of prices, the first before the others: tokens' names over gRPC, logins' over NATS. */
export const pricedBy = z
  .array(idText)
  .max(5)
  .refine((names) => new Set(names).size === names.length, "expected each source once");

/** What can be traded and in which steps. */
export const instrument = z
  .object({
    symbol: symbolText.refine(
      (symbol) => symbol !== testSymbol,
      "TEST is the public API's test symbol and never traded",
    ),
    name: nameText,
    asset_class: assetClass,
    currency: currencyText,
    /** Prices are whole multiples of this. */
    tick_size: positiveDecimalText,
    /** Quantities are whole multiples of this. */
    lot_size: positiveDecimalText,
    /** Units of the underlying per unit of quantity: 1 for shares, 100 for most US options. */
    multiplier: positiveDecimalText,
    sector: nameText,
    /** The name of its trading calendar. */
    calendar: idText,
    venue: nameText.optional(),
    /** ISO 6166, as regulators know it. */
    isin: z
      .string()
      .regex(/^[A-Z]{2}[A-Z0-9]{9}[0-9]$/)
      .optional(),
    /** Whose prices of it count, the first before the others; absent or empty: those that its venue names. */
    priced_by: pricedBy.optional(),
    /** Options only. */
    underlying: symbolText.optional(),
    expiry: dateText.optional(),
    strike: positiveDecimalText.optional(),
    right: z.enum(["CALL", "PUT"]).optional(),
    /** How far its price may move at once before it has to be confirmed, as a fraction; `risk.price_jump_max` when absent. */
    price_jump_max: positiveDecimalText.optional(),
  })
  .meta({ id: "Instrument" });
export type Instrument = z.infer<typeof instrument>;

/** A headline about a symbol. */
export const newsItem = z
  .object({
    news_id: idText,
    /** The same for every item that tells one story. */
    story_id: idText,
    symbol: symbolText,
    headline: nameText,
    source: nameText,
    at: instantText,
  })
  .meta({ id: "NewsItem" });
export type NewsItem = z.infer<typeof newsItem>;
