// How the audit log stands, in a transaction of the memory store.
import type { AuditStanding, AuditStandingRecords } from "../../../ports/audit-standing.ts";
import type { RecordTools } from "../layered-map.ts";

export interface AuditStandingTables {
  /** Undefined until somebody reports. */
  current: AuditStanding | undefined;
}

export function auditStandingChanges(
  tables: AuditStandingTables,
  { inTurn, lock }: RecordTools,
): { readonly records: AuditStandingRecords; apply(): void } {
  let changed: AuditStanding | undefined;
  return {
    records: {
      read: () => inTurn(async () => structuredClone(changed ?? tables.current)),
      report: (standing) =>
        inTurn(async () => {
          await lock("audit standing");
          const known = changed ?? tables.current;
          if (known !== undefined && known.writerEpoch > standing.writerEpoch) return false;
          const through = known !== undefined && known.through > standing.through ? known.through : standing.through;
          changed = structuredClone({ ...standing, through });
          return true;
        }),
    },
    apply() {
      tables.current = changed ?? tables.current;
    },
  };
}
