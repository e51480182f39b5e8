// The runs of scheduled reports and their deliveries in a transaction.
import type { ReportDelivery, ReportRun, ReportRunRecords, ScheduleCursor } from "../../../ports/report-run-records.ts";
import { columnOfText } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface Row<Content> {
  readonly content: Content;
}

const contents = <Content>(rows: readonly Row<Content>[]): readonly Content[] => rows.map(({ content }) => content);

export function reportRunRecords(sql: Sql): ReportRunRecords {
  return { ...cursorRecords(sql), ...runRecords(sql), ...deliveryRecords(sql) };
}

function cursorRecords(sql: Sql): Pick<ReportRunRecords, "cursor" | "putCursor"> {
  return {
    async cursor(schedule, fundId) {
      const found = await sql.read({
        name: "report_schedule_read",
        text: "select content from report_schedule where schedule = $1 and fund_id = $2",
        values: [columnOfText(schedule), columnOfText(fundId)],
      });
      return contents<ScheduleCursor>(found.rows)[0];
    },
    async putCursor(schedule, fundId, cursor) {
      await sql.write({
        name: "report_schedule_put",
        text: `insert into report_schedule (schedule, fund_id, content) values ($1, $2, $3)
               on conflict (schedule, fund_id) do update set content = excluded.content`,
        values: [columnOfText(schedule), columnOfText(fundId), JSON.stringify(cursor)],
      });
    },
  };
}

function runRecords(
  sql: Sql,
): Omit<ReportRunRecords, keyof ReturnType<typeof deliveryRecords> | "cursor" | "putCursor"> {
  return {
    async insertRun(run) {
      const inserted = await sql.write({
        name: "report_run_insert",
        text: `insert into report_run (run_id, schedule, fund_id, due_us, asked, status, version, content)
               values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
        values: [
          columnOfText(run.runId),
          columnOfText(run.schedule),
          columnOfText(run.fundId),
          run.dueAt,
          run.trigger === "OPERATOR",
          run.status,
          run.version,
          JSON.stringify(run),
        ],
      });
      return inserted.rowCount === 1;
    },
    async updateRun(run) {
      const next: ReportRun = { ...run, version: run.version + 1 };
      const updated = await sql.write({
        name: "report_run_update",
        text: "update report_run set status = $3, version = $4, content = $5 where run_id = $1 and version = $2",
        values: [columnOfText(run.runId), run.version, next.status, next.version, JSON.stringify(next)],
      });
      return updated.rowCount === 1 ? next : undefined;
    },
    async run(runId) {
      const found = await sql.read({
        name: "report_run_read",
        text: "select content from report_run where run_id = $1",
        values: [columnOfText(runId)],
      });
      return contents<ReportRun>(found.rows)[0];
    },
    async openRuns(countMax) {
      const found = await sql.read({
        name: "report_run_open",
        text: "select content from report_run where status in ('DUE', 'MAKING') order by due_us, run_id limit $1",
        values: [countMax],
      });
      return contents<ReportRun>(found.rows);
    },
    async runs({ schedule, fundId, countMax, after }) {
      const found = await sql.read({
        name: "report_run_list",
        text: `select content from report_run where schedule = $1 and ($2::text is null or fund_id = $2)
                 and ($3::text is null or (due_us, run_id) < (select due_us, run_id from report_run where run_id = $3))
               order by due_us desc, run_id desc limit $4`,
        values: [
          columnOfText(schedule),
          fundId === undefined ? null : columnOfText(fundId),
          after === undefined ? null : columnOfText(after),
          countMax,
        ],
      });
      return contents<ReportRun>(found.rows);
    },
    async trimRuns(keep) {
      const removed = await sql.write({
        text: `delete from report_run as old where status not in ('DUE', 'MAKING')
                 and not exists (select 1 from report_delivery as one where one.run_id = old.run_id and one.status = 'PENDING')
                 and run_id in (select run_id from report_run order by due_us desc, run_id desc offset $1)`,
        values: [keep],
      });
      return removed.rowCount ?? 0;
    },
  };
}

function deliveryRecords(
  sql: Sql,
): Pick<ReportRunRecords, "insertDelivery" | "updateDelivery" | "deliveries" | "openDeliveries"> {
  return {
    async insertDelivery(delivery) {
      await sql.write({
        name: "report_delivery_insert",
        text: `insert into report_delivery (run_id, target, status, next_us, version, content) values ($1, $2, $3, $4, $5, $6)
               on conflict (run_id, target) do nothing`,
        values: [
          columnOfText(delivery.runId),
          delivery.target,
          delivery.status,
          delivery.nextAt,
          delivery.version,
          JSON.stringify(delivery),
        ],
      });
    },
    async updateDelivery(delivery) {
      const next: ReportDelivery = { ...delivery, version: delivery.version + 1 };
      const updated = await sql.write({
        name: "report_delivery_update",
        text: `update report_delivery set status = $4, next_us = $5, version = $6, content = $7
               where run_id = $1 and target = $2 and version = $3`,
        values: [
          columnOfText(delivery.runId),
          delivery.target,
          delivery.version,
          next.status,
          next.nextAt,
          next.version,
          JSON.stringify(next),
        ],
      });
      return updated.rowCount === 1 ? next : undefined;
    },
    async deliveries(runId) {
      const found = await sql.read({
        name: "report_delivery_read",
        text: "select content from report_delivery where run_id = $1 order by target",
        values: [columnOfText(runId)],
      });
      return contents<ReportDelivery>(found.rows);
    },
    async openDeliveries(countMax) {
      const found = await sql.read({
        name: "report_delivery_open",
        text: "select content from report_delivery where status = 'PENDING' order by next_us, run_id, target limit $1",
        values: [countMax],
      });
      return contents<ReportDelivery>(found.rows);
    },
  };
}
