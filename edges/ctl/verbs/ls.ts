// `ctl ls`: positions across all funds, with what each fund's are worth together. Paper and money are never summed into one figure, nor are currencies.

import type { AnswerOf } from "../../client/src/types.ts";
import { money, sum } from "../../words/money.ts";
import { type Column, isForPeople, listing, listOptions } from "../text/listing.ts";
import { type Position, positionColumns } from "../text/position-text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const ls: Verb = {
  name: "ls",
  heading: "Trading",
  sentence: "List positions across all funds, and what they are worth together.",
  about:
    "Below the positions stand each fund's totals. What has no fresh price is in no total; how many those are stands beside it. With --json or --format csv there are the positions alone, each with its fund's mode; with --totals the totals alone.",
  arguments: [],
  options: [{ name: "totals", sentence: "Only what each fund's positions are worth together." }, ...listOptions],
  examples: [
    { command: "ctl ls", sentence: "Everything that is held." },
    { command: "ctl ls --json", sentence: "For a program." },
    { command: "ctl ls --totals --format csv", sentence: "The totals for a spreadsheet." },
  ],
  operation: "ListPositions",
  changesState: false,
  run,
};

type Fund = AnswerOf<"listFunds">[number];

interface Total {
  readonly fund: Pick<Fund, "fund_id" | "mode" | "nav" | "nav_at">;
  readonly currency: string;
  readonly positions: readonly Position[];
}

const heldValueOf = ({ positions }: Total): string => sum(positions.map((held) => held.market_value));
const heldPnlOf = ({ positions }: Total): string => sum(positions.map((held) => held.unrealised_pnl));

const totalColumns: readonly Column<Total>[] = [
  { name: "fund_id", key: true, of: ({ fund }) => fund.fund_id },
  { name: "mode", always: true, of: ({ fund }) => fund.mode },
  { name: "positions", of: ({ positions }) => positions.length, number: true },
  { name: "without_price", of: ({ positions }) => unpriced(positions), number: true },
  { name: "market_value", of: heldValueOf, shown: (one) => money(heldValueOf(one)), number: true },
  { name: "unrealised_pnl", of: heldPnlOf, shown: (one) => money(heldPnlOf(one)), number: true },
  { name: "currency", of: ({ currency }) => currency },
  {
    name: "nav",
    of: ({ fund }) => fund.nav,
    shown: ({ fund }) => (fund.nav === undefined ? "not valued" : money(fund.nav)),
    number: true,
  },
  {
    name: "nav_at",
    of: ({ fund }) => fund.nav_at,
    time: true,
  },
];

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const [positions, funds] = await Promise.all([client.getPositions(), client.listFunds()]);
  const modes = new Map(funds.map(({ fund_id, mode }) => [fund_id, mode]));
  const modeOf = (fundId: string): string => modes.get(fundId) ?? "?";
  const rows = totalsOf(funds, positions);
  const columns = totalColumns;
  const totals = { columns, rows, none: "There are no funds.", data: rows.map((row) => recordOf(columns, row)) };
  if (context.switched("totals")) return listing(context, totals);
  const list = await listing(context, {
    columns: positionColumns(modeOf),
    rows: positions,
    none: "Nothing is held.",
    data: positions.map((one) => ({ ...one, mode: modeOf(one.fund_id) })),
  });
  if (!isForPeople(context)) return list;
  return { ...list, text: `${list.text}\n\n${(await listing(context, totals)).text}` };
}

/** One line per fund and currency; a fund that holds nothing has one as well. */
function totalsOf(funds: readonly Fund[], positions: readonly Position[]): readonly Total[] {
  return funds.flatMap((fund) => {
    const held = positions.filter(({ fund_id }) => fund_id === fund.fund_id);
    const currencies = [...new Set(held.map(currencyOf))].sort();
    return (currencies.length === 0 ? [fund.currency] : currencies).map((currency) => ({
      fund,
      currency,
      positions: held.filter((one) => currencyOf(one) === currency),
    }));
  });
}

/** What is not known is not there. */
function recordOf<Row>(columns: readonly Column<Row>[], row: Row): object {
  return Object.fromEntries(columns.map(({ name, of }) => [name, of(row)]).filter(([, value]) => value !== undefined));
}

function currencyOf({ currency }: Position): string {
  return currency ?? "?";
}

function unpriced(positions: readonly Position[]): number {
  return positions.filter(({ market_value }) => market_value === undefined).length;
}
