// How a price had moved by a moment: bars made of the minutes and hours that were kept when the prices were heard. The market itself is asked only about
// times of which nothing of that symbol was kept yet: what it says of yesterday may be another thing today.
//
//  1. Nothing that was heard after the moment is in a bar: the bar in which the moment lies is made of what was before it, and is not closed.
//  2. Where nobody listened there is no bar, and a bar of which a part was not listened to is cut.
import { barLengthUs, barNumber, barStart } from "../../../contracts/src/bar-intervals.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import type { ListReplayBarsRequest, ReplayBar, ReplayBars } from "../../../contracts/src/generated/svc/v1/replay.ts";
import {
  earlier,
  format,
  fromMicroseconds,
  type Instant,
  later,
  microsecondsPerSecond,
  plusMicroseconds,
} from "../../../contracts/src/instant.ts";
import { type Bar, type BarInterval, barInterval, listeningSymbol } from "../../../contracts/src/records/market.ts";
import type { GatheredBar, GatherQuery, MarketRecords } from "../../../ports/market-records.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { countMax, invalid, notFound, quoted } from "../risk-queries-arguments.ts";
import type { KeptMarket } from "./keep-market.ts";
import { minuteOf, minuteUs } from "./minute-bars.ts";
import { askedMoment } from "./replay-arguments.ts";

export type ReplayBarsPorts = Pick<ServicePorts, "clock" | "store" | "marketHistory" | "referenceData"> &
  Pick<KeptMarket, "running">;

const barsUsual = 500;
const hourUs = 60 * minuteUs;

interface Asked {
  readonly symbol: string;
  readonly interval: BarInterval;
  readonly at: Instant;
  readonly now: Instant;
  /** Of the oldest bar. */
  readonly from: Instant;
  readonly wanted: number;
}

export async function listReplayBars(
  ports: ReplayBarsPorts,
  request: ListReplayBarsRequest,
  signal: AbortSignal,
): Promise<ReplayBars> {
  const interval = barInterval.safeParse(request.interval === "" ? "1m" : request.interval).data;
  if (interval === undefined) {
    throw invalid(`interval is ${quoted(request.interval)}: give one of ${barInterval.options.join(", ")}.`);
  }
  const { symbol } = request;
  const wanted = countMax(request.count_max, barsUsual);
  const now = ports.clock.now();
  const at = askedMoment("at", request.at, now);
  const from = later(barStart(interval, barNumber(interval, at) - wanted + 1), fromMicroseconds(0));
  const asked: Asked = { symbol, interval, at, now, from, wanted };
  const { first, recorded } = await ports.store.transact("replay.look", (unit) =>
    recordedBars(ports, unit.market, asked),
  );
  if (first === undefined) {
    const { instruments } = await ports.referenceData.read();
    if (!instruments.some((one) => one.symbol === symbol)) throw notFound(`There is no instrument ${quoted(symbol)}.`);
  }
  const firstNumber = first === undefined ? Number.POSITIVE_INFINITY : barNumber(interval, first);
  const before =
    first === undefined || barStart(interval, firstNumber) > at ? undefined : barStart(interval, firstNumber);
  const history = before !== undefined && before <= from ? [] : await historyBars(ports, asked, before, signal);
  return { bars: [...history, ...recorded].slice(-wanted) };
}

async function recordedBars(
  { running }: ReplayBarsPorts,
  market: MarketRecords,
  asked: Asked,
): Promise<{ readonly first: Instant | undefined; readonly recorded: readonly ReplayBar[] }> {
  const { symbol, interval, at, now } = asked;
  const { first, lastHour } = await market.kept(symbol);
  const own = await gathered(market, symbol, asked, lastHour);
  const listened = await gathered(market, listeningSymbol, asked, lastHour);
  const minute = minuteOf(at);
  const live = running(symbol, minute);
  const half = live ?? (await market.minute(symbol, minute));
  // Of the minute that is going on all that is known has happened.
  const isOver = (untilSecond: number): boolean =>
    (live !== undefined && at >= now) || minute + untilSecond * microsecondsPerSecond <= at;
  const slices = (half?.slices ?? []).filter(({ untilSecond }) => isOver(untilSecond));
  const [opening, ending] = [slices[0], slices.at(-1)];
  if (half !== undefined && opening !== undefined && ending !== undefined) {
    const bucket = barNumber(interval, minute);
    const part: GatheredBar = {
      symbol,
      bucket,
      open: half.open,
      high: slices.reduce((most, { high }) => decimal.max(most, high), opening.high),
      low: slices.reduce((least, { low }) => decimal.min(least, low), opening.low),
      close: ending.close,
      quoteCount: slices.reduce((sum, { quoteCount }) => sum + quoteCount, 0),
      source: half.source,
      cut: false,
      minutes: 0,
    };
    own.set(bucket, together(own.get(bucket), part));
  }
  const bars = [...own.values()].sort((one, other) => one.bucket - other.bucket);
  return {
    first: first ?? (live === undefined ? undefined : minute),
    recorded: bars.map((bar) => shown(bar, listened.get(bar.bucket)?.minutes ?? 0, asked)),
  };
}

