// `ctl report alpha-decay`: how fast a strategy's signal loses its skill.
import { alphaDecayReport } from "../../../reports/alpha-decay-report.ts";
import type { ReportFacts } from "../../../reports/facts.ts";
import { usageRefusal } from "../failure.ts";
import { makeReport, type PeriodOf, reportOptions, windowIn } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportAlphaDecay: Verb = {
  name: "report alpha-decay",
  heading: "Reports",
  sentence: alphaDecayReport.sentence,
  about:
    "A strategy of one name has no order across symbols: it is reported as insufficient. The fund is the strategy's own.",
  arguments: [],
  options: [
    { name: "strategy-id", value: "STRATEGY", sentence: "Which strategy; needed unless --facts names it." },
    {
      name: "window",
      value: "WINDOW",
      sentence: "1d, 7d, 30d, 90d, 1y, mtd, qtd, ytd, itd, or START..END; itd when absent, or as the facts were saved.",
    },
    ...reportOptions.filter(({ name }) => name !== "fund-id"),
  ],
  examples: [
    {
      command: "ctl report alpha-decay --strategy-id alpha-momentum --output decay.html",
      sentence: "Since its first value.",
    },
  ],
  operation: "GetBacktest",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const strategyId = context.option("strategy-id");
  const period = windowIn(context.option("window"), "itd");
  const fundId = context.option("facts") === undefined ? await fundOf(context, strategyId) : undefined;
  const asked: PeriodOf = (facts, saved) => ({
    ...period(facts, saved),
    ...named(strategyId ?? saved?.strategyId ?? onlyStrategy(facts)),
  });
  return makeReport(context, alphaDecayReport, asked, { fundId, strategyId });
}

const named = (strategyId: string | undefined) => (strategyId === undefined ? {} : { strategyId });

/** Facts that were read for one strategy have the signals of no other. */
function onlyStrategy({ signals = {} }: ReportFacts): string | undefined {
  const [only, ...others] = Object.keys(signals);
  return others.length === 0 ? only : undefined;
}

async function fundOf(context: Context, strategyId: string | undefined): Promise<string> {
  if (strategyId === undefined)
    throw usageRefusal("Name the strategy with --strategy-id, or a facts file with --facts.");
  const rows = await (await context.client()).listStrategies({});
  const found = rows.find((row) => row.strategy_id === strategyId);
  if (found !== undefined) return found.fund_id;
  const known = rows.map((row) => row.strategy_id).join(", ");
  throw usageRefusal(`There is no strategy ${strategyId}.`, `The strategies are ${known}.`);
}
