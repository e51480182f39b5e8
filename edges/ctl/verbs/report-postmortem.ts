// `ctl report postmortem`: why a fund fell.
import { postmortemReport } from "../../../reports/postmortem/postmortem-report.ts";
import { daysAsked, makeReport, reportOptions } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportPostmortem: Verb = {
  name: "report postmortem",
  heading: "Reports",
  sentence: postmortemReport.sentence,
  about:
    "Every part of the waterfall is counted from positions, prices, fills and ledger; what they do not explain is shown, and ends with 10. Fixes are never executed.",
  arguments: [],
  options: [
    { name: "drawdown-start", value: "DATE", required: true, sentence: "The first day of the fall." },
    { name: "drawdown-end", value: "DATE", required: true, sentence: "Its last day." },
    ...reportOptions,
  ],
  examples: [
    {
      command:
        "ctl report postmortem --fund-id alpha --drawdown-start 2026-11-17 --drawdown-end 2026-11-18 --output fall.html",
      sentence: "A day and the one before it.",
    },
  ],
  operation: "ReadAudit",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const period = daysAsked(context.option("drawdown-start"), context.option("drawdown-end"));
  return makeReport(context, postmortemReport, () => period, { period });
}
