// How the audit log stands, in a transaction.
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { AuditStanding, AuditStandingRecords } from "../../../ports/audit-standing.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface StandingRow {
  readonly epoch: string;
  readonly through_us: string;
  readonly broken: string | null;
  readonly broken_us: string | null;
}

export function standingOf(row: StandingRow): AuditStanding {
  const standing = { writerEpoch: Number(row.epoch), through: fromMicroseconds(Number(row.through_us)) };
  if (row.broken === null) return standing;
  const since = fromMicroseconds(Number(row.broken_us));
  return { ...standing, broken: { reason: textOfColumn(row.broken), since } };
}

export function auditStandingRecords(sql: Sql): AuditStandingRecords {
  return {
    async read() {
      const found = await sql.read({
        name: "audit_standing_read",
        text: "select pen as epoch, through_us, broken, broken_us from audit_standing",
      });
      const [row] = found.rows;
      return row === undefined ? undefined : standingOf(row);
    },
    async report({ writerEpoch, through, broken }) {
      const reason = broken === undefined ? null : columnOfText(broken.reason);
      const written = await sql.write({
        name: "audit_standing_report",
        text: `insert into audit_standing as known (pen, through_us, broken, broken_us) values ($1, $2, $3, $4)
               on conflict (one) do update
               set pen = excluded.pen, through_us = greatest(known.through_us, excluded.through_us),
                   broken = excluded.broken, broken_us = excluded.broken_us
               where known.pen <= excluded.pen`,
        values: [writerEpoch, through, reason, broken?.since ?? null],
      });
      return written.rowCount === 1;
    },
  };
}
