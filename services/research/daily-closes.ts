// The last closed daily bars of symbols, as the market's history answers them. They are asked for once a minute at most, however many people look, because
// the market may compute each of them.
import { fromUnixMs, type Instant, minusMilliseconds, toUnixMs } from "../../contracts/src/instant.ts";
import type { DailyCloses } from "../../core/stats/return-correlations.ts";
import type { ServicePorts } from "../shared/service.ts";

type ClosesPorts = Pick<ServicePorts, "clock" | "marketHistory">;

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Symbols and lengths that are remembered. */
const keptMax = 2_000;
/** A market that rests at weekends and on holidays has its bars within this many days. */
const restingDays = (bars: number): number => Math.ceil(bars * 1.5) + 10;

export interface DailyClosesReader {
  /** Oldest first, at most so many; fewer of a symbol that has no more, and none of one that the market does not know. */
  last(symbol: string, bars: number): Promise<DailyCloses>;
}

export function dailyClosesReader({ clock, marketHistory }: ClosesPorts): DailyClosesReader {
  const kept = new Map<string, { readonly minute: number; readonly closes: DailyCloses }>();

  /** Of days that are over. */
  async function within(symbol: string, days: number, today: Instant): Promise<DailyCloses> {
    const { closes } = await marketHistory.closes(symbol, "1d", minusMilliseconds(today, days * dayMs), today, days);
    return new Map(closes.map(({ start, close }) => [start, Number(close)]));
  }

  return {
    async last(symbol, bars) {
      const now = clock.now();
      const minute = Math.floor(toUnixMs(now) / minuteMs);
      const key = `${bars} ${symbol}`;
      const known = kept.get(key);
      if (known?.minute === minute) return known.closes;
      const today = fromUnixMs(Math.floor(toUnixMs(now) / dayMs) * dayMs);
      let closes = await within(symbol, bars, today);
      if (closes.size < bars) closes = await within(symbol, restingDays(bars), today);
      closes = new Map([...closes].slice(-bars));
      if (kept.size >= keptMax) kept.clear();
      kept.set(key, { minute, closes });
      return closes;
    },
  };
}
