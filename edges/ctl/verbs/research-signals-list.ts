// `ctl research signals list`: what a strategy wanted, and what came of it.

import type { AnswerOf } from "../../client/src/types.ts";
import { followPages } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import { span } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const researchSignalsList: Verb = {
  name: "research signals list",
  heading: "Strategies",
  sentence: "List a strategy's signals and what the symbol returned after each, newest first.",
  arguments: [{ name: "strategy_id", sentence: "The strategy." }],
  options: [{ name: "limit", value: "N", standard: "100", sentence: "At most this many." }, ...listOptions],
  examples: [{ command: "ctl research signals list alpha-momentum", sentence: "The newest." }],
  operation: "ListSignals",
  changesState: false,
  run,
};

type Signal = AnswerOf<"listSignals">[number];

const figure = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(6));

const columns: readonly Column<Signal>[] = [
  { name: "at", key: true, of: (one) => one.at, time: true },
  { name: "strategy_id", of: (one) => one.strategy_id },
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "value", of: (one) => one.value, shown: (one) => figure(one.value), number: true },
  {
    name: "realised_return",
    head: "returned",
    of: (one) => one.realised_return,
    shown: (one) => (one.realised_return === undefined ? "not yet" : figure(one.realised_return)),
    number: true,
  },
  { name: "horizon_s", head: "over", of: (one) => one.horizon_s, shown: (one) => span(one.horizon_s * 1_000) },
];

async function run(context: Context): Promise<Answer> {
  const strategyId = context.argument("strategy_id");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Signal) => `${one.at}/${one.symbol}`,
    (page) => client.listSignals({ strategyId, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: `${strategyId} has given no signal yet.` });
}
