// `ctl riskengine stops list`: the synthetic stops, those that rest and those that fired and are owed their exit.

import type { AnswerOf } from "../../client/src/types.ts";
import { price } from "../../words/money.ts";
import { usageRefusal } from "../failure.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, isForPeople, listing, listOptions } from "../text/listing.ts";
import { countOf, hoursOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineStopsList: Verb = {
  name: "riskengine stops list",
  heading: "Stops",
  sentence: "List the synthetic stops.",
  about:
    "RESTING waits for its price, REACHED has it and fires at the next look, UNPRICED has none that it could fire on, OWED fired and has no exit under way, EXITING has one. A long position is watched by the bid, a short one by the ask.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "owed", sentence: "Only those that fired and wait for their exit." },
    { name: "ended", sentence: "Only those that ended in the last --hours, newest first." },
    { name: "hours", value: "N", standard: "24", sentence: "How far back --ended looks, in hours." },
    { ...limitOption, standard: "1000", sentence: "At most this many of those that ended." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl riskengine stops list --fund-id alpha", sentence: "Where alpha's positions would be closed." },
    { command: "ctl riskengine stops list --owed", sentence: "What still has to be closed." },
    { command: "ctl riskengine stops list --ended --hours 168", sentence: "What became of those of the last week." },
  ],
  operation: "ListStops",
  changesState: false,
  run,
};

type Stop = AnswerOf<"listStops">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const owed = context.switched("owed");
  const isEnded = context.switched("ended");
  if (owed && isEnded) throw usageRefusal("--owed and --ended exclude each other.");
  const hours = hoursOf("hours", context.option("hours") ?? "");
  const asked = {
    ...(fundId === undefined ? {} : { fundId }),
    ...(owed ? { owed } : {}),
  };
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows: stops, more } = isEnded
    ? await followPages<Stop>(
        limit,
        (one) => one.stop_id ?? "",
        (page) => client.listStops({ ...asked, endedHours: hours, ...page }),
      )
    : { rows: await client.listStops(asked), more: false };
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const { notes = [] } = isForPeople(context) ? await client.getHealth() : {};
  if (notes.some((note) => note.includes("Synthetic stops are switched off"))) {
    context.terminal.say("The stops are switched off (synthetic_stop.enabled): nobody watches them.");
  }
  const columns: readonly Column<Stop>[] = [
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "symbol", key: true, of: (one) => one.symbol },
    { name: "quantity", of: (one) => one.quantity, number: true },
    {
      name: "basis_price",
      head: "basis",
      minor: 2,
      of: (one) => one.basis_price,
      shown: (one) => price(one.basis_price),
      number: true,
    },
    {
      name: "trigger_price",
      head: "trigger",
      of: (one) => one.trigger_price,
      shown: (one) => price(one.trigger_price),
      number: true,
    },
    {
      name: "observed_price",
      head: "observed",
      of: (one) => one.observed_price,
      shown: (one) => price(one.observed_price),
      number: true,
    },
    { name: "observed_at", head: "seen", minor: 2, of: (one) => one.observed_at, time: true },
    { name: "state", always: true, of: (one) => one.state },
    { name: "fired_at", head: "fired", of: (one) => one.fired_at, time: true },
    { name: "attempts", minor: 3, of: (one) => one.attempts, number: true },
    { name: "stop_id", minor: 3, key: true, of: (one) => one.stop_id },
    { name: "order_id", id: true, minor: 3, of: (one) => one.order_id },
    ...(isEnded ? endedColumns : [complaintColumn]),
  ];
  const none = isEnded ? `No stop ended in the last ${hours} h.` : owed ? "No exit is owed." : "There are no stops.";
  return listing(context, { columns, rows: stops, none });
}

const endedColumns: readonly Column<Stop>[] = [
  { name: "outcome", of: (one) => one.outcome },
  { name: "exited_quantity", of: (one) => one.exited_quantity, number: true },
  { name: "ended_at", of: (one) => one.ended_at, time: true },
];

const complaintColumn: Column<Stop> = { name: "complaint", text: true, of: (one) => one.complaint };
