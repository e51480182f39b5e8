// Every report, one line each. Adding one is one file and one line.
import { alphaDecayReport } from "./alpha-decay-report.ts";
import { factorAttributionReport } from "./factor-attribution-report.ts";
import { navReport } from "./nav-report.ts";
import { positionAttributionReport } from "./position-attribution-report.ts";
import { postmortemReport } from "./postmortem/postmortem-report.ts";
import { regimeAttributionReport } from "./regime-attribution-report.ts";
import { riskEnvelopeReport } from "./risk-envelope-report.ts";
import { settlementReport } from "./settlement-report.ts";
import type { Report } from "./shape.ts";
import { tcaReport } from "./tca-report.ts";
import { tradeReport } from "./trade-report.ts";

export const reports: readonly Report[] = [
  tradeReport,
  navReport,
  postmortemReport,
  alphaDecayReport,
  settlementReport,
  riskEnvelopeReport,
  tcaReport,
  regimeAttributionReport,
  factorAttributionReport,
  positionAttributionReport,
];
