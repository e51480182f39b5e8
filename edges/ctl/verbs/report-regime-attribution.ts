// `ctl report regime-attribution`: in which kind of market a fund earned what it earned.
import { regimeAttributionReport } from "../../../reports/regime-attribution-report.ts";
import { periodVerb } from "../report/period-verb.ts";
import type { Verb } from "./verb.ts";

export const reportRegimeAttribution: Verb = periodVerb({
  name: "report regime-attribution",
  report: regimeAttributionReport,
  about:
    "Labels use the market up to the day before. The regimes' profits sum to the change of NAV, or this ends with 10.",
  examples: [
    {
      command:
        "ctl report regime-attribution --fund-id alpha --start 2026-05-01 --end 2026-10-31 --output regimes.html",
      sentence: "Half a year, with cuts from the days before it.",
    },
  ],
});
