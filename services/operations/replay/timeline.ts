// What happened to a fund, in the order in which we learned of it: entries of the audit log, news as they were heard, and what its strategies said. Each
// source is read behind the same mark and they are merged, a page at a time.
//
//  1. Nothing that was recorded after `to` is told, and of nothing what became of it: an entry says what was known when it was written.
//  2. What concerns the firm is in every fund's; what is about a strategy or a halt of another fund is not.
//  3. A page is as long as was asked for, unless there is no more.
import {
  type ListTimelineRequest,
  Timeline,
  type TimelineEvent,
} from "../../../contracts/src/generated/svc/v1/replay.ts";
import { format, type Instant, parse, tryParse } from "../../../contracts/src/instant.ts";
import { readEntry } from "../../../core/audit/entry.ts";
import type { KeptNews } from "../../../ports/market-records.ts";
import type { ReplayQueries, SaidSignal, TimelineEntry } from "../../../ports/replay-queries.ts";
import type { EncodedAnswer } from "../../../ports/rpc.ts";
import { mustKnowFund } from "../../shared/must-know-fund.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { fundId as askedFund, countMax, invalid, quoted } from "../risk-queries-arguments.ts";
import { askedPeriod, type Period } from "./replay-arguments.ts";
import { createSlices, type Slices } from "./slices.ts";
import { actionsOf, kindOf, type TimelineKind, timelineKinds } from "./timeline-kinds.ts";
import { happenedAt, namesOf, type Payload, partAt, summaryOf, textAt } from "./timeline-words.ts";

export type TimelinePorts = Pick<ServicePorts, "clock" | "timers" | "stopwatch" | "store" | "referenceData"> & {
  readonly replayQueries: ReplayQueries;
};

const countUsual = 100;
/** One more than a page of HTTP, which tells whether there is another. */
const countLimit = 501;
/** Lines of a source that are read at once, however short the page is. */
const linesMin = 50;

/** Of one moment entries stand first, then news, then what strategies said. */
type Rank = 0 | 1 | 2;

interface Mark {
  readonly at: Instant;
  readonly rank: Rank;
  /** Of an entry. */
  readonly sequence?: number;
  /** Of news. */
  readonly newsId?: string;
  readonly signal?: { readonly strategyId: string; readonly symbol: string };
}

interface Line {
  readonly mark: Mark;
  /** Undefined where it is about another fund, or of a kind that was not asked for. */
  readonly event: TimelineEvent | undefined;
}

interface Asked extends Period {
  readonly slices: Slices;
  readonly fundId: string;
  readonly kinds: ReadonlySet<TimelineKind>;
  readonly count: number;
  /** Strategies of other funds. */
  readonly others: ReadonlySet<string>;
}

/** As it goes out: what a page weighs is written in slices as well. */
export async function encodedTimeline(
  ports: TimelinePorts,
  request: ListTimelineRequest,
  signal: AbortSignal,
): Promise<EncodedAnswer> {
  const slices = createSlices(ports, signal);
  const { events } = await listTimeline(ports, request, signal, slices);
  const parts: Uint8Array[] = [];
  for (const event of events) {
    await slices.next();
    parts.push(Timeline.encode({ events: [event] }).finish());
  }
  const encoded = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    encoded.set(part, at);
    at += part.length;
  }
  return { encoded };
}

export async function listTimeline(
  ports: TimelinePorts,
  request: ListTimelineRequest,
  signal: AbortSignal,
  slices = createSlices(ports, signal),
): Promise<Timeline> {
  const fundId = askedFund(request.fund_id);
  const { denied: isDenied } = request;
  const named = askedKinds(request.kinds);
  const kinds = isDenied ? new Set([...named].filter((kind) => kind === "decision")) : named;
  const period = askedPeriod(request.from, request.to, ports.clock.now());
  const count = countMax(request.count_max, countUsual, countLimit);
  await mustKnowFund(ports, fundId);
  const { funds } = await ports.referenceData.read();
  const others = new Set(funds.filter((fund) => fund.fund_id !== fundId).flatMap(({ strategies }) => strategies));
  const asked: Asked = { ...period, fundId, kinds, count: Math.max(count, linesMin), others, slices };
  const events: TimelineEvent[] = [];
  let after = request.after_event_id === undefined ? undefined : await markOf(ports, request.after_event_id);
  for (;;) {
    const lines = await readLines(ports, asked, after);
    const found = lines.flatMap(({ event }) => event ?? []).filter(({ code }) => !isDenied || code !== undefined);
    events.push(...found.slice(0, count - events.length));
    after = lines.at(-1)?.mark;
    if (events.length >= count || lines.length < asked.count) return { events };
    await slices.next();
  }
}

