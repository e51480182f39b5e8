// `ctl operations parked list`: events that a subscription could not handle and put aside.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsParkedList: Verb = {
  name: "operations parked list",
  heading: "Events put aside",
  sentence: "List the events that a subscription could not handle and put aside, oldest first.",
  about:
    "PARKED: its subscription went on without it. HELD: it carries money, is tried until it is handled, and what follows in its lane waits behind it. The alarm EVENT_PARKED stands until none is left.",
  arguments: [],
  options: [limitOption, ...listOptions],
  examples: [{ command: "ctl operations parked list", sentence: "What waits for somebody." }],
  operation: "ListParked",
  changesState: false,
  run,
};

type Parked = AnswerOf<"listParked">["events"][number];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  let total = 0;
  const { rows: events } = await followPages<Parked>(
    limit,
    (one) => `${one.subscription}/${one.event_id}`,
    async (page) => {
      const answer = await client.listParked(page);
      total = answer.total;
      return answer.events;
    },
  );
  const columns: readonly Column<Parked>[] = [
    { name: "since", of: (one) => one.since, time: true },
    { name: "subscription", head: "CONSUMER", of: (one) => one.subscription },
    { name: "event_id", key: true, of: (one) => one.event_id },
    { name: "subject", minor: 1, of: (one) => one.subject },
    { name: "state", always: true, of: (one) => one.state },
    { name: "lane", of: (one) => one.lane },
    { name: "attempts", minor: 2, of: (one) => one.attempts, number: true },
    { name: "first_tried_at", head: "first tried", minor: 4, of: (one) => one.first_tried_at, time: true },
    { name: "last_tried_at", head: "last tried", minor: 3, of: (one) => one.last_tried_at, time: true },
    { name: "error", text: true, of: (one) => one.error },
    { name: "published_by", of: (one) => one.published_by, onlyCsv: true },
    { name: "published_at", of: (one) => one.published_at, onlyCsv: true },
  ];
  if (total > events.length) context.terminal.say(`There are ${total}; --limit raises it.`);
  return listing(context, { columns, rows: events, none: "Nothing is put aside.", data: { total, events } });
}
