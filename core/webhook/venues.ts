// The venues and quote currencies that alerts name, as data. A venue that is not here is refused by name: which kind of market it is would be a guess.

/** Pairs are written without a separator there: BTCUSDT. */
export const cryptoVenues: ReadonlySet<string> = new Set([
  "BINANCE",
  "BINANCEUS",
  "BITFINEX",
  "BITGET",
  "BITSTAMP",
  "BYBIT",
  "COINBASE",
  "CRYPTOCOM",
  "GATEIO",
  "GEMINI",
  "HTX",
  "KRAKEN",
  "KUCOIN",
  "MEXC",
  "OKX",
]);

/** Tickers stand there as they are: AAPL, BRK.B. */
export const equityVenues: ReadonlySet<string> = new Set(["AMEX", "ARCA", "BATS", "CBOE", "NASDAQ", "NYSE", "OTC"]);

/**
 * What a crypto pair may end with; the longest that fits is the quote. TUSD, BUSD and GUSD are left out on purpose: with them DOTUSD, BNBUSD and
 * DOGUSD would read as DO-TUSD, BN-BUSD and DO-GUSD. Who trades against one of them writes the pair into the fund's map.
 */
export const quoteCurrencies: readonly string[] = [
  "FDUSD",
  "USDT",
  "USDC",
  "USD",
  "EUR",
  "GBP",
  "JPY",
  "AUD",
  "CAD",
  "CHF",
  "TRY",
  "BRL",
  "KRW",
  "DAI",
  "BTC",
  "ETH",
  "BNB",
];
