// Every report, one line each. Adding one is one file and one line.
import { navReport } from "./nav-report.ts";
import { positionAttributionReport } from "./position-attribution-report.ts";
import { settlementReport } from "./settlement-report.ts";
import type { Report } from "./shape.ts";
import { tradeReport } from "./trade-report.ts";

export const reports: readonly Report[] = [tradeReport, navReport, settlementReport, positionAttributionReport];
