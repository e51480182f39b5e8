// vpin: a tape of trades through bars and buckets, with the usual move of the whole tape or of the trailing bars.
import { z } from "zod";
import { standardDeviation } from "../../core/stats/moments.ts";
import {
  type Bucket,
  type BuyFraction,
  imbalanceOf,
  normalBuyFraction,
  pour,
  rollingDeviation,
  studentBuyFraction,
  timeBars,
  volumeBars,
  vpinOf,
} from "../../core/watchdogs/vpin-buckets.ts";
import { firstOrNull, indicesOf, numbers, type Solver, solver } from "./reports/solver.ts";

const tape = solver(
  {
    ts_ms: numbers,
    price: numbers,
    volume: numbers,
    bar: z.union([
      z.object({ type: z.literal("time"), ms: z.number().positive() }),
      z.object({ type: z.literal("volume"), size: z.number().positive() }),
    ]),
    bucket_volume: z.number().positive(),
    window_buckets: z.number().int().positive(),
    sigma: z.union([
      z.object({ mode: z.literal("global") }),
      z.object({ mode: z.literal("rolling"), bars: z.number(), min_bars: z.number() }),
    ]),
    cdf: z.string().default("normal"),
    df: z.number().default(0.25),
  },
  ({ ts_ms, price, volume, bar, bucket_volume, window_buckets, sigma, cdf, df }) => {
    const trades = ts_ms.map((atMs, index) => ({ atMs, price: price[index] ?? 0, volume: volume[index] ?? 0 }));
    const bars = bar.type === "time" ? timeBars(trades, bar.ms) : volumeBars(trades, bar.size);
    const changes = bars.slice(1).map(({ close }, index) => close - (bars[index]?.close ?? 0));
    const whole = standardDeviation(changes);
    const deviationAt = (index: number): number | null =>
      sigma.mode === "global" ? whole : rollingDeviation(changes.slice(0, index + 1), sigma.bars, sigma.min_bars);
    const fraction: BuyFraction = cdf === "normal" ? normalBuyFraction : studentBuyFraction(df);
    return poured(
      changes.flatMap((change, index) => {
        const deviation = deviationAt(index);
        if (deviation === null) return [];
        return [{ volume: bars[index + 1]?.volume ?? 0, deviation, buyFraction: fraction(change, deviation) }];
      }),
      { bars: bars.length, size: bucket_volume, window: window_buckets },
    );
  },
);

function poured(
  classified: readonly { readonly volume: number; readonly deviation: number; readonly buyFraction: number }[],
  { bars, size, window }: { readonly bars: number; readonly size: number; readonly window: number },
) {
  const buckets: Bucket[] = [];
  let partial: Bucket = { volume: 0, buy: 0 };
  for (const each of classified) {
    const next = pour(partial, each, size);
    buckets.push(...next.full);
    partial = next.partial;
  }
  const imbalances = buckets.map(imbalanceOf);
  const vpin = imbalances.map((_each, index) => vpinOf(imbalances.slice(0, index + 1), window));
  const above = indicesOf(vpin, (each) => each !== null && each > 0.4);
  return {
    n_bars: bars,
    bars_bucketed: classified.length,
    sigma_last: classified.at(-1)?.deviation ?? null,
    buy_fraction_last5: classified.slice(-5).map(({ buyFraction }) => buyFraction),
    bucket_buy: buckets.map(({ buy }) => buy),
    bucket_sell: buckets.map(({ volume, buy }) => volume - buy),
    vpin,
    first_bucket_above_0_4: firstOrNull(above),
    buckets_above_0_4: above.length,
  };
}

/** A table of expectations that no function of ours computes. */
const table = solver({ bars_per_bucket: numbers }, () => ({}));

export const vpinSolvers: readonly Solver[] = [tape, table];
