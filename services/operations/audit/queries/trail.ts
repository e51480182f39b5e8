// Everything about one subject, in order. The index that finds the entries is not part of what is hashed, so it is not believed: every entry must be
// about the subject and be what its hash says, and there must be as many, up to the newest, as were counted when the entries themselves were read.
// Until a whole verification of this process has read them, what lies in between is proved by the link of each entry to the one before, and the
// end only when the sequencer remembers the newest one; the answer says when it is not.
import { Fault } from "../../../../contracts/src/fault.ts";
import { createChainCheck } from "../../../../core/audit/chain-check.ts";
import { type EntryRecord, readEntry } from "../../../../core/audit/entry.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { AuditLog, SubjectRow } from "../../../../ports/audit-log.ts";
import { hasFixedData, subjectPrevious } from "../log/reserved.ts";
import type { SubjectMemory, SubjectSeen } from "../log/subject-memory.ts";

export interface TrailPorts {
  readonly auditLog: Pick<AuditLog, "readSubject">;
  readonly sha256: Sha256OfBytes;
  /** The newest entry about a subject that is known from elsewhere than the index. */
  readonly newestOf: (subjectId: string) => number | undefined;
  /** What the entries themselves say of their subjects; without it only links and the newest entry prove anything. */
  readonly subjects?: Pick<SubjectMemory, "seen" | "isWhole">;
}

export interface Trail {
  /** Those of closed logs say of which. */
  readonly entries: readonly (EntryRecord & { readonly log?: number })[];
  /** Whether something else than the index proves that none is left out. */
  readonly isComplete: boolean;
  /** Where the next page begins; absent when this was the end. */
  readonly next?: number;
  /** In which closed log; absent when it is the one that is written. */
  readonly nextLog?: number;
}

/** A part of a trail. What earlier parts had is told by the caller, because the proof that none is left out is about all of them. */
export interface TrailPage {
  readonly from: number;
  readonly countMax: number;
  /** How many entries the pages before had; undefined when they were not read, and then nothing is proved about them. */
  readonly countBefore: number | undefined;
  /** The log in which `from` is meant; undefined is the one that is written, after those that were closed when `from` is 0. */
  readonly log?: number | undefined;
}

export const trailEntriesMax = 10_000;
/** An answer has less than what gRPC sends at most. */
const trailBytesMax = 8_388_608;
const pageRows = 500;

export async function readTrail(
  ports: TrailPorts,
  subjectId: string,
  page?: TrailPage,
): Promise<Trail | { readonly fault: AuditFault }> {
  const { from: first, countMax } = page ?? { from: 0, countMax: trailEntriesMax };
  // Asked before the index: what is appended meanwhile may be in it, never the other way round.
  const isWhole = ports.subjects?.isWhole() ?? false;
  const seen = ports.subjects?.seen(subjectId);
  const newest = isWhole ? seen?.newest : (ports.newestOf(subjectId) ?? seen?.newest);
  const entries: EntryRecord[] = [];
  let misleading: AuditFault | undefined;
  let next: number | undefined;
  let bytes = 0;
  for (let from = first; next === undefined; ) {
    const rows = await ports.auditLog.readSubject(subjectId, from, pageRows);
    for (const row of rows) {
      bytes += row.text.length;
      if (entries.length >= countMax || (entries.length > 0 && bytes > trailBytesMax)) {
        // Not where the index has the next one: what it leaves out in between would be passed over.
        next = (entries.at(-1)?.sequence ?? first - 1) + 1;
        break;
      }
      const record = look(ports, subjectId, row);
      if ("fault" in record) return record;
      misleading ??= linkFault(record.entry, entries.at(-1), first);
      entries.push(record.entry);
    }
    const last = entries.at(-1);
    if (rows.length < pageRows || last === undefined) break;
    from = last.sequence + 1;
  }
  if (next !== undefined && page === undefined) throw tooLong(subjectId);
  // Links are made of what the index said when the entry was appended: what was counted from the entries knows better.
  if (misleading !== undefined && !isWhole) return { fault: misleading };
  if (next !== undefined) return { entries, isComplete: false, next };
  const last = entries.at(-1)?.sequence ?? first - 1;
  if (newest !== undefined && last < newest) {
    const actual = entries.length === 0 ? "none" : `entry ${last} as the newest`;
    return { fault: misleading ?? mismatch(newest, `entry ${newest} about ${subjectId}`, actual) };
  }
  const countBefore = page?.countBefore ?? (first === 0 ? 0 : undefined);
  if (isWhole && countBefore === undefined) return { entries, isComplete: false };
  if (isWhole) return counted(entries, countBefore ?? 0, seen, misleading);
  // Only the whole of it can be proved without a count.
  return {
    entries,
    isComplete: first === 0 && newest !== undefined && !entries.some(({ action }) => hasFixedData(action)),
  };
}

/** There must be as many as were counted; what came since was appended while the index was read. */
function counted(
  entries: readonly EntryRecord[],
  countBefore: number,
  seen: SubjectSeen | undefined,
  misleading: AuditFault | undefined,
): Trail | { readonly fault: AuditFault } {
  const { newest, count } = seen ?? { newest: -1, count: 0 };
  const found = countBefore + entries.filter(({ sequence }) => sequence <= newest).length;
  if (found === count) return { entries, isComplete: true };
  return { fault: misleading ?? mismatch(newest, `${count} entries up to this one`, `${found}`) };
}

function look(
  { sha256 }: TrailPorts,
  subjectId: string,
  { sequence, text }: SubjectRow,
): { readonly entry: EntryRecord } | { readonly fault: AuditFault } {
  // The link to the entry before is the verifier's business; here it is about the entry itself.
  const broken = createChainCheck({ sha256, from: sequence }).next(text);
  if (broken !== undefined) return { fault: broken };
  const entry = readEntry(text);
  if (entry === undefined) return { fault: mismatch(sequence, "an entry", "something else") };
  return entry.subject_id === subjectId ? { entry } : { fault: mismatch(sequence, subjectId, entry.subject_id) };
}

/** Whether the entry names another one before it than the index does. The one before the first of a page lies before the page. */
function linkFault(
  { sequence, action, data }: EntryRecord,
  before: EntryRecord | undefined,
  first: number,
): AuditFault | undefined {
  if (hasFixedData(action)) return undefined;
  const named = data[subjectPrevious];
  const listed = before?.sequence ?? null;
  const liesBefore = before === undefined && typeof named === "number" && named < first;
  if (named === listed || liesBefore) return undefined;
  return mismatch(sequence, `entry ${String(named)} before it, as it says itself`, `entry ${String(listed)}`);
}

function mismatch(sequence: number, expected: string, actual: string): AuditFault {
  return { code: "INDEX_MISMATCH", sequence, expected, actual };
}

function tooLong(subjectId: string): Fault {
  return new Fault(
    "RESOURCE_EXHAUSTED",
    `There are more than ${trailEntriesMax} entries about ${JSON.stringify(subjectId)}, or they are too long for one answer: ask for them in pages (count_max).`,
    { retry: "never" },
  );
}
