// `ctl report position-attribution`: what every position added to a fund.
import { positionAttributionReport } from "../../../reports/position-attribution-report.ts";
import { periodVerb } from "../report/period-verb.ts";
import type { Verb } from "./verb.ts";

export const reportPositionAttribution: Verb = periodVerb({
  name: "report position-attribution",
  report: positionAttributionReport,
  about:
    "Price moves, trading, fees and income of every position. A day whose sum is not the change of NAV ends with 10.",
  examples: [
    {
      command:
        "ctl report position-attribution --fund-id alpha --start 2026-01-01 --end 2026-06-30 --output alpha.html",
      sentence: "Half a year.",
    },
  ],
});
