// How the audit log stands, in a transaction of the memory store.
import type { AuditStanding, AuditStandingRecords } from "../../../ports/audit-standing.ts";
import type { RecordTools } from "../layered-map.ts";

export interface AuditStandingWorld {
  /** Undefined until somebody reports. */
  current: AuditStanding | undefined;
}

export function auditStandingChanges(
  world: AuditStandingWorld,
  { inTurn, lock }: RecordTools,
): { readonly records: AuditStandingRecords; apply(): void } {
  let changed: AuditStanding | undefined;
  return {
    records: {
      read: () => inTurn(async () => structuredClone(changed ?? world.current)),
      report: (standing) =>
        inTurn(async () => {
          await lock("audit standing");
          const known = changed ?? world.current;
          if (known !== undefined && known.pen > standing.pen) return false;
          const through = known !== undefined && known.through > standing.through ? known.through : standing.through;
          changed = structuredClone({ ...standing, through });
          return true;
        }),
    },
    apply() {
      world.current = changed ?? world.current;
    },
  };
}
