// `ctl signals template`: an alert's message for the charting platform, ready to be pasted; only the secret is missing.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { alertTemplate } from "../../words/alert-template.ts";
import { Refusal } from "../failure.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const signalsTemplate: Verb = {
  name: "signals template",
  heading: "Signals",
  sentence: "Print the message of an alert, ready to be pasted.",
  about:
    "For an alert of a strategy on the charting platform. Put the fund's secret in its marked place; `ctl signals rotate-secret` makes one. `ctl signals test` says what would become of it.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", required: true, sentence: "The fund whose alerts they are." },
    { name: "strategy-id", value: "STRATEGY", required: true, sentence: "The strategy, one of the fund's." },
  ],
  examples: [
    {
      command: "ctl signals template --fund-id alpha --strategy-id alpha-momentum",
      sentence: "The JSON, on stdout.",
    },
  ],
  operation: "ListStrategies",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const strategyId = context.option("strategy-id") ?? "";
  const strategies = await (await context.client()).listStrategies();
  if (!strategies.some((one) => one.strategy_id === strategyId && one.fund_id === fundId)) {
    const own = strategies.filter((one) => one.fund_id === fundId).map((one) => one.strategy_id);
    const hint = own.length === 0 ? "`ctl research strategies list` shows them all." : `It has ${own.join(", ")}.`;
    throw new Refusal(exitCodes.failed, "NOT_FOUND", `${fundId} has no strategy ${strategyId}.`, hint);
  }
  const template = alertTemplate(fundId, strategyId);
  return { data: template, text: JSON.stringify(template, null, 2) };
}
