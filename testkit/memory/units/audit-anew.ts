// Requests to begin the audit log anew, in a transaction of the memory store.
import type { AuditAnewRecords, StoredAnew } from "../../../ports/audit-anew.ts";
import type { RecordTools } from "../layered-map.ts";

export type AuditAnewTables = Map<string, StoredAnew>;

export function auditAnewChanges(tables: AuditAnewTables, { inTurn, table }: RecordTools): AuditAnewRecords {
  const requests = table("audit_anew_request", tables);
  return {
    put: (request) => inTurn(async () => requests.set(request.requestId, request)),
    request: (requestId) => inTurn(async () => requests.get(requestId)),
  };
}
