// `ctl report risk-envelope`: limits with their use, and what the fund may lose.
import { dateOfDay, dayNumber } from "../../../reports/metrics/dates.ts";
import { riskEnvelopeReport } from "../../../reports/risk-envelope-report.ts";
import { makeReport, reportOptions } from "../report/report-verb.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportRiskEnvelope: Verb = {
  name: "report risk-envelope",
  heading: "Reports",
  sentence: riskEnvelopeReport.sentence,
  about: "The year up to the last value, or up to --as-of. The use of limits is only counted for the present.",
  arguments: [],
  options: reportOptions,
  examples: [{ command: "ctl report risk-envelope --fund-id alpha --output risk.html", sentence: "As it stands now." }],
  operation: "GetLimitUse",
  changesState: false,
  run,
};

function run(context: Context): Promise<Answer> {
  return makeReport(context, riskEnvelopeReport, ({ navs }) => {
    const end = navs.at(-1)?.day ?? "2000-01-01";
    return { start: dateOfDay(dayNumber(end) - 364), end };
  });
}
