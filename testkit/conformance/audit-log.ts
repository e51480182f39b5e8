// The suite that every audit log passes: one list of checks, each named after the promise of ports/audit-log.ts that it holds the log to. That
// the database itself refuses to change or remove an entry (promise 5) is shown where the database is.
import { describe, it } from "vitest";
import { anewChecks, onSecondLog } from "./audit-log-anew.ts";
import { appendChecks } from "./audit-log-append.ts";
import type { AuditLogCheck, AuditLogFixture } from "./audit-log-fixture.ts";
import { readChecks } from "./audit-log-reads.ts";

export const auditLogChecks: readonly AuditLogCheck[] = [...appendChecks, ...readChecks];
/** Those of logs that follow each other begin with the first. */
const everyCheck: readonly AuditLogCheck[] = [...auditLogChecks, ...anewChecks];

/** Runs one check on a fixture of its own; rejects when the log does not keep the promise. */
export async function runAuditLogCheck(check: AuditLogCheck, open: () => Promise<AuditLogFixture>): Promise<void> {
  const fixture = await open();
  try {
    await check.run(fixture);
  } finally {
    await fixture.close();
  }
}

export function auditLogConformance(name: string, open: () => Promise<AuditLogFixture>): void {
  describe(`audit log conformance: ${name}`, () => {
    for (const check of everyCheck) {
      it(`promise ${check.promise}: ${check.sentence}`, () => runAuditLogCheck(check, open));
    }
    for (const check of auditLogChecks) {
      it(`log 2, promise ${check.promise}: ${check.sentence}`, () => runAuditLogCheck(check, () => onSecondLog(open)));
    }
  });
}
