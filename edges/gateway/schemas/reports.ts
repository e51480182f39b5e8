// What the routes of reports take and answer.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import * as instant from "../../../contracts/src/instant.ts";
import {
  reportFiles,
  reportFormat,
  reportParameters,
  reportParametersMax,
  reportStatus,
  restatement,
} from "../../../contracts/src/records/report.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import type { StoredReport } from "../../../ports/report-records.ts";
import { reports } from "../../../reports/index.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { actorText, timeText } from "./fields.ts";

const reportId = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "expected the id of a report");
const reportName = asItIs(
  atMost(
    z.string().refine((name) => reports.some((each) => each.name === name), {
      message: `expected one of ${reports.map(({ name }) => name).join(", ")}`,
    }),
    { characters: 256 },
  ),
  "names what exists",
).meta({ description: "As specified.", examples: ["nav_report"] });

export const makeReportBody = z.strictObject({
  report: reportName,
  parameters: atMost(typed(reportParameters.clone()), { members: reportParametersMax }).meta({
    description:
      "As specified: fund_id, start, end, window, include and so on; further as_of, benchmark and rf_annual.",
  }),
  format: reportFormat
    .optional()
    .meta({ description: "html when absent. The document as JSON is always made as well." }),
});

export const reportsQuery = z.strictObject({
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many, 100 when absent; the next page is in the Link header." }),
  after: reportId.optional().meta({ description: "Continue after this id, towards older ones." }),
});
export const reportParams = z.strictObject({ report_id: reportId });
export const reportDocumentQuery = z.strictObject({
  format: reportFormat.optional().meta({ description: "The one that was asked for when absent." }),
});

export const askedReportAnswer = z.object({ report_id: reportId });

export const reportAnswer = z.object({
  report_id: reportId,
  report: z.string(),
  parameters: reportParameters,
  format: reportFormat,
  requested_by: actorText,
  requested_at: timeText,
  status: reportStatus,
  progress: z.string().meta({ description: "What it is at, in a few words." }),
  ended_at: timeText.nullable(),
  detail: z.string().nullable().meta({ description: "Why it failed." }),
  title: z.string().nullable(),
  reconciled: z
    .boolean()
    .nullable()
    .meta({ description: "Whether every line that must tie does; null until it is made." }),
  facts_sha256: z.string().nullable(),
  documents: reportFiles,
  restates: restatement
    .nullable()
    .meta({ description: "The one before with the same parameters and other facts, and what changed." }),
});

export function reportJson(report: StoredReport): z.infer<typeof reportAnswer> {
  const { made } = report;
  return {
    report_id: report.reportId,
    report: report.report,
    parameters: report.parameters,
    format: report.format,
    requested_by: report.requestedBy,
    requested_at: instant.format(report.requestedAt),
    status: report.status,
    progress: report.progress,
    ended_at: report.endedAt === undefined ? null : instant.format(report.endedAt),
    detail: report.detail ?? null,
    title: made?.title ?? null,
    reconciled: made?.reconciled ?? null,
    facts_sha256: made?.factsSha256 ?? null,
    documents: made?.documents ?? {},
    restates: made?.restates ?? null,
  };
}
