// `ctl report factor-attribution`: what of a fund's returns common factors explain.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "../../../contracts/src/fault.ts";
import { factorAttributionReport } from "../../../reports/factor-attribution-report.ts";
import { factorsFromCsv } from "../../../reports/factors-csv.ts";
import { ReportRefused } from "../../../reports/shape.ts";
import { usageRefusal } from "../failure.ts";
import { periodVerb } from "../report/period-verb.ts";
import { daysIn, makeReport } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportFactorAttribution: Verb = {
  ...periodVerb({
    name: "report factor-attribution",
    report: factorAttributionReport,
    about:
      "Factors are made of traded instruments: the market, 60-day momentum, technology minus rest; or BTC and the others minus BTC. --factors takes a file of your own.",
    options: [
      {
        name: "factors",
        value: "FILE",
        sentence: "A CSV of daily returns: day,NAME,... with fractions such as 0.0012.",
      },
    ],
    examples: [
      {
        command:
          "ctl report factor-attribution --fund-id alpha --start 2026-01-01 --end 2026-06-30 --output factors.html",
        sentence: "Half a year.",
      },
    ],
  }),
  run,
};

async function run(context: Context): Promise<Answer> {
  const period = daysIn(context, ["start", "end"]);
  const file = context.option("factors");
  if (file !== undefined && context.option("facts") !== undefined) {
    throw usageRefusal("--factors says what facts are read, and --facts has them already: leave one of the two out.");
  }
  const factors = file === undefined ? undefined : await factorsIn(resolve(context.folder, file));
  return makeReport(context, factorAttributionReport, period, { factors });
}

async function factorsIn(path: string) {
  const text = await readFile(path, "utf8").catch((thrown: unknown) => {
    throw usageRefusal(`${path} cannot be read: ${messageOf(thrown)}.`);
  });
  try {
    return factorsFromCsv(text);
  } catch (thrown) {
    if (thrown instanceof ReportRefused) throw usageRefusal(`${path}: ${thrown.message}`);
    throw thrown;
  }
}
