// `ctl riskengine throttle release`: lets a strategy trade again after it repeated itself too often. Somebody should know why it did.

import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineThrottleRelease: Verb = {
  name: "riskengine throttle release",
  heading: "Limits",
  sentence: "Let a strategy trade again after its repeated-execution throttle tripped.",
  about: "It is refused without a reason, and when the throttle has not tripped (exit 6).",
  arguments: [],
  options: [{ name: "strategy-id", value: "STRATEGY", required: true, sentence: "Which strategy." }, reasonOption],
  examples: [
    {
      command: "ctl riskengine throttle release --strategy-id alpha-momentum --reason loop-fixed",
      sentence: "The loop is fixed.",
    },
  ],
  operation: "ReleaseThrottle",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const strategyId = context.option("strategy-id") ?? "";
  const status = await (await context.client()).releaseThrottle({ strategyId, ...reasonOf(context) });
  return { data: status, text: `The throttle of ${clean(status.strategy_id)} (${clean(status.fund_id)}) is released.` };
}
