// What alerts call an instrument and what it is here, one row each; and that nothing is ever guessed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { translateSymbol } from "./translate-symbol.ts";
import { cryptoVenues, equityVenues, quoteCurrencies } from "./venues.ts";

describe("an alert's symbol becomes ours", () => {
  it.each([
    ["BINANCE:BTCUSDT", "BTC-USDT"],
    ["COINBASE:BTCUSD", "BTC-USD"],
    ["KRAKEN:ETHBTC", "ETH-BTC"],
    ["BITSTAMP:BTCEUR", "BTC-EUR"],
    ["GEMINI:SOLUSD", "SOL-USD"],
    ["BYBIT:USDCUSDT", "USDC-USDT"],
    ["OKX:USDTUSD", "USDT-USD"],
    ["BINANCE:1000PEPEUSDT", "1000PEPE-USDT"],
    ["BINANCE:BTCFDUSD", "BTC-FDUSD"],
    // With TUSD, BUSD and GUSD among the quotes these three would be other pairs.
    ["KRAKEN:DOTUSD", "DOT-USD"],
    ["COINBASE:BNBUSD", "BNB-USD"],
    ["GEMINI:DOGUSD", "DOG-USD"],
    ["NASDAQ:AAPL", "AAPL"],
    ["NYSE:BRK.B", "BRK.B"],
    ["AMEX:SPY", "SPY"],
    ["nasdaq:aapl", "AAPL"],
    ["AAPL", "AAPL"],
    ["BTC-USD", "BTC-USD"],
    ["BRK.B", "BRK.B"],
  ])("%s is %s", (text, symbol) => {
    expect(translateSymbol(text)).toEqual({ symbol });
  });
});

describe("what cannot be read with certainty is refused by name", () => {
  it.each([
    ["CME_MINI:ES1!", "WEBHOOK_SYMBOL_CONTINUOUS"],
    ["NQ1!", "WEBHOOK_SYMBOL_CONTINUOUS"],
    ["NYMEX_DL:CL1!", "WEBHOOK_SYMBOL_CONTINUOUS"],
    ["NASDAQ_DLY:AAPL", "WEBHOOK_FEED_DELAYED"],
    ["NYSE_DL:IBM", "WEBHOOK_FEED_DELAYED"],
    ["BYBIT:ETHUSDT.P", "WEBHOOK_SYMBOL_PERPETUAL"],
    ["XETR:SAP", "WEBHOOK_VENUE_UNKNOWN"],
    ["FOO:ETHUSDT.P", "WEBHOOK_VENUE_UNKNOWN"],
    ["NASDAQ:AAPL/NASDAQ:MSFT", "WEBHOOK_SYMBOL_UNKNOWN"],
    ["NASDAQ:AAPL-NASDAQ:MSFT", "WEBHOOK_SYMBOL_UNKNOWN"],
    ["1/NASDAQ:AAPL", "WEBHOOK_SYMBOL_UNKNOWN"],
    ["BINANCE:USDT", "WEBHOOK_SYMBOL_UNKNOWN"],
    ["BINANCE:BTCXYZ", "WEBHOOK_SYMBOL_UNKNOWN"],
    ["BINANCE:", "WEBHOOK_SYMBOL_UNKNOWN"],
    [":AAPL", "WEBHOOK_SYMBOL_UNKNOWN"],
    ["", "WEBHOOK_SYMBOL_UNKNOWN"],
    ["AAPL\n", "WEBHOOK_SYMBOL_UNKNOWN"],
  ])("%j is %s", (text, code) => {
    expect(translateSymbol(text)).toMatchObject({ code });
  });
});

describe("the fund's map", () => {
  it("is asked first, and by the text as it was sent", () => {
    const map = { "CME_MINI:ES1!": "ESZ6", "BINANCE:BTCTUSD": "BTC-TUSD" };
    expect(translateSymbol("CME_MINI:ES1!", map)).toEqual({ symbol: "ESZ6" });
    expect(translateSymbol("BINANCE:BTCTUSD", map)).toEqual({ symbol: "BTC-TUSD" });
    expect(translateSymbol("NASDAQ:AAPL", map)).toEqual({ symbol: "AAPL" });
  });

  it("has no members that nobody put there", () => {
    expect(translateSymbol("constructor", {})).toEqual({ symbol: "CONSTRUCTOR" });
    expect(translateSymbol("__proto__", {})).toMatchObject({ code: "WEBHOOK_SYMBOL_UNKNOWN" });
  });
});

const base = fc.stringMatching(/^[A-Z]{2,6}$/);

describe("whatever is sent", () => {
  it("gets a symbol in capitals or a denial, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        const translated = translateSymbol(text);
        if ("symbol" in translated) expect(translated.symbol).toMatch(/^[A-Z0-9][A-Z0-9 ._-]*$/);
        else expect(translated.detail).toContain("symbol:");
      }),
    );
  });

  it("a pair keeps all of its letters, in their order", () => {
    fc.assert(
      fc.property(fc.constantFrom(...cryptoVenues), base, fc.constantFrom(...quoteCurrencies), (venue, one, quote) => {
        const translated = translateSymbol(`${venue}:${one}${quote}`);
        expect("symbol" in translated && translated.symbol.replace("-", "")).toBe(`${one}${quote}`);
      }),
    );
  });

  it("an equity is its bare ticker", () => {
    fc.assert(
      fc.property(fc.constantFrom(...equityVenues), base, (venue, ticker) => {
        expect(translateSymbol(`${venue}:${ticker}`)).toEqual({ symbol: ticker });
      }),
    );
  });
});
