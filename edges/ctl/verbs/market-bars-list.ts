// `ctl market bars list`: how a symbol's price moved.

import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const intervals = ["1m", "5m", "15m", "1h", "1d"] as const;

export const marketBarsList: Verb = {
  name: "market bars list",
  heading: "Market",
  sentence: "List how a symbol's price moved, oldest first.",
  arguments: [{ name: "symbol", sentence: "The instrument: AAPL, BTC-USD." }],
  options: [
    {
      name: "interval",
      value: "INTERVAL",
      standard: "1m",
      values: intervals,
      closed: true,
      sentence: "What one covers.",
    },
    { name: "start", value: "TIME", sentence: "From this moment on, RFC 3339; the newest otherwise." },
    { name: "end", value: "TIME", sentence: "Up to this moment, RFC 3339." },
    { name: "limit", value: "N", standard: "30", sentence: "At most this many." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl market bars list AAPL", sentence: "The newest minutes." },
    { command: "ctl market bars list BTC-USD --interval 1h --limit 24 --format csv", sentence: "A day by the hour." },
  ],
  operation: "ListBars",
  changesState: false,
  run,
};

type Bar = AnswerOf<"listBars">[number];

const columns: readonly Column<Bar>[] = [
  { name: "symbol", of: (one) => one.symbol },
  { name: "interval", of: (one) => one.interval },
  { name: "start", key: true, of: (one) => one.start, time: true },
  { name: "open", of: (one) => one.open, shown: (one) => price(one.open), number: true },
  { name: "high", of: (one) => one.high, shown: (one) => price(one.high), number: true },
  { name: "low", of: (one) => one.low, shown: (one) => price(one.low), number: true },
  { name: "close", of: (one) => one.close, shown: (one) => price(one.close), number: true },
  { name: "volume", minor: 1, of: (one) => one.volume, number: true },
  { name: "trade_count", minor: 2, head: "trades", of: (one) => one.trade_count, number: true },
];

async function run(context: Context): Promise<Answer> {
  const symbol = context.argument("symbol");
  const [start, end] = [context.option("start"), context.option("end")];
  const rows = await (await context.client()).listBars({
    symbol,
    // The option takes no other words.
    interval: context.option("interval") as (typeof intervals)[number],
    countMax: countOf("limit", context.option("limit") ?? "", 1),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
  });
  return listing(context, { columns, rows, none: `There are no bars of ${symbol}.` });
}
