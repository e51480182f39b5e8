// Inputs of vpin: bars of the quotes that come in, begun from bars of whole minutes where they are as long, and the volume of an average day.
import { fromMicroseconds, type Instant, minusMilliseconds, parse } from "../../../../contracts/src/instant.ts";
import type { Quote } from "../../../../contracts/src/records/market.ts";
import type { VpinBar, VpinInput } from "../../../../core/watchdogs/vpin.ts";
import { type LoopPorts, startLoop } from "../../../shared/loop.ts";
import type { Reader, Watched } from "../assigned.ts";
import { type Facts, heldSymbols } from "./facts.ts";

interface BarConfig {
  readonly bar_s: number;
  readonly window_buckets: number;
}

interface OpenBar {
  readonly start: number;
  readonly close: number;
  readonly volume: number;
  readonly at: Instant;
}

interface Series {
  readonly barS: number;
  open: OpenBar | undefined;
  bars: VpinBar[];
  /** The session's volume at the last quote. */
  traded: number | undefined;
  quotedAt: Instant | null;
}

const sampleEveryMs = 250;
const barsMax = 3_000;
const dayMs = 86_400_000;
const daysAveraged = 5;
const historyBarsMax = 600;

export function vpinReader<Config extends BarConfig>(facts: Facts, ports: LoopPorts): Reader<VpinInput, Config> {
  const series = new Map<string, Series>();
  const daily = new Map<string, { readonly day: number; readonly volume: number | null }>();
  const sampling = startLoop({
    ports,
    what: "the sampling of volumes",
    firstAfterMs: sampleEveryMs,
    async run() {
      for (const [key, one] of series) take(one, facts.newest.get(symbolOf(key)));
      return sampleEveryMs;
    },
  });

  /** The volume of an average day, of the last whole ones. */
  async function dailyVolume(symbol: string, at: Instant): Promise<number | null> {
    const day = Math.floor(at / (dayMs * 1_000));
    const known = daily.get(symbol);
    if (known?.day === day) return known.volume;
    const midnight = fromMicroseconds(day * dayMs * 1_000);
    const from = minusMilliseconds(midnight, daysAveraged * dayMs);
    const { bars } = await facts.ports.marketHistory.bars(symbol, "1d", from, midnight, daysAveraged + 1);
    const volumes = bars.map(({ volume }) => Number(volume)).filter((volume) => volume > 0);
    const mean = volumes.length === 0 ? null : volumes.reduce((sum, one) => sum + one, 0) / volumes.length;
    daily.set(symbol, { day, volume: mean });
    return mean;
  }

  async function begin(symbol: string, barS: number, at: Instant): Promise<Series> {
    const begun: Series = { barS, open: undefined, bars: [], traded: undefined, quotedAt: null };
    if (barS !== 60) return begun;
    const from = minusMilliseconds(at, historyBarsMax * 60_000);
    const { bars } = await facts.ports.marketHistory.bars(
      symbol,
      "1m",
      from,
      minusMilliseconds(at, 60_000),
      historyBarsMax,
    );
    begun.bars = bars.map(({ start, close, volume }) => ({
      at: parse(start),
      close: Number(close),
      volume: Number(volume),
    }));
    return begun;
  }

  async function inputOf(symbol: string, barS: number, at: Instant): Promise<VpinInput> {
    const key = keyOf(symbol, barS);
    const one = series.get(key) ?? (await begin(symbol, barS, at));
    series.set(key, one);
    take(one, facts.newest.get(symbol));
    return { bars: one.bars, dailyVolume: await dailyVolume(symbol, at), quotedAt: one.quotedAt };
  }

  return {
    async read(request) {
      const watched: Watched<VpinInput>[] = [];
      const wanted = new Set<string>();
      for (const [fundId, symbols] of await heldSymbols(facts)) {
        const barS = request.config(fundId).bar_s;
        for (const symbol of symbols) wanted.add(keyOf(symbol, barS));
        if (!request.isDue(fundId)) continue;
        for (const symbol of symbols) {
          watched.push({ scope: { fundId, symbol }, input: await inputOf(symbol, barS, request.at) });
        }
      }
      for (const key of series.keys()) if (!wanted.has(key)) series.delete(key);
      return watched;
    },
    stop: sampling.stop,
  };
}

const keyOf = (symbol: string, barS: number): string => `${barS} ${symbol}`;
const symbolOf = (key: string): string => key.slice(key.indexOf(" ") + 1);

/** One quote further: what was traded since the one before belongs to the bar that is open now. */
function take(one: Series, quote: Quote | undefined): void {
  if (quote === undefined) return;
  const at = parse(quote.quoted_at);
  if (one.quotedAt !== null && at <= one.quotedAt) return;
  one.quotedAt = at;
  const close = Number(quote.last ?? quote.bid);
  const total = Number(quote.volume ?? "0");
  const traded = one.traded === undefined || total < one.traded ? 0 : total - one.traded;
  one.traded = total;
  const start = Math.floor(at / (one.barS * 1_000_000));
  if (one.open !== undefined && one.open.start !== start) {
    if (one.open.volume > 0) one.bars.push({ at: one.open.at, close: one.open.close, volume: one.open.volume });
    if (one.bars.length > barsMax) one.bars.splice(0, one.bars.length - barsMax);
    one.open = undefined;
  }
  one.open = {
    start,
    close,
    volume: (one.open?.volume ?? 0) + traded,
    at: fromMicroseconds(start * one.barS * 1_000_000),
  };
}
