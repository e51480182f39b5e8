// `ctl report tca`: what it cost to trade.
import { tcaReport } from "../../../reports/tca-report.ts";
import { windowOf } from "../../../reports/windows.ts";
import { makeReport, reportOptions } from "../report/report-verb.ts";
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
      standard: "7d",
      sentence: "1d, 7d, 30d, 90d, 1y, mtd, qtd, ytd, itd, or START..END.",
    },
    ...reportOptions,
  ],
  examples: [{ command: "ctl report tca --fund-id alpha --window 7d --output tca.html", sentence: "The last week." }],
  operation: "ListOrders",
  changesState: false,
  run,
};

function run(context: Context): Promise<Answer> {
  return makeReport(context, tcaReport, ({ navs }) =>
    windowOf(context.option("window") ?? "7d", navs[0]?.day ?? "2000-01-01", navs.at(-1)?.day ?? "2000-01-01"),
  );
}
