// Reports that the platform makes: asked for, followed, listed and read. Each is made by a process of its own.
import { z } from "zod";
import { Fault } from "../../../contracts/src/fault.ts";
import type { ReportFormat } from "../../../contracts/src/records/report.ts";
import type { Route } from "../../../ports/http.ts";
import type { StoredReport } from "../../../ports/report-records.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";
import {
  askedReportAnswer,
  makeReportBody,
  reportAnswer,
  reportDocumentQuery,
  reportJson,
  reportParams,
  reportsQuery,
} from "../schemas/reports.ts";

type Parts = Pick<GatewayParts, "reports">;

const contentTypes: Readonly<Record<ReportFormat, string>> = {
  html: "text/html; charset=utf-8",
  pdf: "application/pdf",
  json: "application/json; charset=utf-8",
  csv: "text/csv; charset=utf-8",
};

export function reportMake(parts: Parts): Route {
  return defineRoute({
    id: "makeReport",
    method: "POST",
    path: "/v1/reports",
    listeners: ["operator"],
    sentence: "Have a report made; it is followed by its id.",
    operation: "MakeReport",
    body: makeReportBody,
    answers: { 202: askedReportAnswer },
    handle: async (request) => {
      const { report, parameters, format = "html" } = request.body;
      const { actor: requestedBy } = callerOf(request);
      const { reportId } = await parts.reports.ask({ report, parameters, format, requestedBy });
      return { status: 202, body: { report_id: reportId } };
    },
  });
}

export function reportsList(parts: Parts): Route {
  return defineRoute({
    id: "listReports",
    method: "GET",
    path: "/v1/reports",
    listeners: ["operator"],
    sentence: "The reports that were asked for, newest first.",
    operation: "ReadReports",
    query: reportsQuery,
    answers: { 200: z.array(reportAnswer) },
    handle: async ({ query }) => {
      const fetched = await parts.reports.reports({ countMax: fetchedCount(query), after: query.after });
      const { rows, more } = pageOf("/v1/reports", query, fetched.map(reportJson), ({ report_id }) => report_id);
      return { status: 200, body: rows, ...more };
    },
  });
}

export function reportRead(parts: Parts): Route {
  return defineRoute({
    id: "getReport",
    method: "GET",
    path: "/v1/reports/:report_id",
    listeners: ["operator"],
    sentence: "How a report stands, and what was made of it.",
    operation: "ReadReports",
    params: reportParams,
    answers: { 200: reportAnswer },
    handle: async ({ params }) => ({ status: 200, body: reportJson(await known(parts, params.report_id)) }),
  });
}

/** As a file: an HTML report must not run in the gateway's own name. */
export function reportDocumentRead(parts: Parts): Route {
  return defineRoute({
    id: "getReportDocument",
    method: "GET",
    path: "/v1/reports/:report_id/document",
    listeners: ["operator"],
    sentence: "A report's document, byte for byte as it was made.",
    operation: "ReadReports",
    params: reportParams,
    query: reportDocumentQuery,
    answers: { 200: "bytes" },
    handle: async ({ params, query }) => {
      const report = await known(parts, params.report_id);
      const format = query.format ?? report.format;
      const content = await parts.reports.document(report.reportId, format);
      if (content === undefined) throw new Fault("NOT_FOUND", missing(report, format), { retry: "never" });
      const name = `${report.report.replaceAll("_", "-")}-${report.reportId.slice(0, 8)}.${format}`;
      return {
        status: 200,
        body: content,
        contentType: contentTypes[format],
        headers: {
          "content-disposition": `attachment; filename="${name}"`,
          "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          "cache-control": "private, no-store",
        },
      };
    },
  });
}

async function known(parts: Parts, reportId: string): Promise<StoredReport> {
  const found = await parts.reports.report(reportId);
  if (found !== undefined) return found;
  throw new Fault("NOT_FOUND", `There is no report ${reportId}.`, { retry: "never" });
}

function missing({ reportId, status, detail, made }: StoredReport, format: ReportFormat): string {
  if (status === "FAILED") return `The report ${reportId} failed: ${detail ?? "no reason is known"}`;
  if (made === undefined) return `The report ${reportId} is not made yet: ask again when its status is DONE.`;
  return `The report ${reportId} was made as ${Object.keys(made.documents).join(" and ")}, not as ${format}: ask for it with POST /v1/reports.`;
}
