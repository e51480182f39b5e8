// What a question cost, exactly, from counted tokens and the configured prices.
import * as decimal from "../../contracts/src/decimal.ts";

interface ModelPrices {
  readonly input_usd_per_million?: number | undefined;
  readonly output_usd_per_million?: number | undefined;
}

const million = decimal.fromInteger(1_000_000n);

/** Decimal text in USD, or undefined when a price or a count is unknown. */
export function modelCost(
  prices: ModelPrices,
  inputTokens: number | undefined,
  outputTokens: number | undefined,
): string | undefined {
  const { input_usd_per_million: input, output_usd_per_million: output } = prices;
  if (input === undefined || output === undefined || inputTokens === undefined || outputTokens === undefined) {
    return undefined;
  }
  const costOf = (tokens: number, price: number): decimal.Decimal =>
    decimal.divide(
      decimal.multiply(decimal.fromInteger(BigInt(tokens)), decimal.fromNumber(price), "ceiling"),
      million,
      "ceiling",
    );
  return decimal.format(decimal.add(costOf(inputTokens, input), costOf(outputTokens, output)));
}
