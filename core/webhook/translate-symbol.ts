// From an alert's symbol to ours: NASDAQ:AAPL is AAPL, BINANCE:BTCUSDT is BTC-USDT. Never a guess: what cannot be read with certainty is refused by
// name. The form is judged before the venue, because a continuous future is one on any venue.
import { symbolText } from "../../contracts/src/records/fields.ts";
import { cryptoVenues, equityVenues, quoteCurrencies } from "./venues.ts";

type SymbolDenialCode =
  | "WEBHOOK_VENUE_UNKNOWN"
  | "WEBHOOK_FEED_DELAYED"
  | "WEBHOOK_SYMBOL_PERPETUAL"
  | "WEBHOOK_SYMBOL_CONTINUOUS"
  | "WEBHOOK_SYMBOL_UNKNOWN";

interface SymbolDenial {
  readonly code: SymbolDenialCode;
  readonly detail: string;
}

type Translated = { readonly symbol: string } | SymbolDenial;

const venuePrefixed = /^([A-Z0-9_]+):([A-Z0-9.]+)$/;
/** NQ1!, also with its venue: the first of the futures that follow each other. */
const continuous = /^(?:[A-Z0-9_]+:)?[A-Z0-9.]+[0-9]!$/;
/** Two instruments with an operator between them, or one that is divided by. */
const spread = /[/*+^]|:.*[:-]/;
const delayed = /_DLY?$/;

/** `map` is the fund's own, from texts as alerts send them to our symbols, and is asked first. */
export function translateSymbol(text: string, map: Readonly<Record<string, string>> = {}): Translated {
  const mapped = Object.hasOwn(map, text) ? map[text] : undefined;
  if (mapped !== undefined) return { symbol: mapped };
  // Other alphabets have small letters whose capitals are ours.
  if (!/^[\x20-\x7e]*$/.test(text))
    return denied("WEBHOOK_SYMBOL_UNKNOWN", text, "cannot be read: write {{exchange}}:{{ticker}}");
  const sent = text.toUpperCase();
  if (continuous.test(sent)) {
    return denied(
      "WEBHOOK_SYMBOL_CONTINUOUS",
      text,
      "is a continuous future: name the contract itself, with its month",
    );
  }
  if (spread.test(sent)) return denied("WEBHOOK_SYMBOL_UNKNOWN", text, "is a spread: an order has one instrument");
  if (!sent.includes(":")) return canonical(sent, text);
  const [, venue = "", ticker = ""] = venuePrefixed.exec(sent) ?? [];
  if (venue === "") return denied("WEBHOOK_SYMBOL_UNKNOWN", text, "cannot be read: write {{exchange}}:{{ticker}}");
  if (delayed.test(venue)) {
    return denied("WEBHOOK_FEED_DELAYED", text, "comes from a delayed feed: trade on the venue's own, live data");
  }
  if (cryptoVenues.has(venue)) return pair(ticker, text);
  if (equityVenues.has(venue)) return { symbol: ticker };
  return denied(
    "WEBHOOK_VENUE_UNKNOWN",
    text,
    `names the venue ${venue}, which is none of the known ones: send the symbol itself, or give it to the fund's map`,
  );
}

function canonical(sent: string, text: string): Translated {
  const isSymbol = symbolText.safeParse(sent).success;
  return isSymbol ? { symbol: sent } : denied("WEBHOOK_SYMBOL_UNKNOWN", text, "is no symbol");
}

function pair(ticker: string, text: string): Translated {
  if (ticker.endsWith(".P")) {
    return denied("WEBHOOK_SYMBOL_PERPETUAL", text, "is a perpetual future: alert on the spot pair, without .P");
  }
  const fitting = quoteCurrencies.filter((quote) => ticker.length > quote.length && ticker.endsWith(quote));
  const quote = fitting.reduce((longest, one) => (one.length > longest.length ? one : longest), "");
  if (quote === "" || ticker.includes(".")) {
    return denied("WEBHOOK_SYMBOL_UNKNOWN", text, "ends with no known quote currency: give it to the fund's map");
  }
  return { symbol: `${ticker.slice(0, -quote.length)}-${quote}` };
}

function denied(code: SymbolDenialCode, text: string, what: string): SymbolDenial {
  return { code, detail: `symbol: ${JSON.stringify(text.slice(0, 64))} ${what}.` };
}