function askedKinds(text: string | undefined): ReadonlySet<TimelineKind> {
  if (text === undefined || text === "") return new Set(timelineKinds);
  return new Set(
    text.split(",").map((one) => {
      const kind = timelineKinds.find((known) => known === one.trim());
      if (kind !== undefined) return kind;
      throw invalid(`kinds names ${quoted(one)}: there are ${timelineKinds.join(", ")}.`);
    }),
  );
}

/** The next so many lines of all sources together. */
async function readLines(ports: TimelinePorts, asked: Asked, after: Mark | undefined): Promise<readonly Line[]> {
  const { kinds, count } = asked;
  const own = [...entryLines(ports, asked, after), newsLines(ports, asked, after), signalLines(ports, asked, after)];
  const actions = [...kinds].flatMap((kind) => actionsOf[kind]);
  const sources = await Promise.all(actions.length === 0 ? own.slice(1) : own);
  return sources.flat().sort(byMark).slice(0, count);
}

function byMark({ mark: one }: Line, { mark: other }: Line): number {
  if (one.at !== other.at) return one.at - other.at;
  if (one.rank !== other.rank) return one.rank - other.rank;
  if (one.sequence !== undefined && other.sequence !== undefined) return one.sequence - other.sequence;
  return nameOf(one) < nameOf(other) ? -1 : 1;
}

const nameOf = ({ newsId = "", signal }: Mark): string => newsId || `${signal?.strategyId} ${signal?.symbol}`;

/** What follows the mark in a source: of its moment as well, where that source stands behind the mark's. */
function behind(
  after: Mark | undefined,
  rank: Rank,
  from: Instant,
): { readonly from: Instant; readonly isSame: boolean } {
  if (after === undefined) return { from, isSame: false };
  if (after.rank === rank) return { from: after.at, isSame: true };
  return { from: (after.rank < rank ? after.at : after.at + 1) as Instant, isSame: false };
}

function entryLines(ports: TimelinePorts, asked: Asked, after: Mark | undefined): readonly Promise<readonly Line[]>[] {
  const { fundId, to, count, kinds } = asked;
  const { from, isSame } = behind(after, 0, asked.from);
  const actions = [...new Set([...kinds].flatMap((kind) => actionsOf[kind]))];
  const mark = isSame && after?.sequence !== undefined ? { after: { at: after.at, sequence: after.sequence } } : {};
  const reading = async (): Promise<readonly Line[]> => {
    const entries = await ports.replayQueries.entries({ fundId, actions, from, to, ...mark, countMax: count });
    return linesOfEntries(ports, asked, entries);
  };
  return actions.length === 0 ? [Promise.resolve([])] : [reading()];
}

async function linesOfEntries(
  { replayQueries }: TimelinePorts,
  asked: Asked,
  entries: readonly TimelineEntry[],
): Promise<readonly Line[]> {
  const read: { readonly entry: TimelineEntry; readonly data: Payload; readonly payload: Payload }[] = [];
  for (const entry of entries) {
    await asked.slices.next();
    const data: Payload = readEntry(entry.text)?.data ?? {};
    read.push({ entry, data, payload: partAt(data, "payload") });
  }
  const steps = read.filter(({ entry }) => entry.action === "halt.step");
  const haltIds = steps.flatMap(({ payload }) => textAt(payload, "halt_id") ?? []);
  const scopes = haltIds.length === 0 ? new Map() : await replayQueries.haltScopes(haltIds);
  const lines: Line[] = [];
  for (const { entry, data, payload } of read) {
    await asked.slices.next();
    const scope = scopes.get(textAt(payload, "halt_id") ?? "");
    const isOthers =
      (scope !== undefined && scope.severity !== "FIRM_HALT" && scope.fundId !== "" && scope.fundId !== asked.fundId) ||
      asked.others.has(scope?.strategyId ?? namesOf(entry.action, payload).strategyId ?? "");
    const mark: Mark = { at: entry.at, rank: 0, sequence: entry.sequence };
    lines.push({ mark, event: isOthers ? undefined : eventOf(entry, data, payload, asked.kinds) });
  }
  return lines;
}

/** Logs that follow each other have a stretch of numbers each. */
const logSpan = 2 ** 40;

