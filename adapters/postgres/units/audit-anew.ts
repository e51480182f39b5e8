// Requests to begin the audit log anew, in a transaction.
import type { AuditAnewRecords, StoredAnew } from "../../../ports/audit-anew.ts";
import type { Sql } from "../store-transaction.ts";

export function auditAnewRecords(sql: Sql): AuditAnewRecords {
  return {
    async put(request) {
      await sql.write({
        text: "insert into audit_anew_request (request_id, requested_us, content) values ($1, $2, $3)",
        values: [request.requestId, request.at, JSON.stringify(request)],
      });
    },
    async request(requestId) {
      const found = await sql.read({
        text: "select content from audit_anew_request where request_id = $1",
        values: [requestId],
      });
      return (found.rows as readonly { readonly content: StoredAnew }[])[0]?.content;
    },
  };
}
