// `ctl treasury navs list`: what a fund was worth over time.

import { format, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { money } from "../../words/money.ts";
import { fundOption } from "../envelope-flags.ts";
import { followPages } from "../follow-pages.ts";
import { fundModes } from "../fund-modes.ts";
import { type Column, isForPeople, listing, listOptions } from "../text/listing.ts";
import { countOf, hoursOf } from "../text/numbers.ts";
import { span } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const steps = ["second", "minute", "hour", "day"] as const;

export const treasuryNavsList: Verb = {
  name: "treasury navs list",
  heading: "Funds",
  sentence: "List what a fund was worth over time, oldest first.",
  about: "NAV is exactly cash plus the value of the positions; how old the oldest price in it was stands beside it.",
  arguments: [],
  options: [
    fundOption,
    { name: "hours", value: "N", standard: "24", sentence: "How far back, in hours." },
    {
      name: "every",
      value: "STEP",
      standard: "hour",
      values: steps,
      closed: true,
      sentence: "One value per that time.",
    },
    { name: "limit", value: "N", standard: "1000", sentence: "At most this many, the newest." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl treasury navs list --fund-id alpha", sentence: "The last day, hour by hour." },
    {
      command: "ctl treasury navs list --fund-id alpha --hours 8760 --every day --format csv",
      sentence: "A year for a spreadsheet.",
    },
  ],
  operation: "ListNavs",
  changesState: false,
  run,
};

type Nav = AnswerOf<"listNavs">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const hours = hoursOf("hours", context.option("hours") ?? "");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  // The option takes no other words.
  const every = context.option("every") as (typeof steps)[number];
  const now = context.clock.now();
  const client = await context.client();
  const asked = { fundId, from: format(minusMilliseconds(now, hours * 3_600_000)), every };
  // Pages are oldest first, and the next one lies before the first.
  const newestFirst = async (page: { readonly countMax: number; readonly after?: string }) =>
    [...(await client.listNavs({ ...asked, ...page }))].reverse();
  const { rows: followed, more } = await followPages(limit, (one: Nav) => one.as_of, newestFirst);
  const rows = [...followed].reverse();
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns: readonly Column<Nav>[] = [
    { name: "as_of", key: true, of: (one) => one.as_of, time: true },
    { name: "nav", of: (one) => one.nav, shown: (one) => money(one.nav), number: true },
    { name: "cash", of: (one) => one.cash, shown: (one) => money(one.cash), number: true },
    {
      name: "positions_value",
      head: "positions",
      of: (one) => one.positions_value,
      shown: (one) => money(one.positions_value),
      number: true,
    },
    { name: "net_flows", of: (one) => one.net_flows, shown: (one) => money(one.net_flows), number: true },
    { name: "currency", of: (one) => one.currency },
    {
      name: "oldest_price_age_ms",
      always: true,
      head: "oldest price age",
      of: (one) => one.oldest_price_age_ms,
      shown: (one) => (one.oldest_price_age_ms === undefined ? "" : span(one.oldest_price_age_ms)),
      number: true,
    },
    { name: "trading_day", of: (one) => one.trading_day, onlyCsv: true },
    { name: "fund_id", of: (one) => one.fund_id, onlyCsv: true },
  ];
  const lead = isForPeople(context) ? { lead: `${fundId} (${(await fundModes(client, context))(fundId)})` } : {};
  return listing(context, { columns, rows, none: `${fundId} was not valued in the last ${hours} h.`, ...lead });
}
