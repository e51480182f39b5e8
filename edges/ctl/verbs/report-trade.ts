// `ctl report trade`: what a fund's trades earned, lot by lot.
import { tradeReport } from "../../../reports/trade-report.ts";
import { days } from "../report/period-verb.ts";
import { daysIn, makeReport, reportOptions } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportTrade: Verb = {
  name: "report trade",
  heading: "Reports",
  sentence: "Make the trade report of a fund.",
  about:
    "Statistics come from lots, first in first out, never from daily returns. What does not tie is stamped and ends with 10.",
  arguments: [],
  options: [
    ...days,
    {
      name: "include",
      value: "SECTION",
      repeats: true,
      values: tradeReport.sections,
      sentence: "Only these sections; all of them otherwise.",
    },
    ...reportOptions,
  ],
  examples: [
    {
      command: "ctl report trade --fund-id alpha --start 2026-01-01 --end 2026-06-30 --output alpha-trades.html",
      sentence: "Half a year.",
    },
    {
      command: "ctl report trade --fund-id beta --start 2026-01-01 --end 2026-06-30 --output lots.csv",
      sentence: "Every closed lot for a spreadsheet.",
    },
  ],
  operation: "ListFills",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const include = context.optionsOf("include");
  const period = daysIn(context, ["start", "end"]);
  return makeReport(context, tradeReport, (facts, saved) => ({
    ...(saved?.include !== undefined && { include: saved.include }),
    ...period(facts, saved),
    ...(include.length > 0 && { include }),
  }));
}
