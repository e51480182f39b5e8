// `ctl market news list`: what was reported about symbols.

import type { AnswerOf } from "../../client/src/types.ts";
import { followPages } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf, hoursOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const marketNewsList: Verb = {
  name: "market news list",
  heading: "Market",
  sentence: "List news on symbols, newest first.",
  arguments: [],
  options: [
    { name: "symbol", value: "SYMBOL", sentence: "Only about this one; about all otherwise." },
    { name: "hours", value: "N", standard: "24", sentence: "How far back." },
    { name: "limit", value: "N", standard: "100", sentence: "At most this many." },
    ...listOptions,
  ],
  examples: [{ command: "ctl market news list --symbol AAPL --hours 2", sentence: "The last two hours of one." }],
  operation: "ListNews",
  changesState: false,
  run,
};

type News = AnswerOf<"listNews">[number];

const columns: readonly Column<News>[] = [
  { name: "at", key: true, of: (one) => one.at, time: true },
  { name: "symbol", key: true, of: (one) => one.symbol },
  { name: "headline", text: true, key: true, of: (one) => one.headline },
  { name: "source", minor: 1, of: (one) => one.source },
  { name: "news_id", of: (one) => one.news_id, onlyCsv: true },
  { name: "story_id", of: (one) => one.story_id, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const symbol = context.option("symbol");
  const hours = hoursOf("hours", context.option("hours") ?? "");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: AnswerOf<"listNews">[number]) => `${one.at}/${one.news_id}`,
    (page) => client.listNews({ hours, ...page, ...(symbol !== undefined && { symbol }) }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: `There is no news of the last ${hours} h.` });
}
