// The further facts of the reports that need them: orders, denials, envelopes, use of limits, strategies with their backtests and signals, the universe.
// Each is read by the operation that people read it with.
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { side } from "../../../contracts/src/records/values.ts";
import type { FactPart, ReportFacts } from "../../../reports/facts.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { isApiError, usageRefusal } from "../failure.ts";
import { followPages } from "../follow-pages.ts";
import { auditOf, minutesOf } from "./gather-log.ts";
import { replaysOf } from "./gather-replays.ts";

interface FurtherRequest {
  readonly fundId: string;
  readonly parts: ReadonlySet<FactPart>;
  readonly asOf: Instant;
  /** Whether `asOf` is the present: what is only known for now is not read for the past. */
  readonly isNow: boolean;
  /** Signals are read of this strategy alone; of all of the fund's when absent. */
  readonly strategyId: string | undefined;
  /** The days whose audit entries are read. */
  readonly period: { readonly start: string; readonly end: string } | undefined;
  /** The fund's fills until then, newest first. */
  readonly fills: readonly FillRow[];
  readonly say: (line: string) => void;
}

type Further = { -readonly [Part in FactPart]?: ReportFacts[Part] };
type FillRow = AnswerOf<"listFills">[number];
type OrderRow = AnswerOf<"listOrders">[number];
type DenialRow = AnswerOf<"listRejections">[number];
type EnvelopeRow = AnswerOf<"listEnvelopes">[number];
type SignalRow = AnswerOf<"listSignals">[number];

const rowsMax = 1_000_000;
/** What ListRejections takes: a year. */
const hoursMax = 8_784;

export async function gatherFurther(client: Client, request: FurtherRequest): Promise<Further> {
  const { parts, fundId, asOf, say } = request;
  const until = (at: string): boolean => parse(at) <= asOf;
  const found: Further = {};
  if (parts.has("orders")) {
    say("Reading orders");
    const rows = await all(
      (one: OrderRow) => one.order.order_id,
      (page) => client.listOrders({ fundId, ...page }),
    );
    const filled = filledBy(request.fills, rows);
    found.orders = rows
      .filter((row) => until(row.created_at))
      .map((row) => (until(row.updated_at) ? orderFact(row) : openOrder(row, filled(row), until)))
      .reverse();
  }
  if (parts.has("fill_quotes")) found.fill_quotes = fillQuotesOf(request.fills, until);
  if (parts.has("denials")) {
    say("Reading denials");
    const rows = await all(
      (one: DenialRow) => one.decision_id,
      (page) => client.listRejections({ fundId, hours: hoursMax, ...page }),
    );
    found.denials = rows
      .filter((row) => until(row.decided_at))
      .map(denialFact)
      .reverse();
  }
  if (parts.has("envelopes")) {
    const rows = await all(
      (one: EnvelopeRow) => String(one.version),
      ({ countMax, after }) =>
        client.listEnvelopes({ fundId, countMax, ...(after !== undefined && { after: Number(after) }) }),
    );
    found.envelopes = rows
      .map(envelopeFact)
      .filter(({ updated_at }) => updated_at === null || until(updated_at))
      .reverse();
  }
  if (parts.has("limit_use"))
    found.limit_use = request.isNow ? (await client.getLimitUse({ fundId })).map(limitUseFact) : [];
  if (parts.has("audit") && request.period !== undefined) {
    say("Reading the audit log");
    found.audit = await auditOf(client, fundId, request.period, asOf);
  }
  if (parts.has("replays") && request.period !== undefined) {
    say("Running orders against other limits");
    found.replays = await replaysOf(client, fundId, request.period, asOf);
  }
  if (parts.has("minutes")) found.minutes = await minutesOf(client, fundId, asOf);
  if (parts.has("strategies")) Object.assign(found, await strategiesOf(client, request));
  return found;
}

async function strategiesOf(
  client: Client,
  { fundId, parts, asOf, strategyId, say }: FurtherRequest,
): Promise<Further> {
  const rows = await client.listStrategies({ fundId });
  const strategies = rows.map(({ strategy_id, status, allocation_pct }) => ({ strategy_id, status, allocation_pct }));
  const chosen = strategies.filter(({ strategy_id }) => strategyId === undefined || strategy_id === strategyId);
  const found: Further = { strategies };
  if (parts.has("backtests")) {
    say("Reading backtests");
    found.backtests = [];
    for (const { strategy_id } of chosen) found.backtests.push(...(await backtestOf(client, strategy_id)));
  }
  if (parts.has("signals")) {
    say("Reading signals");
    found.signals = {};
    for (const { strategy_id } of chosen) {
      const signals = await all(
        (one: SignalRow) => `${one.at}/${one.symbol}`,
        (page) => client.listSignals({ strategyId: strategy_id, ...page }),
      );
      found.signals[strategy_id] = signals
        .filter(({ at }) => parse(at) <= asOf)
        .map(signalFact)
        .reverse();
    }
  }
  return found;
}

/** None of a strategy that was not tested. */
async function backtestOf(client: Client, strategyId: string): Promise<NonNullable<ReportFacts["backtests"]>> {
  try {
    const { strategy_id, days } = await client.getBacktest({ strategyId });
    const said = days.flatMap(({ day, signals = [] }) =>
      signals.map(({ symbol, value }) => ({ day, symbol, value: value ?? 0 })),
    );
    return [
      {
        strategy_id,
        days: days.map(({ day, return: earned, information_coefficient: skill }) => ({
          day,
          return: earned ?? 0,
          information_coefficient: skill ?? null,
        })),
        // One that was made before signals were kept has none.
        ...(said.length > 0 && { signals: said }),
      },
    ];
  } catch (thrown) {
    if (isApiError(thrown) && thrown.status === 404) return [];
    throw thrown;
  }
}

