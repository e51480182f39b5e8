// `ctl riskengine halts history`: what was halted, and when each halt was lifted.

import type { AnswerOf } from "../../client/src/types.ts";
import { scopeText } from "../../words/halt-words.ts";
import { followPages } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

type PastHalt = AnswerOf<"listHaltHistory">[number];

export const riskengineHaltsHistory: Verb = {
  name: "riskengine halts history",
  heading: "Halts",
  sentence: "See what was halted, and when each halt was lifted.",
  about:
    "Newest first, those in force and those of drills included. Who asked for a halt, who lifted it and why stand in the audit log under the fund, the strategy or the firm that was halted, and what followed it under its halt_id: ctl operations audit show --subject-id alpha.",
  arguments: [],
  options: [
    { name: "fund-id", value: "ID", sentence: "Only the halts of this fund and of its strategies." },
    { name: "limit", value: "N", sentence: "At most this many.", standard: "20" },
    ...listOptions,
  ],
  examples: [
    { command: "ctl riskengine halts history", sentence: "The newest twenty." },
    { command: "ctl riskengine halts history --fund-id alpha --limit 100", sentence: "One fund's." },
  ],
  operation: "ListHaltHistory",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const fundId = context.option("fund-id");
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: PastHalt) => one.halt_id,
    (page) => client.listHaltHistory({ ...page, ...(fundId !== undefined && { fundId }) }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns: readonly Column<PastHalt>[] = [
    { name: "since", of: (one) => one.since, time: true },
    { name: "lifted_at", head: "lifted", always: true, of: (one) => one.lifted_at, time: "IN FORCE" },
    { name: "severity", minor: 1, of: (one) => one.severity },
    { name: "fund_id", onlyCsv: true, of: (one) => one.fund_id },
    { name: "strategy_id", onlyCsv: true, of: (one) => one.strategy_id },
    { name: "scope", head: "halted", onlyTable: true, key: true, of: (one) => scopeText(one) },
    { name: "requested_by", head: "by", of: (one) => one.requested_by },
    { name: "reason", text: true, of: (one) => one.reason },
    { name: "halt_id", id: true, of: (one) => one.halt_id },
  ];
  return listing(context, { columns, rows, none: "Nothing was ever halted." });
}
