// `ctl report tca`: what it cost to trade.
import { tcaReport } from "../../../reports/tca-report.ts";
import { makeReport, reportOptions, windowIn } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportTca: Verb = {
  name: "report tca",
  heading: "Reports",
  sentence: tcaReport.sentence,
  about:
    "A cost above zero is bad for both sides. Orders whose quotes were not kept are listed as excluded, never guessed.",
  arguments: [],
  options: [
    {
      name: "window",
      value: "WINDOW",
      sentence: "1d, 7d, 30d, 90d, 1y, mtd, qtd, ytd, itd, or START..END; 7d when absent, or as the facts were saved.",
    },
    ...reportOptions,
  ],
  examples: [{ command: "ctl report tca --fund-id alpha --window 7d --output tca.html", sentence: "The last week." }],
  operation: "ListOrders",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  return makeReport(context, tcaReport, windowIn(context.option("window"), "7d"));
}