/** By their numbers: of hours as far as there are any, and of minutes from there on. */
async function gathered(
  market: MarketRecords,
  symbol: string,
  { interval, at, from, wanted }: Asked,
  lastHour: Instant | undefined,
): Promise<Map<number, GatheredBar>> {
  const lengthUs = barLengthUs[interval];
  const query = { symbol, lengthUs, originUs: barStart(interval, 0), countMax: wanted };
  const hoursEnd =
    lengthUs < hourUs || lastHour === undefined
      ? from
      : earlier(plusMicroseconds(lastHour, hourUs), fromMicroseconds(Math.floor(at / hourUs) * hourUs));
  const parts: GatherQuery[] = [
    { ...query, of: "hour", from, to: hoursEnd },
    { ...query, of: "minute", from: later(from, hoursEnd), to: minuteOf(at) },
  ];
  const bars = new Map<number, GatheredBar>();
  for (const part of parts) {
    if (part.from >= part.to) continue;
    for (const bar of await market.gather(part)) bars.set(bar.bucket, together(bars.get(bar.bucket), bar));
  }
  return bars;
}

/** What came first, and what came after it. */
function together(first: GatheredBar | undefined, next: GatheredBar): GatheredBar {
  if (first === undefined) return next;
  return {
    ...next,
    open: first.open,
    high: decimal.max(first.high, next.high),
    low: decimal.min(first.low, next.low),
    quoteCount: first.quoteCount + next.quoteCount,
    cut: first.cut || next.cut,
    minutes: first.minutes + next.minutes,
  };
}

function shown(bar: GatheredBar, listenedMinutes: number, { symbol, interval, at }: Asked): ReplayBar {
  const start = barStart(interval, bar.bucket);
  const end = barStart(interval, bar.bucket + 1);
  const minutes = (earlier(end, minuteOf(at)) - start) / minuteUs;
  return {
    symbol,
    interval,
    start: format(start),
    open: decimal.format(bar.open),
    high: decimal.format(bar.high),
    low: decimal.format(bar.low),
    close: decimal.format(bar.close),
    quote_count: bar.quoteCount,
    closed: end <= at,
    source: "recorded",
    cut: bar.cut || listenedMinutes < minutes,
    feed: bar.source,
  };
}

/** Of the market's past, before that moment: whole bars, and the one of `at` made of shorter ones that were over. */
async function historyBars(
  { marketHistory }: ReplayBarsPorts,
  { symbol, interval, at, from, wanted }: Asked,
  before: Instant | undefined,
  signal: AbortSignal,
): Promise<readonly ReplayBar[]> {
  const forming = barStart(interval, barNumber(interval, at));
  const wholeEnd = before === undefined ? forming : earlier(before, forming);
  const whole =
    wholeEnd <= from ? [] : (await marketHistory.bars(symbol, interval, from, wholeEnd, wanted, signal)).bars;
  const bars = whole.filter(({ closed }) => closed).map((bar) => ofHistory(bar, true));
  if (before !== undefined && before <= forming) return bars;
  const hoursEnd = barLengthUs[interval] > hourUs ? fromMicroseconds(Math.floor(at / hourUs) * hourUs) : forming;
  const parts: Bar[] = [];
  for (const [of, start, end] of [
    ["1h", forming, later(forming, hoursEnd)],
    ["1m", later(forming, hoursEnd), minuteOf(at)],
  ] as const) {
    if (start < end) parts.push(...(await marketHistory.bars(symbol, of, start, end, 1_000, signal)).bars);
  }
  const over = parts.filter(({ closed }) => closed);
  const [first, last] = [over[0], over.at(-1)];
  if (first === undefined || last === undefined) return bars;
  const prices = (name: "high" | "low"): decimal.Decimal[] => over.map((bar) => decimal.parse(bar[name]));
  const high = decimal.format(prices("high").reduce((most, price) => decimal.max(most, price)));
  const low = decimal.format(prices("low").reduce((least, price) => decimal.min(least, price)));
  const together = { symbol, interval, start: format(forming), open: first.open, high, low, close: last.close };
  return [...bars, ofHistory(together, false)];
}

function ofHistory(bar: Omit<Bar, "volume" | "closed" | "trade_count">, closed: boolean): ReplayBar {
  const { symbol, interval, start, open, high, low, close } = bar;
  const prices = { open, high, low, close };
  return {
    symbol,
    interval,
    start,
    ...prices,
    closed,
    source: "history",
    cut: false,
    quote_count: undefined,
    feed: undefined,
  };
}
