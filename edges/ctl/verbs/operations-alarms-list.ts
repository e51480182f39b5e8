// `ctl operations alarms list`: what the platform wanted a person to know, and when.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf, hoursOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAlarmsList: Verb = {
  name: "operations alarms list",
  heading: "Alarms",
  sentence: "List the alarms that were raised, newest first.",
  about:
    "Each is an entry of the audit log: `ctl operations audit show` has its number. An alarm says that a condition began; whether it still holds, `ctl doctor` and `ctl riskengine blocks list` say.",
  arguments: [],
  options: [
    { name: "hours", value: "N", standard: "24", sentence: "How far back, in hours." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl operations alarms list --hours 1", sentence: "The last hour's." },
    { command: "ctl operations alarms list --watch", sentence: "Keep looking." },
  ],
  operation: "ListAlarms",
  changesState: false,
  run,
};

type Alarm = AnswerOf<"listAlarms">[number];

const columns: readonly Column<Alarm>[] = [
  { name: "at", head: "raised", key: true, of: (one) => one.at, time: true },
  { name: "level", always: true, of: (one) => one.level },
  { name: "code", key: true, of: (one) => one.code },
  { name: "service", minor: 3, of: (one) => one.service },
  { name: "fund_id", of: (one) => one.fund_id },
  { name: "strategy_id", minor: 2, of: (one) => one.strategy_id },
  { name: "symbol", of: (one) => one.symbol },
  { name: "sentence", text: true, of: (one) => one.sentence },
  { name: "sequence", head: "entry", minor: 1, number: true, of: (one) => one.sequence },
  { name: "facts", of: (one) => JSON.stringify(one.facts), onlyCsv: true },
  { name: "alarm_id", of: (one) => one.alarm_id, onlyCsv: true },
  { name: "event_id", of: (one) => one.event_id, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const hours = hoursOf("hours", context.option("hours") ?? "");
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Alarm) => one.alarm_id,
    (page) => client.listAlarms({ hours, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: `No alarm was raised in the last ${hours} h.` });
}
