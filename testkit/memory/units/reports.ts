// The platform's reports and their documents in a transaction of the memory store.
import { Fault } from "../../../contracts/src/fault.ts";
import type { ReportRecords, StoredReport } from "../../../ports/report-records.ts";
import type { RecordTools } from "../layered-map.ts";

export interface ReportTables {
  readonly reports: Map<string, StoredReport>;
  readonly documents: Map<string, { readonly reportId: string; readonly format: string; readonly content: number[] }>;
}

export function reportTables(): ReportTables {
  return { reports: new Map(), documents: new Map() };
}

const newestFirst = (one: StoredReport, other: StoredReport): number =>
  other.requestedAt - one.requestedAt || (one.reportId === other.reportId ? 0 : one.reportId < other.reportId ? 1 : -1);
const isUnfinished = ({ status }: StoredReport): boolean => status === "QUEUED" || status === "RUNNING";

export function reportChanges(tables: ReportTables, { inTurn, lock, table }: RecordTools): ReportRecords {
  const reports = table("report", tables.reports);
  const documents = table("report_document", tables.documents);
  const nameOf = (reportId: string, format: string): string => `${reportId} ${format}`;
  const all = (): StoredReport[] => reports.sorted().sort(newestFirst);
  return {
    insertReport: (report) =>
      inTurn(async () => {
        await lock(`report ${report.reportId}`);
        if (reports.has(report.reportId)) {
          throw new Fault("STORE_CONFLICT", `the report ${report.reportId} exists already`, { retry: "now" });
        }
        reports.set(report.reportId, report);
      }),
    updateReport: (report) =>
      inTurn(async () => {
        await lock(`report ${report.reportId}`);
        if (reports.has(report.reportId)) reports.set(report.reportId, report);
      }),
    report: (reportId) => inTurn(async () => reports.get(reportId)),
    reports: ({ countMax, after }) =>
      inTurn(async () => {
        const named = after === undefined ? undefined : reports.get(after);
        if (after !== undefined && named === undefined) return [];
        return all()
          .filter((one) => named === undefined || newestFirst(named, one) < 0)
          .slice(0, countMax);
      }),
    unfinishedReports: () => inTurn(async () => all().filter(isUnfinished).reverse()),
    newestAnswer: (question) =>
      inTurn(async () => all().find((one) => one.status === "DONE" && one.made?.question === question)),
    putReportDocument: (reportId, format, content) =>
      inTurn(async () => documents.set(nameOf(reportId, format), { reportId, format, content: [...content] })),
    reportDocument: (reportId, format) =>
      inTurn(async () => {
        const found = documents.get(nameOf(reportId, format));
        return found === undefined ? undefined : Uint8Array.from(found.content);
      }),
    trimReports: (keep) =>
      inTurn(async () => {
        const gone = all()
          .slice(keep)
          .filter((one) => !isUnfinished(one));
        for (const { reportId } of gone) {
          reports.delete(reportId);
          for (const { format } of documents.filter((one) => one.reportId === reportId)) {
            documents.delete(nameOf(reportId, format));
          }
        }
        return gone.length;
      }),
  };
}
