// The suite that every audit log passes: one list of checks, each named after the promise of ports/audit-log.ts that it holds the log to. That
// the database itself refuses to change or remove an entry (promise 5) is shown where the database is.
import { describe, it } from "vitest";
import { anewChecks, onSecondLog } from "./audit-log-anew.ts";
import { appendChecks } from "./audit-log-append.ts";
import { readChecks } from "./audit-log-reads.ts";
import type { AuditLogCheck, AuditLogRig } from "./audit-log-rig.ts";

export const auditLogChecks: readonly AuditLogCheck[] = [...appendChecks, ...readChecks];
/** Those of logs that follow each other begin with the first. */
const everyCheck: readonly AuditLogCheck[] = [...auditLogChecks, ...anewChecks];

/** Runs one check on a rig of its own; rejects when the log does not keep the promise. */
export async function runAuditLogCheck(check: AuditLogCheck, open: () => Promise<AuditLogRig>): Promise<void> {
  const rig = await open();
  try {
    await check.run(rig);
  } finally {
    await rig.close();
  }
}

export function auditLogConformance(name: string, open: () => Promise<AuditLogRig>): void {
  describe(`audit log conformance: ${name}`, () => {
    for (const check of everyCheck) {
      it(`promise ${check.promise}: ${check.sentence}`, () => runAuditLogCheck(check, open));
    }
    for (const check of auditLogChecks) {
      it(`log 2, promise ${check.promise}: ${check.sentence}`, () => runAuditLogCheck(check, () => onSecondLog(open)));
    }
  });
}
