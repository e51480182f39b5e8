// `ctl replay bars`: how a price had moved by a moment, as it was heard then.
import { format } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { momentOf } from "../text/moments.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const intervals = ["1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"] as const;

export const replayBars: Verb = {
  name: "replay bars",
  heading: "Replay",
  group: {
    heading: "Risk",
    sentence: "What was known at a moment of the past, and whether records are what they were.",
  },
  sentence: "List how a symbol's price had moved by a moment, oldest first.",
  about:
    "Made of the prices as they were heard; nothing after the moment is in it. The bar in which the moment lies is not closed. Where nothing was heard there is no bar, and a bar of which a part was not heard is cut.",
  arguments: [{ name: "symbol", sentence: "The instrument: AAPL, BTC-USD." }],
  options: [
    { name: "at", value: "TIME", sentence: "The moment, RFC 3339; now otherwise." },
    {
      name: "interval",
      value: "INTERVAL",
      standard: "1m",
      values: intervals,
      closed: true,
      sentence: "What one covers.",
    },
    { name: "limit", value: "N", standard: "30", sentence: "At most this many, the newest before the moment." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl replay bars AAPL --at 2026-11-15T13:30:00Z", sentence: "The minutes before that moment." },
    {
      command: "ctl replay bars BTC-USD --interval 1h --limit 24 --format csv",
      sentence: "A day by the hour, as heard.",
    },
  ],
  operation: "ListReplayBars",
  changesState: false,
  run,
};

type Bar = AnswerOf<"listReplayBars">[number];

const columns: readonly Column<Bar>[] = [
  { name: "symbol", of: (one) => one.symbol },
  { name: "interval", of: (one) => one.interval },
  { name: "start", key: true, of: (one) => one.start, time: true },
  { name: "open", of: (one) => one.open, shown: (one) => price(one.open), number: true },
  { name: "high", of: (one) => one.high, shown: (one) => price(one.high), number: true },
  { name: "low", of: (one) => one.low, shown: (one) => price(one.low), number: true },
  { name: "close", of: (one) => one.close, shown: (one) => price(one.close), number: true },
  { name: "quote_count", head: "quotes", minor: 2, of: (one) => one.quote_count, number: true },
  { name: "closed", of: (one) => one.closed },
  { name: "source", of: (one) => one.source },
  { name: "cut", of: (one) => one.cut },
  { name: "feed", minor: 1, of: (one) => one.feed },
];

async function run(context: Context): Promise<Answer> {
  const symbol = context.argument("symbol");
  const at = context.option("at");
  const rows = await (await context.client()).listReplayBars({
    symbol,
    // The option takes no other words.
    interval: context.option("interval") as (typeof intervals)[number],
    countMax: countOf("limit", context.option("limit") ?? "", 1),
    ...(at !== undefined && { at: format(momentOf("at", at, "start")) }),
  });
  return listing(context, { columns, rows, none: `Nothing was heard of ${symbol} before that moment.` });
}
