// `ctl replay timeline`: what happened to a fund, in the order in which it was learned of.
import { format } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { momentOf } from "../text/moments.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const replayTimeline: Verb = {
  name: "replay timeline",
  heading: "Replay",
  sentence: "List what happened to a fund, oldest first.",
  about:
    "In the order in which we learned of it: what reached us late stands where it was recorded, and says when it happened. What concerns the firm is in every fund's.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "The fund that it is about.", required: true },
    { name: "from", value: "TIME", sentence: "From this moment on, RFC 3339; the day before the end otherwise." },
    { name: "to", value: "TIME", sentence: "Up to this moment, RFC 3339; now otherwise." },
    {
      name: "kinds",
      value: "KINDS",
      sentence:
        "Only these, with commas between: order, decision, fill, stop, halt, envelope, restriction, strategy, ledger, signal, news, alarm.",
    },
    { name: "denied", sentence: "Only decisions that denied an order." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl replay timeline --fund-id alpha", sentence: "The last day." },
    {
      command:
        "ctl replay timeline --fund-id alpha --from 2026-11-15T13:00:00Z --to 2026-11-15T14:00:00Z --kinds halt,fill",
      sentence: "Halts and fills of an hour.",
    },
  ],
  operation: "ListTimeline",
  changesState: false,
  run,
};

type Event = AnswerOf<"listTimeline">[number];

const columns: readonly Column<Event>[] = [
  { name: "at", key: true, of: (one) => one.at, time: true },
  { name: "kind", key: true, of: (one) => one.kind },
  { name: "symbol", of: (one) => one.symbol },
  { name: "strategy_id", minor: 2, of: (one) => one.strategy_id },
  { name: "code", of: (one) => one.code },
  { name: "summary", text: true, of: (one) => one.summary },
  { name: "happened_at", of: (one) => one.happened_at, onlyCsv: true },
  { name: "order_id", of: (one) => one.order_id, onlyCsv: true },
  { name: "sequence", of: (one) => one.sequence, onlyCsv: true },
  { name: "event_id", of: (one) => one.event_id, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const [from, to, kinds] = [context.option("from"), context.option("to"), context.option("kinds")];
  const asked = {
    fundId: context.option("fund-id") ?? "",
    ...(from !== undefined && { from: format(momentOf("from", from, "start")) }),
    ...(to !== undefined && { to: format(momentOf("to", to, "end")) }),
    ...(kinds !== undefined && { kinds }),
    ...(context.switched("denied") && { denied: true }),
  };
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Event) => one.event_id,
    (page) => client.listTimeline({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: "Nothing of that was recorded in that time." });
}
