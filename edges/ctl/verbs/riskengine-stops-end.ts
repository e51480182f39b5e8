// `ctl riskengine stops end`: ends a stop that fired, without its exit. The position stays open, so somebody must say why.

import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineStopsEnd: Verb = {
  name: "riskengine stops end",
  heading: "Stops",
  sentence: "End a stop that fired, without its exit.",
  about:
    "No exit is tried for it any more, and what is left of the position stays open. It is refused without a reason.",
  arguments: [{ name: "stop_id", sentence: "The stop, as `ctl riskengine stops list --owed` names it." }],
  options: [reasonOption],
  examples: [
    { command: "ctl riskengine stops end stop-17 --reason closed-by-hand", sentence: "It was closed by hand." },
  ],
  operation: "EndStop",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const stopId = context.argument("stop_id");
  const reason = needsReason(context);
  const stop = await (await context.client()).endStop({ stopId, reason });
  const held = `${stop.symbol} of ${stop.fund_id} (${stop.strategy_id})`;
  return {
    data: stop,
    text: clean(`The stop ${stopId} on ${held} is ${stop.state}. Nothing closes that position now.`),
  };
}