function eventOf(
  { at, action, eventId, sequence, isCurrent }: TimelineEntry,
  data: Payload,
  payload: Payload,
  kinds: ReadonlySet<TimelineKind>,
): TimelineEvent | undefined {
  const kind = kindOf(action, payload);
  if (kind === undefined || !kinds.has(kind)) return undefined;
  const names = namesOf(action, payload);
  return {
    event_id: eventId,
    at: format(at),
    happened_at: happenedAt(payload) ?? textAt(data, "at") ?? format(at),
    kind,
    symbol: names.symbol,
    strategy_id: names.strategyId,
    order_id: names.orderId,
    code: names.code,
    summary: summaryOf(action, payload),
    sequence: isCurrent ? sequence % logSpan : undefined,
    data: { ...payload },
  };
}

/** Of a signal's strength in a sentence; `data` has all of them. */
const signalDigits = 3;
const newsPrefix = "news/";
const signalPrefix = "signal/";

async function newsLines(ports: TimelinePorts, asked: Asked, after: Mark | undefined): Promise<readonly Line[]> {
  if (!asked.kinds.has("news")) return [];
  const { from, isSame } = behind(after, 1, asked.from);
  const mark = isSame && after?.newsId !== undefined ? { after: { recordedAt: after.at, newsId: after.newsId } } : {};
  const query = { from, to: asked.to, ...mark, countMax: asked.count };
  const found = await ports.store.transact("replay.look", (unit) => unit.market.news(query));
  return found.map(newsLine);
}

function newsLine({ item, recordedAt }: KeptNews): Line {
  const event: TimelineEvent = {
    event_id: `${newsPrefix}${item.news_id}`,
    at: format(recordedAt),
    happened_at: item.at,
    kind: "news",
    symbol: item.symbol,
    summary: item.headline,
    data: { ...item },
    strategy_id: undefined,
    order_id: undefined,
    code: undefined,
    sequence: undefined,
  };
  return { mark: { at: recordedAt, rank: 1, newsId: item.news_id }, event };
}

async function signalLines(ports: TimelinePorts, asked: Asked, after: Mark | undefined): Promise<readonly Line[]> {
  if (!asked.kinds.has("signal")) return [];
  const { from, isSame } = behind(after, 2, asked.from);
  const mark = isSame && after?.signal !== undefined ? { after: { at: after.at, ...after.signal } } : {};
  const query = { fundId: asked.fundId, from, to: asked.to, ...mark, countMax: asked.count };
  return (await ports.replayQueries.signals(query)).map(signalLine);
}

function signalLine({ at, strategyId, symbol, value, price, horizonS }: SaidSignal): Line {
  const event: TimelineEvent = {
    event_id: `${signalPrefix}${format(at)}/${encodeURIComponent(strategyId)}/${encodeURIComponent(symbol)}`,
    at: format(at),
    happened_at: format(at),
    kind: "signal",
    symbol,
    strategy_id: strategyId,
    order_id: undefined,
    code: undefined,
    summary: `${strategyId} says ${Number(value.toPrecision(signalDigits))} of ${symbol} at ${price}, for ${horizonS} s.`,
    sequence: undefined,
    data: { strategy_id: strategyId, symbol, value, price, horizon_s: horizonS, at: format(at) },
  };
  return { mark: { at, rank: 2, signal: { strategyId, symbol } }, event };
}

/** Where an event stands that somebody has. */
async function markOf({ replayQueries, store }: TimelinePorts, eventId: string): Promise<Mark> {
  if (eventId.startsWith(newsPrefix)) {
    const newsId = eventId.slice(newsPrefix.length);
    const kept = await store.transact("replay.look", (unit) => unit.market.newsItem(newsId));
    if (kept !== undefined) return { at: kept.recordedAt, rank: 1, newsId };
  } else if (eventId.startsWith(signalPrefix)) {
    const [text = "", strategyId = "", symbol = ""] = eventId.slice(signalPrefix.length).split("/");
    if (tryParse(text) !== undefined) {
      return { at: parse(text), rank: 2, signal: { strategyId: decoded(strategyId), symbol: decoded(symbol) } };
    }
  } else {
    const found = await replayQueries.entryOf(eventId);
    if (found !== undefined) return { at: found.at, rank: 0, sequence: found.sequence };
  }
  throw invalid(`after is ${quoted(eventId)}: give the event_id of the last event that you have.`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
