// Requests to begin the audit log anew, in a transaction of the memory store.
import type { AuditAnewRecords, StoredAnew } from "../../../ports/audit-anew.ts";
import { layeredMap, type RecordTools } from "../layered-map.ts";

export type AuditAnewTables = Map<string, StoredAnew>;

export function auditAnewChanges(
  tables: AuditAnewTables,
  { inTurn }: Pick<RecordTools, "inTurn">,
): { readonly records: AuditAnewRecords; apply(): void } {
  const requests = layeredMap(tables);
  return {
    records: {
      put: (request) => inTurn(async () => requests.set(request.requestId, request)),
      request: (requestId) => inTurn(async () => requests.get(requestId)),
    },
    apply: requests.apply,
  };
}
