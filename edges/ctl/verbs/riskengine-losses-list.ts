// `ctl riskengine losses list`: what each fund has lost since its baselines, beside the limits that would halt it.
import type { AnswerOf } from "../../client/src/types.ts";
import type { Context } from "../context.ts";
import { type Column, formatOption, listing } from "../listing.ts";
import { price } from "../money.ts";
import { moment } from "../text.ts";
import type { Answer, Verb } from "./verb.ts";

export const riskengineLossesList: Verb = {
  name: "riskengine losses list",
  heading: "Halts",
  sentence: "See losses against their baselines and limits.",
  about:
    "A loss equal to its limit halts the fund, or the strategy. PENDING waits for its confirmation: until then the fund takes no new risk.",
  arguments: [],
  options: [{ name: "fund-id", value: "FUND", sentence: "Only this fund." }, formatOption],
  examples: [{ command: "ctl riskengine losses list --fund-id alpha", sentence: "One fund." }],
  operation: "ListLosses",
  changesState: false,
  run,
};

type Loss = AnswerOf<"listLosses">[number];

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id");
  const rows = await (await context.client()).listLosses(fundId === undefined ? {} : { fundId });
  const now = context.clock.now();
  const share = (pct: number | undefined): string => (pct === undefined ? "off" : `${(pct * 100).toFixed(2)} %`);
  const columns: readonly Column<Loss>[] = [
    { name: "fund_id", of: (one) => one.fund_id },
    { name: "strategy_id", of: (one) => one.strategy_id },
    { name: "limit", of: (one) => one.limit },
    { name: "period", of: (one) => one.period },
    { name: "baseline", of: (one) => one.baseline, shown: (one) => price(one.baseline), number: true },
    { name: "value", of: (one) => one.value, shown: (one) => price(one.value), number: true },
    { name: "loss", of: (one) => one.loss, shown: (one) => price(one.loss), number: true },
    { name: "loss_pct", of: (one) => one.loss_pct, shown: (one) => share(one.loss_pct), number: true },
    { name: "limit_pct", of: (one) => one.limit_pct, shown: (one) => share(one.limit_pct), number: true },
    { name: "state", of: (one) => one.state },
    { name: "as_of", of: (one) => one.as_of, shown: (one) => moment(one.as_of, now) },
    { name: "baseline_at", of: (one) => one.baseline_at, onlyCsv: true },
    { name: "rebased_by", of: (one) => one.rebased_by },
  ];
  return listing(context, { columns, rows, none: "No fund has been valued yet." });
}
