// Everything that a report of a fund is made of, read from the platform as of one moment, while it trades on. There is no snapshot over the services' answers;
// what is read is append-only, and the order of reading makes one cut of it:
//
//  1. Values first, then the ledger, then fills, then orders: what is in one of them was in the next before. So nothing in the values is missing from the
//     ledger, and no entry's fill is missing from the fills.
//  2. Each is cut at the moment after the values were read. A fill that treasury had not booked by a value counts from the next one on (reports/books/books.ts).
//  3. An order that went on after that moment stands as it stood by the fills until then.
import { z } from "zod";
import { format, type Instant, minusMilliseconds, parse } from "../../../contracts/src/instant.ts";
import { type FactPart, type ReportFacts, reportFacts } from "../../../reports/facts.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { followPages } from "../follow-pages.ts";
import { dayBars, gatherFurther } from "./gather-further.ts";
import { lastEntryAt } from "./gather-log.ts";

interface FactsRequest {
  readonly fundId: string;
  /** Absent: now, which is after the values were read. */
  readonly asOf: Instant | undefined;
  readonly now: () => Instant;
  readonly benchmark: string | undefined;
  readonly rfAnnual: string;
  /** What is read beside what every report needs. */
  readonly parts: ReadonlySet<FactPart>;
  readonly strategyId?: string | undefined;
  readonly period?: { readonly start: string; readonly end: string } | undefined;
  readonly factors?: ReportFacts["factors"];
  readonly say: (line: string) => void;
  readonly sleep: (ms: number) => Promise<void>;
}

const rowsMax = 1_000_000;
/** The first value that a fund can have. */
const beginning = "2000-01-01T00:00:00.000000Z";
const dayMs = 86_400_000;
const neverClosed = "always-open";

const fundReference = z.array(
  z.object({ fund_id: z.string(), mode: z.enum(["PAPER", "LIVE"]), currency: z.string(), calendar: z.string() }),
);

type Nav = AnswerOf<"listNavs">[number];
type Fill = AnswerOf<"listFills">[number];
type Entry = AnswerOf<"listLedger">[number];

