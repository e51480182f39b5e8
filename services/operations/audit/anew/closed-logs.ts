// What is known of the logs that were closed, and what they hold about a subject. What was wrong with one stands in entry 1 of the log that followed it.
import type { ClosedAuditLog } from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { type EntryRecord, readEntry } from "../../../../core/audit/entry.ts";
import type { AuditLog, ClosedLog, ClosedLogReads } from "../../../../ports/audit-log.ts";
import { begunAnewAction, invalid } from "../log/reserved.ts";

type Logs = Pick<AuditLog, "closedLogs" | "closed" | "read">;

/** The log of that number, 0 is the one that is written. */
export async function logOf(auditLog: AuditLog, number: number, current: number): Promise<ClosedLogReads> {
  if (number === 0 || number === current) return auditLog;
  const closed = (await auditLog.closedLogs()).find((log) => log.number === number);
  if (closed !== undefined) return auditLog.closed(closed);
  throw invalid(`There is no log ${number}: the one that is written is log ${current}.`);
}

export async function closedLogMessages(auditLog: Logs): Promise<readonly ClosedAuditLog[]> {
  const logs = await auditLog.closedLogs();
  return Promise.all(logs.map((log, at) => messageOf(auditLog, log, logs[at + 1])));
}

async function messageOf(auditLog: Logs, log: ClosedLog, next: ClosedLog | undefined): Promise<ClosedAuditLog> {
  const [row] = await (next === undefined ? auditLog : auditLog.closed(next)).read(1, 1);
  const entry = row === undefined ? undefined : readEntry(row.text);
  const data = entry?.action === begunAnewAction ? entry.data : {};
  const [previous, fault] = [objectOf(data["previous"]), objectOf(data["fault"])];
  const [checkpoint, verified] = [objectOf(previous["checkpoint"]), objectOf(previous["verified_checkpoint"])];
  const keys = previous["keys"];
  return {
    log: log.number,
    origin: textOf(previous["origin"]),
    size: log.head.size,
    closed_at: format(log.at),
    checkpoint_size: countOf(checkpoint["size"]),
    checkpoint: textOf(checkpoint["note"]),
    verified_size: countOf(verified["size"]),
    fault: {
      code: textOf(fault["code"]),
      sequence: countOf(fault["sequence"]),
      expected: textOf(fault["expected"]),
      actual: textOf(fault["actual"]),
    },
    reason: textOf(data["reason"]),
    requested_by: textOf(data["requested_by"]),
    cosigned_by: textOf(data["cosigned_by"]),
    keys: Array.isArray(keys) ? keys.map(textOf) : [],
  };
}

type ClosedEntry = EntryRecord & { readonly log: number };

/** What a closed log still has about a subject. Nothing vouches for it but its own bytes: whoever wants to know more verifies that log. */
export async function closedEntries(
  auditLog: Pick<AuditLog, "closed">,
  log: ClosedLog,
  subjectId: string,
  from: number,
  count: number,
): Promise<readonly ClosedEntry[]> {
  const rows = await auditLog.closed(log).readSubject(subjectId, from, count);
  return rows.flatMap(({ text }) => {
    const entry = readEntry(text);
    return entry?.subject_id === subjectId ? [{ ...entry, log: log.number }] : [];
  });
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
