// `ctl report nav`: what a fund was worth, day by day, and that every step is accounted for.
import { navReport } from "../../../reports/nav-report.ts";
import { makeReport, reportOptions, windowIn } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportNav: Verb = {
  name: "report nav",
  heading: "Reports",
  sentence: "Make the NAV report of a fund.",
  about:
    "Every figure carries its definition; the lines at the end must tie. Where one does not, the document is stamped and this ends with 10.",
  arguments: [],
  options: [
    {
      name: "window",
      value: "WINDOW",
      sentence: "1d, 7d, 30d, 90d, 1y, mtd, qtd, ytd, itd, or START..END; 30d when absent, or as the facts were saved.",
    },
    ...reportOptions,
  ],
  examples: [
    {
      command: "ctl report nav --fund-id alpha --window 1y --output alpha.html",
      sentence: "A year, to read or print.",
    },
    { command: "ctl report nav --fund-id beta --window mtd --output - --json", sentence: "The document itself." },
    {
      command: "ctl report nav --facts alpha.facts.json --output again.html",
      sentence: "The same again from kept facts, without a server.",
    },
  ],
  operation: "ListNavs",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  return makeReport(context, navReport, windowIn(context.option("window"), "30d"));
}
