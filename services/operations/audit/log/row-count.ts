// Whether the log's rows are as many as its head says. The head, the tiles and the checkpoints stand in tables of their own and look whole when rows
// are gone, so the rows themselves are counted; where some are missing, the first is named.
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { AuditHead, AuditLog } from "../../../../ports/audit-log.ts";

/** Counted at once, so that no statement takes long. */
const countedTogether = 1_000_000;

export async function rowsFault(
  auditLog: Pick<AuditLog, "count" | "read" | "head">,
  head: AuditHead,
): Promise<AuditFault | undefined> {
  for (let from = 0; from < head.size; from += countedTogether) {
    const end = Math.min(head.size, from + countedTogether);
    if ((await auditLog.count(from, end)) < end - from) return firstMissing(auditLog, head.size, from, end);
  }
  return beyondHead(auditLog, head);
}

/** A row that the head does not know was not appended: an append writes both at once, so a head that is read later knows it. */
export async function beyondHead(
  auditLog: Pick<AuditLog, "read" | "head">,
  head: AuditHead,
): Promise<AuditFault | undefined> {
  const [row] = await auditLog.read(head.size, 1);
  if (row === undefined || (await auditLog.head()).size > row.sequence) return undefined;
  const actual = `entry ${row.sequence}, which the head does not know`;
  const expected = `the end after ${head.size} entries`;
  return { code: "SEQUENCE_MISMATCH", sequence: head.size, expected, actual };
}

/** Halves the range, in which at least one is missing, until only the first one is left; says of it what verification would. */
export async function firstMissing(
  auditLog: Pick<AuditLog, "count" | "read">,
  size: number,
  from: number,
  end: number,
): Promise<AuditFault> {
  let [first, beyond] = [from, end];
  while (beyond - first > 1) {
    const middle = Math.floor((first + beyond) / 2);
    if ((await auditLog.count(first, middle)) < middle - first) beyond = middle;
    else first = middle;
  }
  const [next] = await auditLog.read(first, 1);
  if (next === undefined) {
    return { code: "TRUNCATED", sequence: first, expected: `${size} entries`, actual: `${first}` };
  }
  return { code: "SEQUENCE_MISMATCH", sequence: first, expected: `${first}`, actual: `${next.sequence}` };
}
