// Everything about one subject, in order. The index that finds the entries is not part of what is hashed, so it is not believed: every entry must be
// about the subject, be what its hash says, and name the one before it as the index has it. What the index leaves out in between is found so;
// what it leaves out at the end is found when the sequencer remembers the newest one, and by fsck in any case.
import { Fault } from "../../../../contracts/src/fault.ts";
import { createChainCheck } from "../../../../core/audit/chain-check.ts";
import { type EntryRecord, readEntry } from "../../../../core/audit/entry.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { AuditLog, SubjectRow } from "../../../../ports/audit-log.ts";
import { hasFixedData, subjectPrevious } from "../log/reserved.ts";

export interface TrailPorts {
  readonly auditLog: Pick<AuditLog, "readSubject">;
  readonly sha256: Sha256OfBytes;
  /** The newest entry about a subject that is known from elsewhere than the index. */
  readonly newestOf: (subjectId: string) => number | undefined;
}

export interface Trail {
  readonly entries: readonly EntryRecord[];
  /** Whether the end was compared with something else than the index; what lies between always is. */
  readonly endProven: boolean;
}

export const trailEntriesMax = 10_000;
const pageRows = 500;

export async function readTrail(ports: TrailPorts, subjectId: string): Promise<Trail | { readonly fault: AuditFault }> {
  // Asked before the index: what is appended meanwhile may be in it, never the other way round.
  const newest = ports.newestOf(subjectId);
  const entries: EntryRecord[] = [];
  for (let from = 0; ; ) {
    const rows = await ports.auditLog.readSubject(subjectId, from, pageRows);
    for (const row of rows) {
      const record = look(ports, subjectId, row, entries.at(-1));
      if ("fault" in record) return record;
      entries.push(record.entry);
    }
    if (entries.length > trailEntriesMax) throw tooLong(subjectId);
    const last = entries.at(-1);
    if (rows.length < pageRows || last === undefined) break;
    from = last.sequence + 1;
  }
  const last = entries.at(-1)?.sequence ?? -1;
  if (newest !== undefined && last < newest) {
    return mismatch(newest, `entry ${newest} about ${subjectId}`, last < 0 ? "none" : `entry ${last} as the newest`);
  }
  return { entries, endProven: newest !== undefined };
}

function look(
  { sha256 }: TrailPorts,
  subjectId: string,
  { sequence, text }: SubjectRow,
  before: EntryRecord | undefined,
): { readonly entry: EntryRecord } | { readonly fault: AuditFault } {
  // The link to the entry before is the verifier's business; here it is about the entry itself.
  const broken = createChainCheck({ sha256, from: sequence }).next(text);
  if (broken !== undefined) return { fault: broken };
  const entry = readEntry(text);
  if (entry === undefined) return mismatch(sequence, "an entry", "something else");
  if (entry.subject_id !== subjectId) return mismatch(sequence, subjectId, entry.subject_id);
  if (hasFixedData(entry.action)) return { entry };
  const named = entry.data[subjectPrevious];
  const listed = before?.sequence ?? null;
  if (named === listed) return { entry };
  return mismatch(sequence, `entry ${String(named)} before it, as it says itself`, `entry ${String(listed)}`);
}

function mismatch(sequence: number, expected: string, actual: string): { readonly fault: AuditFault } {
  return { fault: { code: "INDEX_MISMATCH", sequence, expected, actual } };
}

function tooLong(subjectId: string): Fault {
  return new Fault(
    "RESOURCE_EXHAUSTED",
    `There are more than ${trailEntriesMax} entries about ${JSON.stringify(subjectId)}: export a range of the log instead.`,
    { retry: "never" },
  );
}