export async function gatherFacts(client: Client, request: FactsRequest): Promise<ReportFacts> {
  const { fundId, say } = request;
  const fund = await fundOf(client, fundId);
  const lastEntry = await lastEntryAt(client, request.asOf);
  say("Reading values");
  const values = await allNavs(client, fundId, request.asOf);
  const asOf = request.asOf ?? request.now();
  const until = (at: string): boolean => parse(at) <= asOf;
  const navs = values.filter((nav) => until(nav.as_of));
  if (navs.length === 0) throw usageRefusal(`${fundId} had no value by ${format(asOf)}.`);
  say("Reading trades and ledger");
  const { fills, ledger } = await wholeTradesOf(client, request, navs, until);
  const instruments = await client.listInstruments();
  const benchmark = request.benchmark ?? (fund.calendar === neverClosed ? "BTC-USD" : "SPY");
  if (
    request.benchmark !== undefined &&
    benchmark !== "none" &&
    !instruments.some(({ symbol }) => symbol === benchmark)
  )
    throw usageRefusal(
      `There is no instrument ${benchmark} to compare with.`,
      "`ctl treasury instruments list` lists them; none compares with nothing.",
    );
  const isNow = request.asOf === undefined;
  const further = await gatherFurther(client, {
    ...request,
    asOf,
    isNow,
    strategyId: request.strategyId,
    period: request.period,
    fills,
  });
  say("Reading closes");
  const [first, last] = [navs[0], navs.at(-1)];
  const days = { from: dayOf(first), to: dayOf(last) };
  const traded = [...new Set(fills.map(({ symbol }) => symbol))].sort();
  const universe = request.parts.has("universe") ? universeOf(instruments, traded, fund.calendar) : undefined;
  const bars = await barsOf(client, { traded, universe, days, asOf });
  const parsed = reportFacts.safeParse({
    version: 2,
    fund: { ...fund, periods_per_year: fund.calendar === neverClosed ? 365 : 252 },
    as_of: format(asOf),
    rf_annual: request.rfAnnual,
    audit_sequence: lastEntry,
    instruments: instruments
      .filter(({ symbol }) => bars.has(symbol))
      .map(({ symbol, asset_class, currency, multiplier, sector }) => ({
        symbol,
        asset_class,
        currency,
        multiplier: multiplier ?? "1",
        sector: sector ?? null,
      })),
    navs: navs.map((nav) => navFact(nav, ledger.at(-1)?.at)),
    fills: [...fills].reverse(),
    ledger: [...ledger].reverse().map(ledgerFact),
    closes: Object.fromEntries(
      [...bars].map(([symbol, rows]) => [symbol, rows.map(({ day, close }) => ({ day, close }))]),
    ),
    benchmark: await benchmarkOf(client, benchmark, { universe, days, asOf }),
    ...further,
    ...(request.factors !== undefined && { factors: request.factors }),
    ...(universe !== undefined && { universe }),
    ...(request.parts.has("volumes") && {
      volumes: Object.fromEntries(
        [...bars].map(([symbol, rows]) => [symbol, rows.map(({ day, volume }) => ({ day, volume }))]),
      ),
    }),
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TypeError(
    `The platform's answer is not what a report is made of: ${issue?.path.join(".")} ${issue?.message}`,
  );
}

const historyLooksMax = 20;

/** On a first start treasury puts its past year's values in some seconds before order management puts in the trades. Trades that never come are a difference. */
async function wholeTradesOf(
  client: Client,
  { fundId, say, sleep }: FactsRequest,
  navs: readonly Nav[],
  until: (at: string) => boolean,
) {
  for (let look = 1; ; look += 1) {
    const trades = await tradesOf(client, fundId, until);
    const begun = trades.ledger.at(-1)?.at;
    const isPast = (at: string): boolean => begun === undefined || parse(at) < parse(begun);
    const isHeld = navs.some((nav) => isPast(nav.as_of) && Number(nav.positions_value) !== 0);
    if (!isHeld || look === historyLooksMax || trades.fills.some((one) => isPast(one.filled_at))) return trades;
    if (look === 1) say("Waiting for the trades of the past year, which are being put in");
    await sleep(1_000);
  }
}

/** Newest first, as they are listed. */
async function tradesOf(client: Client, fundId: string, until: (at: string) => boolean) {
  const ledger = await all(
    "entries",
    (one: Entry) => one.entry_id,
    (page) => client.listLedger({ fundId, ...page }),
  );
  const fills = await all(
    "fills",
    (one: Fill) => one.fill_id,
    (page) => client.listFills({ fundId, ...page }),
  );
  return { fills: fills.filter((one) => until(one.filled_at)), ledger: ledger.filter((one) => until(one.at)) };
}

async function fundOf(client: Client, fundId: string) {
  const { content } = await client.getReferenceData({ kind: "funds" });
  const funds = fundReference.parse(content);
  const found = funds.find(({ fund_id }) => fund_id === fundId);
  if (found !== undefined) return found;
  throw usageRefusal(`There is no fund ${fundId}.`, `The funds are ${funds.map(({ fund_id }) => fund_id).join(", ")}.`);
}

async function all<Row>(
  what: string,
  idOf: (row: Row) => string,
  read: (page: { readonly countMax: number; readonly after?: string }) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { rows, more } = await followPages(rowsMax, idOf, read);
  if (more) throw usageRefusal(`The fund has more than ${rowsMax} ${what}, which is more than one report is made of.`);
  return rows;
}

/** Oldest first; pages go towards older ones. Of a day that was not over at that moment, its last minute before it. */
async function allNavs(client: Client, fundId: string, asOf: Instant | undefined): Promise<readonly Nav[]> {
  const asked = { fundId, from: beginning, every: "day" } as const;
  const newestFirst = async (page: { readonly countMax: number; readonly after?: string }) =>
    [...(await client.listNavs({ ...asked, ...page }))].reverse();
  const days = [...(await all("values", (one: Nav) => one.as_of, newestFirst))].reverse();
  if (asOf === undefined) return days;
  const before = days.filter((nav) => parse(nav.as_of) <= asOf);
  const minutes = {
    fundId,
    from: format(minusMilliseconds(asOf, 7 * dayMs)),
    to: format(asOf),
    every: "minute",
  } as const;
  const [running] = await client.listNavs({ ...minutes, countMax: 1 });
  const isLater = running !== undefined && dayOf(running) > dayOf(before.at(-1));
  return isLater ? [...before, running] : before;
}

const dayOf = (nav: Nav | undefined): string => nav?.trading_day ?? nav?.as_of.slice(0, 10) ?? "";

type Instruments = AnswerOf<"listInstruments">;
type Universe = NonNullable<ReportFacts["universe"]>;

/** Every instrument of the classes that the fund trades, but options: they have no past under the same name. */
function universeOf(instruments: Instruments, traded: readonly string[], calendar: string): Universe {
  const own = instruments.filter(({ symbol }) => traded.includes(symbol)).map(({ asset_class }) => asset_class);
  const classes = new Set<string>(own.length > 0 ? own : [calendar === neverClosed ? "CRYPTO" : "EQUITY"]);
  return instruments
    .filter(({ asset_class }) => asset_class !== "OPTION" && classes.has(asset_class))
    .map(({ symbol, sector }) => ({ symbol, sector: sector ?? null }));
}

interface BarsAsked {
  readonly universe: Universe | undefined;
  readonly days: { readonly from: string; readonly to: string };
  readonly asOf: Instant;
}

/** From a week before the first day, so that it has a close before it; with a universe far enough back for 60 days' momentum. */
const daysBefore = { plain: 7, universe: 130 } as const;

async function barsOf(client: Client, { traded, ...asked }: BarsAsked & { readonly traded: readonly string[] }) {
  const symbols = [...new Set([...traded, ...(asked.universe ?? []).map(({ symbol }) => symbol)])].sort();
  const found = new Map<string, Awaited<ReturnType<typeof dayBars>>>();
  for (const symbol of symbols) found.set(symbol, await barsFrom(client, symbol, asked));
  return found;
}

async function barsFrom(client: Client, symbol: string, { universe, days, asOf }: BarsAsked) {
  if (days.from === "" || days.to === "") return [];
  const back = universe === undefined ? daysBefore.plain : daysBefore.universe;
  const from = minusMilliseconds(parse(`${days.from}T00:00:00Z`), back * dayMs);
  return (await dayBars(client, symbol, from, asOf)).filter(({ day }) => day <= days.to);
}

async function benchmarkOf(client: Client, symbol: string, asked: BarsAsked): Promise<ReportFacts["benchmark"]> {
  if (symbol === "none") return null;
  const rows = await barsFrom(client, symbol, asked);
  return { symbol, closes: rows.map(({ day, close }) => ({ day, close })) };
}

/** Prices are kept since the ledger begins; without any, nothing was held. */
function navFact(nav: Nav, begun: string | undefined): ReportFacts["navs"][number] {
  const isKept = nav.prices.length > 0 || (begun !== undefined && parse(nav.as_of) >= parse(begun));
  return {
    day: dayOf(nav),
    as_of: nav.as_of,
    nav: nav.nav,
    cash: nav.cash,
    positions_value: nav.positions_value,
    net_flows: nav.net_flows,
    prices: isKept
      ? Object.fromEntries(nav.prices.map(({ symbol, quantity, price, at }) => [symbol, { quantity, price, at }]))
      : null,
  };
}

function ledgerFact(entry: Entry): ReportFacts["ledger"][number] {
  return {
    entry_id: entry.entry_id,
    kind: entry.kind,
    at: entry.at,
    symbol: entry.symbol ?? null,
    postings: entry.postings.map(({ account, currency, amount }) => ({ account, currency, amount })),
  };
}
