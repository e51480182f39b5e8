// `ctl riskengine stops list`: the synthetic stops, those that rest and those that fired and are owed their exit.
import type { AnswerOf } from "../../client/src/types.ts";
import type { Context } from "../context.ts";
import { type Column, formatOption, listing } from "../listing.ts";
import { price } from "../money.ts";
import { moment } from "../text.ts";
import type { Answer, Verb } from "./verb.ts";

export const riskengineStopsList: Verb = {
  name: "riskengine stops list",
  heading: "Stops",
  sentence: "List the synthetic stops.",
  about:
    "RESTING waits for its price, UNPRICED has none that it could fire on, OWED fired and has no exit under way, EXITING has one. A long position is watched by the bid, a short one by the ask.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", sentence: "Only this fund's; every fund's otherwise." },
    { name: "owed", sentence: "Only those that fired and wait for their exit." },
    formatOption,
  ],
  examples: [
    { command: "ctl riskengine stops list --fund-id alpha", sentence: "Where alpha's positions would be closed." },
    { command: "ctl riskengine stops list --owed", sentence: "What still has to be closed." },
  ],
  operation: "ListStops",
  changesState: false,
  run,
};

type Stop = AnswerOf<"listStops">["stops"][number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const owed = context.switched("owed");
  const now = context.clock.now();
  const asked = { ...(fundId === undefined ? {} : { fundId }), ...(owed ? { owed } : {}) };
  const { enabled, stops } = await (await context.client()).listStops(asked);
  if (!enabled) context.terminal.say("The stops are switched off (synthetic_stop.enabled): nobody watches them.");
  const when = (at: string | undefined): string => (at === undefined ? "" : moment(at, now));
  const columns: readonly Column<Stop>[] = [
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "symbol", of: (one) => one.symbol },
    { name: "quantity", of: (one) => one.quantity, number: true },
    { name: "basis_price", of: (one) => one.basis_price, shown: (one) => price(one.basis_price), number: true },
    { name: "trigger_price", of: (one) => one.trigger_price, shown: (one) => price(one.trigger_price), number: true },
    {
      name: "observed_price",
      of: (one) => one.observed_price,
      shown: (one) => price(one.observed_price),
      number: true,
    },
    { name: "observed_at", of: (one) => one.observed_at, shown: (one) => when(one.observed_at) },
    { name: "state", of: (one) => one.state },
    { name: "fired_at", of: (one) => one.fired_at, shown: (one) => when(one.fired_at) },
    { name: "attempts", of: (one) => one.attempts, number: true },
    { name: "stop_id", of: (one) => one.stop_id },
    { name: "order_id", of: (one) => one.order_id },
    { name: "complaint", of: (one) => one.complaint },
  ];
  return listing(context, { columns, rows: stops, none: owed ? "No exit is owed." : "There are no stops." });
}
