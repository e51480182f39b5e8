// `ctl report postmortem`: why a fund fell.
import { postmortemReport } from "../../../reports/postmortem/postmortem-report.ts";
import { daysIn, makeReport, reportOptions } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportPostmortem: Verb = {
  name: "report postmortem",
  heading: "Reports",
  sentence: postmortemReport.sentence,
  about:
    "Every part of the waterfall is counted from positions, prices, fills and ledger; what they do not explain is shown, and ends with 10. Fixes are never executed.",
  arguments: [],
  options: [
    {
      name: "drawdown-start",
      value: "DATE",
      sentence: "The first day of the fall; needed unless --facts names it.",
    },
    { name: "drawdown-end", value: "DATE", sentence: "Its last day; needed unless --facts names it." },
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
  const [start, end] = [context.option("drawdown-start"), context.option("drawdown-end")];
  const periodOf = daysIn(context, ["drawdown-start", "drawdown-end"]);
  const period = start === undefined || end === undefined ? undefined : { start, end };
  return makeReport(context, postmortemReport, periodOf, { period });
}
