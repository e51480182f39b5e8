// Requests to begin the audit log anew, in a transaction of the memory store.
import type { AuditAnewRecords, StoredAnew } from "../../../ports/audit-anew.ts";
import { layeredMap, type RecordTools } from "../layered-map.ts";

export type AuditAnewWorld = Map<string, StoredAnew>;

export function auditAnewChanges(
  world: AuditAnewWorld,
  { inTurn }: Pick<RecordTools, "inTurn">,
): { readonly records: AuditAnewRecords; apply(): void } {
  const requests = layeredMap(world);
  return {
    records: {
      put: (request) => inTurn(async () => requests.set(request.requestId, request)),
      request: (requestId) => inTurn(async () => requests.get(requestId)),
    },
    apply: requests.apply,
  };
}
