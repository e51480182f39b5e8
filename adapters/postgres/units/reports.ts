// The platform's reports and their documents in a transaction.
import { Fault } from "../../../contracts/src/fault.ts";
import type { ReportRecords, StoredReport } from "../../../ports/report-records.ts";
import { columnOfText } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface ReportRow {
  readonly content: StoredReport;
}

const contents = (rows: readonly ReportRow[]): readonly StoredReport[] => rows.map(({ content }) => content);

export function reportRecords(sql: Sql): ReportRecords {
  return {
    async insertReport(report) {
      const inserted = await sql.write({
        name: "report_insert",
        text: `insert into report (report_id, status, question, requested_us, content)
               values ($1, $2, $3, $4, $5) on conflict (report_id) do nothing`,
        values: columnsOf(report),
      });
      if (inserted.rowCount === 1) return;
      throw new Fault("STORE_CONFLICT", `the report ${report.reportId} exists already`, { retry: "now" });
    },
    async updateReport(report) {
      await sql.write({
        name: "report_update",
        text: "update report set status = $2, question = $3, requested_us = $4, content = $5 where report_id = $1",
        values: columnsOf(report),
      });
    },
    async report(reportId) {
      const found = await sql.read({
        name: "report_read",
        text: "select content from report where report_id = $1",
        values: [columnOfText(reportId)],
      });
      return contents(found.rows)[0];
    },
    async reports({ countMax, after }) {
      const found = await sql.read({
        name: "report_list",
        text: `select content from report
               where $1::text is null or (requested_us, report_id) < (select requested_us, report_id from report where report_id = $1)
               order by requested_us desc, report_id desc limit $2`,
        values: [after === undefined ? null : columnOfText(after), countMax],
      });
      return contents(found.rows);
    },
    async unfinishedReports() {
      const found = await sql.read({
        name: "report_unfinished",
        text: "select content from report where status in ('QUEUED', 'RUNNING') order by requested_us, report_id",
      });
      return contents(found.rows);
    },
    async newestAnswer(question) {
      const found = await sql.read({
        name: "report_answer",
        text: `select content from report where question = $1 and status = 'DONE'
               order by requested_us desc, report_id desc limit 1`,
        values: [columnOfText(question)],
      });
      return contents(found.rows)[0];
    },
    async putReportDocument(reportId, format, content) {
      await sql.write({
        name: "report_document_put",
        text: `insert into report_document (report_id, format, content) values ($1, $2, $3)
               on conflict (report_id, format) do update set content = excluded.content`,
        values: [columnOfText(reportId), format, Buffer.from(content)],
      });
    },
    async reportDocument(reportId, format) {
      const found = await sql.read({
        name: "report_document_read",
        text: "select content from report_document where report_id = $1 and format = $2",
        values: [columnOfText(reportId), format],
      });
      const content: Uint8Array | undefined = found.rows[0]?.content;
      return content === undefined ? undefined : new Uint8Array(content);
    },
    async trimReports(keep) {
      const removed = await sql.write({
        text: `delete from report where status not in ('QUEUED', 'RUNNING') and report_id in (
                 select report_id from report order by requested_us desc, report_id desc offset $1)`,
        values: [keep],
      });
      return removed.rowCount ?? 0;
    },
  };
}

function columnsOf(report: StoredReport): unknown[] {
  return [
    columnOfText(report.reportId),
    report.status,
    report.made === undefined ? null : columnOfText(report.made.question),
    report.requestedAt,
    JSON.stringify(report),
  ];
}
