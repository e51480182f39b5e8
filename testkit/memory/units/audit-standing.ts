// How the audit log stands, in a transaction of the memory store.
import type { AuditStanding, AuditStandingRecords } from "../../../ports/audit-standing.ts";
import type { RecordTools } from "../layered-map.ts";

export interface AuditStandingTables {
  /** Undefined until somebody reports. */
  current: AuditStanding | undefined;
}

export function auditStandingChanges(
  tables: AuditStandingTables,
  { inTurn, lock, cell }: RecordTools,
): AuditStandingRecords {
  const standing = cell("audit_standing", tables);
  return {
    read: () => inTurn(async () => standing.get()),
    report: (reported) =>
      inTurn(async () => {
        await lock("audit standing");
        const known = standing.get();
        if (known !== undefined && known.writerEpoch > reported.writerEpoch) return false;
        const through = known !== undefined && known.through > reported.through ? known.through : reported.through;
        standing.set({ ...reported, through });
        return true;
      }),
  };
}
