// The market queries: prices for people and for the public API. Quotes are the newest that the feed has brought, each with the moment at which it was
// true; bars and news come from the market's past. Those cost more to make than to ask for, and this process keeps the stops: they are made one
// at a time for the public and one at a time for everybody else, and not at all once nobody waits for them any more.
import { barLengthUs } from "../../contracts/src/bar-intervals.ts";
import type {
  Bars,
  ListBarsRequest,
  ListNewsRequest,
  ListQuotesRequest,
  News,
  Quotes,
} from "../../contracts/src/generated/svc/v1/marketdesk.ts";
import * as instant from "../../contracts/src/instant.ts";
import { barInterval, type Quote } from "../../contracts/src/records/market.ts";
import type { RpcCall, RpcService } from "../../ports/rpc.ts";
import type { ServicePorts } from "../shared/service.ts";
import { countMax, invalid, notFound, pagedLimit, quoted, sinceHours } from "./risk-queries-arguments.ts";
import { takeTurns } from "./take-turns.ts";

type MarketQueriesPorts = Pick<ServicePorts, "clock" | "marketHistory" | "referenceData"> & {
  readonly newest: ReadonlyMap<string, Quote>;
};

/** Whoever asks here asks for somebody who did not log in. */
const publicActor = "service:gateway";
/** All of them are answered well within the time that the gateway waits. */
const waitingMax = 2;
const barsUsual = 500;
const newsUsual = 100;
const symbolsMax = 1_000;

type Call = Pick<RpcCall, "identity" | "signal">;

export function marketQueries(ports: MarketQueriesPorts): RpcService {
  const forPublic = takeTurns(waitingMax, "questions of the public about the market's past");
  const forOthers = takeTurns(waitingMax, "questions about the market's past");
  const turnsOf = ({ identity }: Call) => (identity.actor === publicActor ? forPublic : forOthers);
  return {
    name: "MarketDesk",
    handlers: {
      ListQuotes: (request: ListQuotesRequest) => listQuotes(ports, request),
      ListBars: (request: ListBarsRequest, call: Call) =>
        turnsOf(call)(call.signal, () => listBars(ports, request, call.signal)),
      ListNews: (request: ListNewsRequest, call: Call) => turnsOf(call)(call.signal, () => listNews(ports, request)),
    },
  };
}

/** In the order in which they were asked for; a symbol without a quote is left out. */
async function listQuotes({ newest }: MarketQueriesPorts, { symbols }: ListQuotesRequest): Promise<Quotes> {
  if (symbols.length > symbolsMax) throw invalid(`That is more than ${symbolsMax} symbols: ask for fewer at once.`);
  const wanted = symbols.length === 0 ? [...newest.keys()] : [...new Set(symbols)];
  return { quotes: wanted.flatMap((symbol) => newest.get(symbol) ?? []) };
}

async function listBars(ports: MarketQueriesPorts, request: ListBarsRequest, signal: AbortSignal): Promise<Bars> {
  const interval = barInterval.safeParse(request.interval).data;
  if (interval === undefined) {
    throw invalid(`interval is ${quoted(request.interval)}: give one of ${barInterval.options.join(", ")}.`);
  }
  const wanted = countMax(request.count_max, barsUsual);
  const now = ports.clock.now();
  const end = request.end === undefined ? now : momentOf("end", request.end);
  const start =
    request.start === undefined
      ? instant.plusMicroseconds(end, -barLengthUs[interval] * wanted)
      : momentOf("start", request.start);
  if (request.end !== undefined && start >= end)
    throw invalid("start is not before end: there is no time between them.");
  const { instruments } = await ports.referenceData.read();
  if (!instruments.some(({ symbol }) => symbol === request.symbol)) {
    throw notFound(`There is no instrument ${quoted(request.symbol)}.`);
  }
  // One more than wanted tells whether there are more.
  const until = end < now ? end : now;
  const found = await ports.marketHistory.bars(request.symbol, interval, start, until, wanted + 1, signal);
  if (!found.known) throw notFound(`The market does not know ${quoted(request.symbol)}.`);
  const next = found.bars[wanted];
  return {
    bars: found.bars.slice(0, wanted).map((bar) => ({ ...bar, trade_count: undefined })),
    ...(next !== undefined && { next_start: next.start }),
  };
}

/** A moment, or the beginning of a date in UTC. */
function momentOf(name: string, text: string): instant.Instant {
  const at = instant.tryParse(text) ?? instant.tryParse(`${text}T00:00:00Z`);
  if (at !== undefined && at < instant.fromUnixMs(0)) {
    throw invalid(`${name} is ${quoted(text)}: the market's past begins at 1970-01-01.`);
  }
  if (at !== undefined) return at;
  throw invalid(`${name} is ${quoted(text)}: give a date such as 2026-11-15 or a time such as 2026-11-15T13:30:00Z.`);
}

async function listNews(ports: MarketQueriesPorts, request: ListNewsRequest): Promise<News> {
  const now = ports.clock.now();
  const from = sinceHours(request.hours, now);
  const wanted = countMax(request.count_max, newsUsual, pagedLimit);
  if (request.after_item === undefined) {
    return { items: [...(await ports.marketHistory.news(request.symbol, from, now, wanted))] };
  }
  const mark = newsMark(request.after_item);
  // Whatever shares the last one's moment is asked for once more, and there may be many.
  for (let asked = wanted + 1; ; asked *= 2) {
    const found = await ports.marketHistory.news(request.symbol, from, instant.plusMicroseconds(mark.at, 1), asked);
    const items = found.filter(({ at, news_id: id }) => at < mark.text || (at === mark.text && id > mark.newsId));
    if (items.length >= wanted || found.length < asked) return { items: items.slice(0, wanted) };
  }
}

/** A moment and an id, with a slash between them. */
function newsMark(text: string): { readonly at: instant.Instant; readonly text: string; readonly newsId: string } {
  const slash = text.indexOf("/");
  const at = slash < 0 ? undefined : instant.tryParse(text.slice(0, slash));
  if (at === undefined) {
    throw invalid(
      `after is ${quoted(text)}: give at and news_id of the last item that you have, with a slash between them.`,
    );
  }
  return { at, text: instant.format(at), newsId: text.slice(slash + 1) };
}
