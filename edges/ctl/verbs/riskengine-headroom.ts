// `ctl riskengine headroom`: how much more of a symbol a fund may trade right now, and which limit binds.

import type { AnswerOf } from "../../client/src/types.ts";
import { oldText } from "../../words/times.ts";
import { fundOption } from "../envelope-flags.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { clean, moment, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const sides = ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const;

export const riskengineHeadroom: Verb = {
  name: "riskengine headroom",
  heading: "Limits",
  sentence: "Show how much more of a symbol a fund may trade right now, and which limit binds.",
  about: "It is true for the moment: prices move, and other orders take room.",
  arguments: [],
  options: [
    fundOption,
    { name: "symbol", value: "SYMBOL", required: true, sentence: "The instrument: AAPL, BTC-USD." },
    { name: "side", value: "SIDE", standard: "BUY", values: sides, closed: true, sentence: "To buy, or to sell more." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl riskengine headroom --fund-id alpha --symbol AAPL", sentence: "How much may still be bought." },
    { command: "ctl riskengine headroom --fund-id beta --symbol BTC-USD --side SELL", sentence: "And sold." },
  ],
  operation: "GetHeadroom",
  changesState: false,
  run,
};

type Headroom = AnswerOf<"getHeadroom">;

const columns: readonly Column<Headroom["limits"][number]>[] = [
  { name: "limit", key: true, of: (one) => one.limit },
  { name: "used", of: (one) => one.used },
  { name: "allowed", of: (one) => one.allowed },
  { name: "quantity", of: (one) => one.quantity },
];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const symbol = context.option("symbol") ?? "";
  // The option takes no other words.
  const side = context.option("side") as (typeof sides)[number];
  const headroom = await (await context.client()).getHeadroom({ fundId, symbol, side });
  return listing(context, {
    columns,
    rows: headroom.limits,
    none: "No limit was looked at.",
    data: headroom,
    lead: leadOf(headroom, context),
  });
}

function leadOf(headroom: Headroom, context: Context): string {
  const { price } = headroom;
  const may = `${headroom.fund_id} may ${headroom.side} ${headroom.quantity} ${headroom.symbol} in one order`;
  const facts = pairs([
    ["Worth", headroom.notional],
    ["Bound by", headroom.binding === "" ? "nothing" : headroom.binding],
    ["Price", price === undefined ? "none" : `${price.value} (${price.name}${oldText(price.age_ms)})`],
    ["Envelope", headroom.envelope_version === undefined ? "none" : `version ${headroom.envelope_version}`],
    ["As of", moment(headroom.as_of, context.clock.now())],
  ]);
  return `${clean(may)}.\n${facts}`;
}
