// `ctl operations restrictions list`: what watchdogs keep from being done, since when, and why.

import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsRestrictionsList: Verb = {
  name: "operations restrictions list",
  heading: "Watchdogs",
  sentence: "See what watchdogs keep from being done.",
  about:
    "THROTTLE: no marketable order adds risk in the symbol. COOLDOWN: nothing does. SHADOW: the strategy only reduces. NO_SHORT_OPTIONS: no option is sold short. GROSS: gross exposure stays under factor x base. ALLOCATION: strategies use factor x their base. Reductions pass all of them.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's, and those of every fund." },
    { name: "ended", sentence: "Those that have ended as well." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl operations restrictions list", sentence: "All that are in force." },
    { command: "ctl operations restrictions list --fund-id alpha --ended", sentence: "Of alpha, and its past ones." },
  ],
  operation: "ListRestrictions",
  changesState: false,
  run,
};

type Restriction = AnswerOf<"listRestrictions">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const includeEnded = context.switched("ended");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const asked = { ...(fundId === undefined ? {} : { fundId }), ...(includeEnded ? { includeEnded } : {}) };
  const { rows, more } = await followPages(
    limit,
    (one: Restriction) => one.restriction_id,
    (page) => client.listRestrictions({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns: readonly Column<Restriction>[] = [
    { name: "restriction_id", key: true, of: (one) => one.restriction_id },
    { name: "kind", of: (one) => one.kind },
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "factor", of: (one) => one.factor },
    { name: "base", minor: 3, of: (one) => one.base },
    { name: "watchdog", minor: 1, of: (one) => one.watchdog },
    { name: "episode_id", minor: 4, of: (one) => one.episode_id },
    { name: "since", of: (one) => one.since, time: true },
    {
      name: "ended_at",
      of: (one) => one.ended_at,
      time: true,
    },
    { name: "ended_by", minor: 2, of: (one) => one.ended_by },
    { name: "end_reason", text: true, of: (one) => one.end_reason },
  ];
  return listing(context, { columns, rows, none: "No watchdog restricts anything." });
}
