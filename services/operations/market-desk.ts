// The market desk: prices for people and for the public API. Quotes are the newest that the feed has brought, each with the moment at which it was
// true; bars and news come from the market's past.
import type {
  Bars,
  ListBarsRequest,
  ListNewsRequest,
  ListQuotesRequest,
  News,
  Quotes,
} from "../../contracts/src/generated/svc/v1/marketdesk.ts";
import * as instant from "../../contracts/src/instant.ts";
import { type BarInterval, barInterval, type Quote } from "../../contracts/src/records/market.ts";
import type { RpcService } from "../../ports/rpc.ts";
import type { ServicePorts } from "../service.ts";
import { countMax, invalid, notFound, quoted, sinceHours } from "./risk-desk-arguments.ts";

export type MarketDeskPorts = Pick<ServicePorts, "clock" | "marketHistory"> & {
  readonly newest: ReadonlyMap<string, Quote>;
};

const barsUsual = 500;
const newsUsual = 100;
const symbolsMax = 1_000;
const lengthMs: Readonly<Record<BarInterval, number>> = {
  "1m": 60_000,
  "5m": 300_000,
  "15m": 900_000,
  "1h": 3_600_000,
  "1d": 86_400_000,
};

export function marketDesk(ports: MarketDeskPorts): RpcService {
  return {
    name: "MarketDesk",
    handlers: {
      ListQuotes: (request: ListQuotesRequest) => listQuotes(ports, request),
      ListBars: (request: ListBarsRequest) => listBars(ports, request),
      ListNews: (request: ListNewsRequest) => listNews(ports, request),
    },
  };
}

/** In the order in which they were asked for; a symbol without a quote is left out. */
async function listQuotes({ newest }: MarketDeskPorts, { symbols }: ListQuotesRequest): Promise<Quotes> {
  if (symbols.length > symbolsMax) throw invalid(`That is more than ${symbolsMax} symbols: ask for fewer at once.`);
  const wanted = symbols.length === 0 ? [...newest.keys()] : [...new Set(symbols)];
  return { quotes: wanted.flatMap((symbol) => newest.get(symbol) ?? []) };
}

async function listBars(ports: MarketDeskPorts, request: ListBarsRequest): Promise<Bars> {
  const interval = barInterval.safeParse(request.interval).data;
  if (interval === undefined) {
    throw invalid(`interval is ${quoted(request.interval)}: give one of ${barInterval.options.join(", ")}.`);
  }
  const wanted = countMax(request.count_max, barsUsual);
  const now = ports.clock.now();
  const start =
    request.start === undefined ? instant.minusMilliseconds(now, lengthMs[interval] * wanted) : startOf(request.start);
  const { known, bars } = await ports.marketHistory.bars(request.symbol, interval, start, now, wanted);
  if (!known) throw notFound(`The market does not know ${quoted(request.symbol)}.`);
  return { bars: bars.map((bar) => ({ ...bar, trade_count: undefined })) };
}

/** A moment, or the beginning of a date in UTC. */
function startOf(text: string): instant.Instant {
  const at = instant.tryParse(text) ?? instant.tryParse(`${text}T00:00:00Z`);
  if (at !== undefined) return at;
  throw invalid(`start is ${quoted(text)}: give a date such as 2026-11-15 or a time such as 2026-11-15T13:30:00Z.`);
}

async function listNews(ports: MarketDeskPorts, request: ListNewsRequest): Promise<News> {
  const now = ports.clock.now();
  const from = sinceHours(request.hours, now);
  const wanted = countMax(request.count_max, newsUsual);
  return { items: [...(await ports.marketHistory.news(request.symbol, from, now, wanted))] };
}
