// `ctl market quotes list`: the newest price of each symbol, with its age.

import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const marketQuotesList: Verb = {
  name: "market quotes list",
  heading: "Market",
  sentence: "List the newest price of each symbol, and how old it is.",
  arguments: [],
  options: [
    { name: "symbol", value: "SYMBOL", repeats: true, sentence: "Only these; repeat it, or use commas." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl market quotes list", sentence: "Everything that is quoted." },
    { command: "ctl market quotes list --symbol AAPL,BTC-USD --watch", sentence: "Two of them, again and again." },
  ],
  operation: "ListQuotes",
  changesState: false,
  run,
};

type Quote = AnswerOf<"listQuotes">[number];

const columns: readonly Column<Quote>[] = [
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "bid", of: (one) => one.bid, shown: (one) => price(one.bid), number: true },
  { name: "ask", of: (one) => one.ask, shown: (one) => price(one.ask), number: true },
  { name: "last", of: (one) => one.last, shown: (one) => price(one.last), number: true },
  { name: "bid_size", minor: 2, of: (one) => one.bid_size, number: true },
  { name: "ask_size", minor: 2, of: (one) => one.ask_size, number: true },
  { name: "volume", minor: 1, of: (one) => one.volume, number: true },
  { name: "currency", minor: 3, of: (one) => one.currency },
  { name: "venue", minor: 4, of: (one) => one.venue },
  { name: "quoted_at", head: "quoted", always: true, of: (one) => one.quoted_at, time: true },
  { name: "age_s", of: (one) => one.age_s, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const symbols = context.optionsOf("symbol");
  const client = await context.client();
  const rows = await client.listQuotes(symbols.length === 0 ? {} : { symbols: symbols.join(",") });
  return listing(context, { columns, rows, none: "Nothing is quoted." });
}
