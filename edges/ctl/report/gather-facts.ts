// Everything that a report of a fund is made of, read from the platform as of one moment. Values are read first; fills and ledger entries, which only ever
// grow, are read after them and cut at that moment, so that nothing in the values is missing from the books.
import { z } from "zod";
import { format, type Instant, minusMilliseconds, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { type ReportFacts, reportFacts } from "../../../reports/facts.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { followPages } from "../follow-pages.ts";

export interface FactsRequest {
  readonly fundId: string;
  /** Absent: now, which is after the values were read. */
  readonly asOf: Instant | undefined;
  readonly now: () => Instant;
  readonly benchmark: string | undefined;
  readonly rfAnnual: string;
  readonly say: (line: string) => void;
}

const rowsMax = 1_000_000;
const barsMax = 1_000;
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
  const auditSize = (await client.getAuditStatus()).size;
  say("Reading values");
  const values = await allNavs(client, fundId, request.asOf);
  const asOf = request.asOf ?? request.now();
  const until = (at: string): boolean => parse(at) <= asOf;
  const navs = values.filter((nav) => until(nav.as_of));
  say("Reading trades and ledger");
  const fills = (
    await all(
      "fills",
      (one: Fill) => one.fill_id,
      (page) => client.listFills({ fundId, ...page }),
    )
  ).filter((one) => until(one.filled_at));
  const ledger = (
    await all(
      "entries",
      (one: Entry) => one.entry_id,
      (page) => client.listLedger({ fundId, ...page }),
    )
  ).filter((one) => until(one.at));
  const instruments = await client.listInstruments();
  say("Reading closes");
  const [first, last] = [navs[0], navs.at(-1)];
  const days = { from: dayOf(first), to: dayOf(last) };
  const traded = [...new Set(fills.map(({ symbol }) => symbol))].sort();
  const closes: Record<string, ReportFacts["closes"][string]> = {};
  for (const symbol of traded) closes[symbol] = await closesOf(client, symbol, days, asOf);
  const benchmark = request.benchmark ?? (fund.calendar === neverClosed ? "BTC-USD" : "SPY");
  const parsed = reportFacts.safeParse({
    version: 1,
    fund: { ...fund, periods_per_year: fund.calendar === neverClosed ? 365 : 252 },
    as_of: format(asOf),
    rf_annual: request.rfAnnual,
    audit_sequence: auditSize > 0 ? auditSize - 1 : null,
    instruments: instruments
      .filter(({ symbol }) => traded.includes(symbol))
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
    closes,
    benchmark:
      benchmark === "none" ? null : { symbol: benchmark, closes: await closesOf(client, benchmark, days, asOf) },
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TypeError(
    `The platform's answer is not what a report is made of: ${issue?.path.join(".")} ${issue?.message}`,
  );
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

/** From a week before the first day, so that it has a close before it; a page of bars after the other. */
async function closesOf(
  client: Client,
  symbol: string,
  { from, to }: { readonly from: string; readonly to: string },
  asOf: Instant,
): Promise<ReportFacts["closes"][string]> {
  if (from === "" || to === "") return [];
  const rows: { day: string; close: string }[] = [];
  let start = format(minusMilliseconds(parse(`${from}T00:00:00Z`), 7 * dayMs));
  for (;;) {
    const bars = await client.listBars({ symbol, interval: "1d", start, end: format(asOf), countMax: barsMax });
    rows.push(...bars.map((bar) => ({ day: bar.start.slice(0, 10), close: bar.close })));
    const last = bars.at(-1);
    if (last === undefined || bars.length < barsMax) break;
    start = format(plusMilliseconds(parse(last.start), dayMs));
  }
  return rows.filter(({ day }) => day <= to);
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
    symbol: null,
    postings: entry.postings.map(({ account, currency, amount }) => ({ account, currency, amount })),
  };
}
