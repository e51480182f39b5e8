// `ctl report settlement`: when a year's trades settle, and its realised lots by term.
import { settlementReport } from "../../../reports/settlement-report.ts";
import { usageRefusal } from "../failure.ts";
import { makeReport, reportOptions } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportSettlement: Verb = {
  name: "report settlement",
  heading: "Reports",
  sentence: settlementReport.sentence,
  about:
    "Settlement counts the market's settlement days, not the exchange's. The paper broker confirms none: what is due is assumed settled.",
  arguments: [],
  options: [
    { name: "year", value: "YEAR", sentence: "Which year, such as 2026; needed unless --facts names it." },
    ...reportOptions,
  ],
  examples: [
    {
      command: "ctl report settlement --fund-id alpha --year 2026 --output settlement.html",
      sentence: "A year, to read or print.",
    },
    {
      command: "ctl report settlement --fund-id beta --year 2026 --output trades.csv",
      sentence: "Every trade with its settlement date, for a spreadsheet.",
    },
  ],
  operation: "ListFills",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const year = context.option("year");
  if (year === undefined) {
    const missing = (instead: string) => usageRefusal(`Name the year with --year${instead}.`);
    if (context.option("facts") === undefined) throw missing(", or a facts file with --facts");
    return makeReport(context, settlementReport, (_facts, saved) => {
      if (saved === undefined) throw missing(": the facts were not saved for this report");
      return saved;
    });
  }
  if (!/^(19|20)\d\d$/.test(year)) throw usageRefusal(`--year is ${year}, which is no year such as 2026.`);
  return makeReport(context, settlementReport, () => ({ start: `${year}-01-01`, end: `${year}-12-31` }));
}