async function all<Row>(
  idOf: (row: Row) => string,
  read: (page: { readonly countMax: number; readonly after?: string }) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { rows, more } = await followPages(rowsMax, idOf, read);
  if (more)
    throw usageRefusal(`The fund has more than ${rowsMax} rows of one kind, which is more than one report is made of.`);
  return rows;
}

export const orderFact = ({
  order,
  state,
  code,
  filled_quantity,
  created_at,
  decision,
  parent_order_id,
  quotes,
}: OrderRow): NonNullable<ReportFacts["orders"]>[number] => ({
  order_id: order.order_id,
  strategy_id: order.strategy_id,
  symbol: order.symbol,
  side: side.parse(order.side),
  quantity: order.quantity,
  order_type: order.order_type,
  broker: order.broker,
  state,
  filled_quantity: filled_quantity,
  created_at,
  decided_at: decision?.decided_at ?? null,
  // Order management refuses without a decision what a halt covers.
  code: decision?.code ?? (state === "REJECTED" ? code : undefined) ?? null,
  parent_order_id: parent_order_id ?? null,
  quotes: { created: quoteFact(quotes?.created), routed: quoteFact(quotes?.routed) },
});

type QuoteRow = NonNullable<NonNullable<OrderRow["quotes"]>["created"]>;

const quoteFact = (quote: QuoteRow | undefined) =>
  quote === undefined ? null : { bid: quote.bid, ask: quote.ask, at: quote.quoted_at };

/** One that went on after the moment of the report: open then, with what it had filled until then. */
function openOrder(row: OrderRow, filled: string, until: (at: string) => boolean) {
  const fact = orderFact(row);
  const isDecided = fact.decided_at !== null && until(fact.decided_at);
  const routed = fact.quotes?.routed ?? null;
  return {
    ...fact,
    state: "OPEN",
    filled_quantity: filled,
    decided_at: isDecided ? fact.decided_at : null,
    code: isDecided ? fact.code : null,
    quotes: { created: fact.quotes?.created ?? null, routed: routed !== null && until(routed.at) ? routed : null },
  };
}

/** What an order had filled by these fills, its slices' included. */
function filledBy(fills: readonly FillRow[], orders: readonly OrderRow[]): (row: OrderRow) => string {
  const parents = new Map(orders.map(({ order, parent_order_id }) => [order.order_id, parent_order_id]));
  const sums = new Map<string, decimal.Decimal>();
  for (const { order_id, quantity } of fills) {
    for (const id of [order_id, parents.get(order_id)]) {
      if (id !== undefined) sums.set(id, decimal.add(sums.get(id) ?? decimal.zero, decimal.parse(quantity)));
    }
  }
  return ({ order }) => decimal.format(sums.get(order.order_id) ?? decimal.zero);
}

/** The quote after a fill is not known before its moment. */
function fillQuotesOf(fills: readonly FillRow[], until: (at: string) => boolean) {
  return Object.fromEntries(
    fills.flatMap(({ fill_id, quotes }) => {
      if (quotes === undefined) return [];
      const later = quoteFact(quotes.after_300s);
      return [
        [
          fill_id,
          { at_fill: quoteFact(quotes.at_fill), after_300s: later !== null && until(later.at) ? later : null },
        ] as const,
      ];
    }),
  );
}

const denialFact = ({
  decision_id,
  decided_at,
  strategy_id,
  symbol,
  gate,
  code,
}: DenialRow): NonNullable<ReportFacts["denials"]>[number] => ({
  decision_id,
  at: decided_at,
  strategy_id,
  symbol,
  gate,
  code,
});

const notLimits: ReadonlySet<string> = new Set(["fund_id", "version", "updated_by", "updated_at", "reason"]);

/** Every field as the text that it has in JSON. */
const envelopeFact = (row: EnvelopeRow): NonNullable<ReportFacts["envelopes"]>[number] => ({
  version: row.version,
  updated_at: row.updated_at ?? null,
  updated_by: row.updated_by ?? null,
  limits: Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      notLimits.has(name) || value === undefined ? [] : [[name, JSON.stringify(value)]],
    ),
  ),
});

const limitUseFact = ({
  limit,
  scope,
  used,
  allowed,
  share,
  reason,
  as_of,
}: AnswerOf<"getLimitUse">[number]): NonNullable<ReportFacts["limit_use"]>[number] => ({
  limit,
  scope,
  used: used ?? null,
  allowed: allowed ?? null,
  share: share ?? null,
  reason: reason ?? null,
  as_of,
});

const signalFact = ({ symbol, at, value, realised_return, horizon_s }: SignalRow) => ({
  symbol,
  at,
  value: value ?? 0,
  realised_return: realised_return ?? null,
  horizon_s: horizon_s ?? null,
});

/** One a day, with what was traded. */
interface DayBar {
  readonly day: string;
  readonly close: string;
  readonly volume: string;
}

const barsMax = 1_000;
const dayMs = 86_400_000;

/** A page of bars after the other. */
export async function dayBars(
  client: Client,
  symbol: string,
  from: Instant,
  asOf: Instant,
): Promise<readonly DayBar[]> {
  const rows: DayBar[] = [];
  let start = format(from);
  for (;;) {
    const bars = await client.listBars({ symbol, interval: "1d", start, end: format(asOf), countMax: barsMax });
    rows.push(...bars.map((bar) => ({ day: bar.start.slice(0, 10), close: bar.close, volume: bar.volume ?? "0" })));
    const last = bars.at(-1);
    if (last === undefined || bars.length < barsMax) return rows;
    start = format(plusMilliseconds(parse(last.start), dayMs));
  }
}
