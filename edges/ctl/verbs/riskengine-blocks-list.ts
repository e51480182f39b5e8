// `ctl riskengine blocks list`: why new risk is denied, where, since when, and what ends it.
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineBlocksList: Verb = {
  name: "riskengine blocks list",
  heading: "Decisions",
  sentence: "See which standing conditions deny new risk now, and what ends them.",
  about:
    "Halts, losses that are not settled, prices and values that are missing or too old, restricted and differing symbols, fills that wait to be accepted, throttles. Limits are no such condition: `ctl riskengine headroom` says how much more they allow.",
  arguments: [],
  options: [{ name: "fund-id", value: "FUND", sentence: "Only what concerns this fund." }, ...listOptions],
  examples: [
    { command: "ctl riskengine blocks list", sentence: "Of all funds." },
    { command: "ctl riskengine blocks list --fund-id alpha", sentence: "Why alpha may not buy." },
  ],
  operation: "ListBlocks",
  changesState: false,
  run,
};

type Block = AnswerOf<"listBlocks">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const rows = await (await context.client()).listBlocks(fundId === undefined ? {} : { fundId });
  const columns: readonly Column<Block>[] = [
    { name: "code", key: true, of: (one) => one.code },
    { name: "scope", of: (one) => one.scope },
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "block_id", onlyCsv: true, of: (one) => one.block_id },
    {
      name: "since",
      of: (one) => one.since ?? undefined,
      time: "not known",
    },
    { name: "since_unknown", of: (one) => one.since_unknown, onlyCsv: true },
    { name: "reason", text: true, of: (one) => one.reason },
    { name: "ends", text: true, of: (one) => one.ends },
    { name: "command", text: true, minor: 2, of: (one) => one.command },
  ];
  const where = fundId === undefined ? "" : ` in ${fundId}`;
  return listing(context, { columns, rows, none: `No standing condition denies new risk${where}.` });
}
