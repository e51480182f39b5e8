// What strategies see of the market: the newest price of every symbol from the bus, and the minutes before it from the market's history. Nothing is
// kept that could not be asked again, so a restart sees the same.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, minusMilliseconds, parse, plusMilliseconds, toUnixMs } from "../../contracts/src/instant.ts";
import type { Mark } from "../../contracts/src/records/market.ts";
import type { FundMode } from "../../contracts/src/records/values.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { isAhead } from "../../core/state/dated.ts";
import { createNewestMarks } from "../shared/newest-marks.ts";
import { followPriceSources } from "../shared/price-sources.ts";
import type { ServicePorts } from "../shared/service.ts";

type MarketViewPorts = Pick<
  ServicePorts,
  "store" | "bus" | "clock" | "marketHistory" | "referenceData" | "settings" | "log"
>;

export interface SeenPrice {
  readonly price: decimal.Decimal;
  readonly bid: decimal.Decimal;
  readonly ask: decimal.Decimal;
  /** Of an option. */
  readonly delta: decimal.Decimal | undefined;
  readonly at: Instant;
}

export interface MarketView {
  /** The newest price, unless it is too old to act on. */
  price(symbol: string): SeenPrice | undefined;
  /** The newest prices that funds of that mode may see, however old; by symbol. */
  marks(mode: FundMode): ReadonlyMap<string, SeenPrice>;
  /** Closes of the last minutes, oldest first, and the price now at the end; empty without both. */
  closes(symbol: string, countMax: number): Promise<readonly number[]>;
  /** What the symbol cost at that moment; undefined when nobody knows. */
  priceAt(symbol: string, at: Instant): Promise<number | undefined>;
  /** A corporate action changed the prices of all times. */
  forgetPast(): void;
  close(): Promise<void>;
}

const priceAgeMsMax = 10_000;
const minuteMs = 60_000;
const marksQueueMax = 10_000;

export async function openMarketView(ports: MarketViewPorts): Promise<MarketView> {
  const sources = await followPriceSources(ports);
  // Strategies of ours trade in PAPER funds.
  const seen = createNewestMarks<SeenPrice>(readMark, sources);
  /** The closes before this minute, asked once per minute. */
  const minutes = new Map<
    string,
    { readonly minute: number; readonly count: number; readonly closes: readonly number[] }
  >();
  const options = {
    subjects: [subjects.marketMarks.name],
    queueMax: marksQueueMax,
    overflow: "keep-newest-per-key",
  } as const;
  const listening = await ports.bus.listen(options, async ({ payload }) => {
    await sources.look(payload as Mark);
    seen.hear(payload as Mark, ports.clock.now());
  });

  function price(symbol: string): SeenPrice | undefined {
    const found = seen.paper.get(symbol);
    if (found === undefined || decimal.sign(found.bid) <= 0) return undefined;
    const now = ports.clock.now();
    return found.at < minusMilliseconds(now, priceAgeMsMax) || isAhead(found.at, now) ? undefined : found;
  }

  async function pastMinutes(symbol: string, count: number): Promise<readonly number[]> {
    const now = ports.clock.now();
    const minute = Math.floor(toUnixMs(now) / minuteMs);
    const kept = minutes.get(symbol);
    if (kept?.minute === minute && kept.count >= count) return kept.closes;
    const from = minusMilliseconds(now, (count + 1) * minuteMs);
    const past = await ports.marketHistory.closes(symbol, "1m", from, now, count + 2);
    const closes = past.closes
      .filter(({ start }) => Math.floor(toUnixMs(parse(start)) / minuteMs) < minute)
      .map(({ close }) => Number(close));
    minutes.set(symbol, { minute, count, closes });
    return closes;
  }

  return {
    price,
    marks: (mode) => (mode === "PAPER" ? seen.paper : seen.live),
    async closes(symbol, countMax) {
      const now = price(symbol);
      if (now === undefined) return [];
      const past = await pastMinutes(symbol, countMax);
      return [...past, decimal.toNumber(now.price)].slice(-countMax);
    },
    async priceAt(symbol, at) {
      // Bars that were over by then; the newest of them closed at most a minute before.
      const until = plusMilliseconds(minusMilliseconds(at, minuteMs), 1);
      const from = minusMilliseconds(at, 3 * minuteMs);
      const { closes } = await ports.marketHistory.closes(symbol, "1m", from, until, 4);
      const close = closes.at(-1)?.close;
      return close === undefined ? undefined : Number(close);
    },
    forgetPast: () => minutes.clear(),
    close: () => listening.close(),
  };
}

function readMark(mark: Mark, at: Instant): SeenPrice {
  const price = decimal.parse(mark.price);
  const bid = mark.bid === undefined ? price : decimal.parse(mark.bid);
  const ask = mark.ask === undefined ? price : decimal.parse(mark.ask);
  const delta = mark.option_risk === undefined ? undefined : decimal.parse(mark.option_risk.delta);
  return { price, bid, ask, delta, at };
}
