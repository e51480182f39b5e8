// What stands around halts, in a transaction: who reported them, proven steps, requests to lift them all.
import { Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { HaltStepName } from "../../../contracts/src/records/halt.ts";
import type { HaltPublisher, HaltRecords, StoredResume } from "../../../ports/halt-records.ts";
import type { Sql } from "../store-transaction.ts";

interface ReportedRow {
  readonly halt_id: string;
  readonly teller: HaltPublisher;
  readonly event_id: string;
}

interface StepRow {
  readonly halt_id: string;
  readonly step: HaltStepName;
  readonly detail: string;
  readonly proven_us: string;
}

interface ResumeRow {
  readonly content: StoredResume;
}

export function haltRecords(sql: Sql): HaltRecords {
  return {
    async tell({ haltId, publisher, eventId }) {
      const inserted = await sql.write({
        name: "halt_tell",
        text: "insert into halt_told (halt_id, teller, event_id) values ($1, $2, $3) on conflict do nothing",
        values: [haltId, publisher, eventId],
      });
      return inserted.rowCount === 1;
    },
    async reported(haltIds) {
      const found = await sql.read({
        text: "select halt_id, teller, event_id from halt_told where halt_id = any($1::text[]) order by halt_id, teller",
        values: [[...haltIds]],
      });
      return (found.rows as readonly ReportedRow[]).map((row) => ({
        haltId: row.halt_id,
        publisher: row.teller,
        eventId: row.event_id,
      }));
    },
    async prove({ haltId, step, detail, at }) {
      const inserted = await sql.write({
        text: "insert into halt_step (halt_id, step, detail, proven_us) values ($1, $2, $3, $4) on conflict do nothing",
        values: [haltId, step, detail, at],
      });
      return inserted.rowCount === 1;
    },
    async proven(haltIds) {
      const found = await sql.read({
        text: `select halt_id, step, detail, proven_us from halt_step where halt_id = any($1::text[])
               order by proven_us, halt_id, step`,
        values: [[...haltIds]],
      });
      return (found.rows as readonly StepRow[]).map((row) => ({
        haltId: row.halt_id,
        step: row.step,
        detail: row.detail,
        at: fromMicroseconds(Number(row.proven_us)),
      }));
    },
    async putResume(resume) {
      const values = [resume.requestId, resume.ended !== undefined, JSON.stringify(resume)];
      const updated = await sql.write({
        text: "update resume_request set has_ended = $2, content = $3 where request_id = $1",
        values,
      });
      if (updated.rowCount === 1) return;
      // Whoever waits beside it is found by any of the indexes. One that came after this transaction began cannot be seen here, and the
      // database says so itself: both are a collision, after which the work is run again and sees it.
      const inserted = await sql.write({
        text: `insert into resume_request (request_id, has_ended, content, requested_us) values ($1, $2, $3, $4)
               on conflict do nothing`,
        values: [...values, resume.at],
      });
      if (inserted.rowCount !== 1) {
        throw new Fault("STORE_CONFLICT", "another request to lift every halt is pending", { retry: "now" });
      }
    },
    async resume(requestId) {
      const found = await sql.read({
        text: "select content from resume_request where request_id = $1",
        values: [requestId],
      });
      return (found.rows as readonly ResumeRow[])[0]?.content;
    },
    async pendingResume() {
      const found = await sql.read({ text: "select content from resume_request where not has_ended" });
      return (found.rows as readonly ResumeRow[])[0]?.content;
    },
  };
}
