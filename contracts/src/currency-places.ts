// How many digits after the point a currency is paid with, as ISO 4217 has it; what is not named here is paid in hundredths. Coins are no currencies there.

const named: readonly (readonly [number, string])[] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [8, "BTC ETH LTC SOL USDC USDT XRP"],
];
const places: ReadonlyMap<string, number> = new Map(
  named.flatMap(([count, currencies]) => currencies.split(" ").map((currency) => [currency, count] as const)),
);

export function currencyPlaces(currency: string): number {
  return places.get(currency) ?? 2;
}
