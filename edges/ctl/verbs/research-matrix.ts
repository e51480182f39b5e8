// `ctl research matrix`: where a fund's risk lies: what each strategy holds of each symbol, its sums, and how alike the symbols moved.

import type { AnswerOf } from "../../client/src/types.ts";
import { exactPercent } from "../../words/figures.ts";
import { money, price } from "../../words/money.ts";
import { fundOption } from "../envelope-flags.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import { clean, moment, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const researchMatrix: Verb = {
  name: "research matrix",
  heading: "Strategies",
  sentence: "Show where a fund's risk lies: what each strategy holds of each symbol, and how alike the symbols moved.",
  about:
    "A share is of the fund's value. JSON has the sums by strategy and symbol, and the correlation of every two symbols: of daily returns, over the days that both have, none under 20 returns.",
  arguments: [],
  options: [
    fundOption,
    { name: "days", value: "N", standard: "60", sentence: "Over how many days correlations are, from 2 to 365." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl research matrix --fund-id alpha", sentence: "What is held, and its sums." },
    { command: "ctl research matrix --fund-id alpha --days 250 --json", sentence: "With the correlations of a year." },
  ],
  operation: "GetMatrix",
  changesState: false,
  run,
};

type Matrix = AnswerOf<"getMatrix">;
type Cell = Matrix["cells"][number];

const share = (fraction: number | undefined): string =>
  fraction === undefined ? "?" : exactPercent(Number(fraction.toFixed(4)));

const columns: readonly Column<Cell>[] = [
  { name: "strategy_id", key: true, of: (one) => one.strategy_id },
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "quantity", of: (one) => one.quantity, number: true },
  { name: "price", of: (one) => one.price, shown: (one) => price(one.price) || "none", number: true },
  { name: "priced_at", head: "priced", minor: 2, of: (one) => one.priced_at, time: "never" },
  {
    name: "market_value",
    head: "value",
    of: (one) => one.market_value,
    shown: (one) => money(one.market_value),
    number: true,
  },
  { name: "share", of: (one) => one.share, shown: (one) => share(one.share), number: true },
  {
    name: "unrealised_pnl",
    head: "unrealised",
    of: (one) => one.unrealised_pnl,
    shown: (one) => money(one.unrealised_pnl),
    number: true,
  },
  { name: "signal", minor: 1, of: (one) => one.signal, shown: (one) => one.signal?.toFixed(4) ?? "", number: true },
  { name: "signal_at", head: "said", minor: 3, of: (one) => one.signal_at, time: "never" },
];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const days = countOf("days", context.option("days") ?? "", 2);
  const matrix = await (await context.client()).getMatrix({ fundId, days });
  return listing(context, {
    columns,
    rows: matrix.cells,
    none: `${matrix.fund_id} holds nothing.`,
    data: matrix,
    lead: leadOf(matrix, context),
  });
}

function leadOf({ fund_id, mode, currency, nav, as_of, total, correlations }: Matrix, context: Context): string {
  const alike = correlations.pairs.flatMap(({ a, b, r, n }) => (r === null ? [] : [{ a, b, r, n }]));
  const [most] = alike.sort((one, other) => Math.abs(other.r) - Math.abs(one.r));
  const facts = pairs([
    [
      "Value",
      nav === undefined ? "not known" : `${money(nav)} ${currency}, ${moment(as_of ?? "", context.clock.now())}`,
    ],
    ["Held", total.market_value === undefined ? "not known" : `${money(total.market_value)}, ${share(total.share)}`],
    ["Gross", total.gross === undefined ? "not known" : money(total.gross)],
    ["Unrealised", total.unrealised_pnl === undefined ? "not known" : money(total.unrealised_pnl)],
    ["Without", total.without.length === 0 ? undefined : `${total.without.join(", ")}: no price`],
    ["Concentration", total.concentration?.toFixed(3)],
    ["Most alike", most === undefined ? undefined : `${most.a} and ${most.b}: ${most.r.toFixed(2)} (n ${most.n})`],
  ]);
  return `${clean(`${fund_id} (${mode})`)}\n${facts}`;
}
