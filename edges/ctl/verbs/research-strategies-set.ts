// `ctl research strategies set`: lets a strategy trade, only compute, or rest, and says how much of the fund it may work with.

import { exactPercent } from "../../words/figures.ts";
import { usageRefusal } from "../failure.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { fractionOf } from "../text/numbers.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const statuses = ["live", "shadow", "halted"] as const;

export const researchStrategiesSet: Verb = {
  name: "research strategies set",
  heading: "Strategies",
  sentence: "Change a strategy's status or how much of its fund it may work with.",
  about:
    "What is not named stays as it is. It keeps what the strategy holds: positions are closed by orders, and a halt that is in force is lifted by `ctl cmd resume`, not by this. It is refused without a reason.",
  arguments: [{ name: "strategy_id", sentence: "The strategy." }],
  options: [
    {
      name: "status",
      value: "STATUS",
      values: statuses,
      closed: true,
      sentence: "live trades, shadow only computes what it would do, halted does nothing.",
    },
    { name: "allocation-pct", value: "FRACTION", sentence: "Fraction of the fund's NAV: 0.4 is 40 %." },
    reasonOption,
  ],
  examples: [
    { command: "ctl research strategies set alpha-meanrev --status shadow --reason drift", sentence: "Only watch it." },
    {
      command: "ctl research strategies set alpha-momentum --allocation-pct 0.3 --reason calmer",
      sentence: "Less money for it.",
    },
  ],
  operation: "SetStrategy",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const status = context.option("status") as (typeof statuses)[number] | undefined;
  const share = context.option("allocation-pct");
  if (status === undefined && share === undefined) {
    throw usageRefusal("There is nothing to change.", "Add --status or --allocation-pct.");
  }
  const changed = await (await context.client()).setStrategy({
    strategyId: context.argument("strategy_id"),
    ...(status === undefined ? {} : { status }),
    ...(share === undefined ? {} : { allocationPct: fractionOf("allocation-pct", share) }),
    reason: needsReason(context),
  });
  const words = `${changed.strategy_id} (${changed.fund_id}) is ${changed.status}, with ${exactPercent(changed.allocation_pct)} of NAV.`;
  return { data: changed, text: clean(words) };
}
