// Inputs of news_spike: unique stories of the newest 24 hours and of the thirty windows before, of every held symbol, and of all of them together.
import { type Instant, minusMilliseconds, parse, plusMilliseconds } from "../../../../contracts/src/instant.ts";
import type { NewsItem } from "../../../../contracts/src/records/market.ts";
import { countDeviation, type NewsSpikeInput } from "../../../../core/watchdogs/news-spike.ts";
import type { Reader, Watched } from "../assigned.ts";
import { type Facts, heldSymbols } from "./facts.ts";

interface NewsConfig {
  readonly threshold: number;
  readonly windows: number;
}

interface Story {
  readonly at: Instant;
  readonly id: string;
}

const windowMs = 86_400_000;
/** Read again: news may come late, and may be withdrawn. */
const overlapMs = windowMs;
const itemsMax = 20_000;

export function newsReader<Config extends NewsConfig>(facts: Facts): Reader<NewsSpikeInput, Config> {
  /** By symbol: what was read so far. Asked again for what came since. */
  const read = new Map<string, { readonly until: Instant; readonly stories: readonly Story[] }>();

  async function storiesOf(symbol: string, at: Instant, windows: number): Promise<readonly Story[]> {
    const horizon = minusMilliseconds(at, (windows + 1) * windowMs);
    const before = read.get(symbol);
    const from = before === undefined ? horizon : minusMilliseconds(before.until, overlapMs);
    const items = await facts.ports.marketHistory.news(symbol, from, plusMilliseconds(at, 1), itemsMax);
    const kept = (before?.stories ?? []).filter((story) => story.at >= horizon && story.at < from);
    const stories = [...kept, ...items.map((item) => ({ at: parse(item.at), id: storyOf(item) }))];
    read.set(symbol, { until: at, stories });
    return stories;
  }

  return {
    async read(request) {
      const { at } = request;
      const held = await heldSymbols(facts);
      const watched: Watched<NewsSpikeInput>[] = [];
      const all = new Map<string, { readonly count: number; readonly windows: readonly number[] }>();
      const firm = request.config();
      for (const symbol of new Set([...held.values()].flatMap((symbols) => [...symbols]))) {
        all.set(symbol, countsOf(await storiesOf(symbol, at, firm.windows), at, firm.windows));
      }
      for (const [fundId, symbols] of held) {
        if (!request.isDue(fundId)) continue;
        for (const symbol of symbols) {
          const counts = all.get(symbol);
          if (counts === undefined) continue;
          watched.push({ scope: { fundId, symbol }, input: { ...counts, kind: "symbol", asOf: at } });
        }
      }
      if (request.isDue() && all.size > 0) watched.push({ scope: {}, input: aggregate([...all.values()], firm, at) });
      return watched;
    },
  };
}

/** Copies of one story are one. */
function storyOf(item: NewsItem): string {
  return item.story_id;
}

/** The newest window, and those before it, newest last. */
function countsOf(stories: readonly Story[], at: Instant, windows: number) {
  const seen = Array.from({ length: windows + 1 }, () => new Set<string>());
  for (const story of stories) {
    const age = Math.floor((at - story.at) / (windowMs * 1_000));
    if (age >= 0) seen[age]?.add(story.id);
  }
  const [newest = new Set<string>(), ...before] = seen;
  return { count: newest.size, windows: before.map(({ size }) => size).reverse() };
}

function aggregate(
  all: readonly { readonly count: number; readonly windows: readonly number[] }[],
  { threshold, windows }: NewsConfig,
  at: Instant,
): NewsSpikeInput {
  const alerting = all.filter((one) => {
    const deviation = countDeviation(one.count, one.windows);
    return deviation !== null && deviation.floored > threshold;
  }).length;
  const sums = Array.from({ length: windows }, (_unused, place) =>
    all.reduce((total, one) => total + (one.windows[place] ?? 0), 0),
  );
  const count = all.reduce((total, one) => total + one.count, 0);
  return { kind: "firm", count, windows: sums, alerting, tracked: all.length, asOf: at };
}
