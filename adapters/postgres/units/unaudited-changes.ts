// Changes that nobody audited and that two people accepted, in a transaction.
import type { AcceptedChange, UnauditedChange, UnauditedChangeRecords } from "../../../ports/unaudited-changes.ts";
import type { Sql } from "../store-transaction.ts";

interface Row {
  readonly request_id: string;
  readonly change_id: string;
  readonly of_table: string;
  readonly row_id: string;
  readonly found: UnauditedChange["found"];
  readonly requested_by: string;
  readonly cosigned_by: string;
  readonly reason: string;
}

export function unauditedChangeRecords(sql: Sql): UnauditedChangeRecords {
  return {
    async accept() {
      const found = await sql.write({ text: "select * from guard_accept()" });
      return (found.rows as readonly Row[]).map(
        (row): AcceptedChange => ({
          changeId: row.change_id,
          table: row.of_table,
          row: row.row_id,
          found: row.found,
          requestId: row.request_id,
          requestedBy: row.requested_by,
          cosignedBy: row.cosigned_by,
          reason: row.reason,
        }),
      );
    },
  };
}
