// What must stand beside an entry, derived from its bytes: subject, action, time, and the id of the event that it was made of where the bytes say it. The
// index is compared with it page by page, and what differs can be put right.
import { foreignActor } from "../../../../contracts/src/events/event.ts";
import { format, tryParse } from "../../../../contracts/src/instant.ts";
import { type EntryRecord, readEntry } from "../../../../core/audit/entry.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { genesisAction } from "../../../../core/audit/genesis.ts";
import { revokedAction, rotatedAction } from "../../../../core/audit/key-ring.ts";
import type { AuditIndexRow, AuditLog, AuditRow } from "../../../../ports/audit-log.ts";
import { keyDestroyedAction } from "../log/reserved.ts";

export interface IndexCheck {
  /** Shown in order; gives what the entry says. */
  entry(row: AuditRow): EntryRecord | undefined;
  /** Compares what was shown since the last time with the index. */
  compare(nextSequence: number): Promise<void>;
  /** How many rows differ. */
  count(): number;
  /** The first hundred of them. */
  faults(): readonly AuditFault[];
  /** What they must be; of a great many only the first. */
  repairs(): readonly Repair[];
}

type Repair = Omit<AuditIndexRow, "at">;

const namedMax = 100;
const repairsMax = 10_000;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function createIndexCheck(auditLog: Pick<AuditLog, "readIndex">): IndexCheck {
  const faults: AuditFault[] = [];
  const repairs: Repair[] = [];
  let count = 0;
  let shown: (EntryRecord | undefined)[] = [];

  function look(sequence: number, entry: EntryRecord | undefined, row: AuditIndexRow | undefined): void {
    const isThere = entry !== undefined && row?.sequence === sequence;
    const differs = isThere ? difference(entry, row) : (["an entry and its row of the index", "none"] as const);
    if (differs === undefined) return;
    count += 1;
    const [expected, actual] = differs;
    if (faults.length < namedMax) faults.push({ code: "INDEX_MISMATCH", sequence, expected, actual });
    if (!isThere || repairs.length >= repairsMax) return;
    const ids = eventIdsOf(entry);
    const eventId = ids === undefined || ids.includes(row.eventId) ? row.eventId : (ids[0] ?? row.eventId);
    repairs.push({ sequence, eventId, subjectId: entry.subject_id, action: entry.action });
  }

  return {
    entry({ text }) {
      const entry = readEntry(text);
      shown.push(entry);
      return entry;
    },
    async compare(nextSequence) {
      const from = nextSequence - shown.length;
      const entries = shown;
      shown = [];
      const rows = await auditLog.readIndex(from, entries.length);
      for (const [place, entry] of entries.entries()) look(from + place, entry, rows[place]);
    },
    count: () => count,
    faults: () => faults,
    repairs: () => repairs,
  };
}

/** What the entry says and what the index does; undefined when they agree. */
function difference(entry: EntryRecord, row: AuditIndexRow): readonly [string, string] | undefined {
  if (row.subjectId !== entry.subject_id || row.action !== entry.action) {
    return [`${entry.action} about ${entry.subject_id}`, `${row.action} about ${row.subjectId}`];
  }
  if (row.at !== tryParse(entry.timestamp)) return [`the time ${entry.timestamp}`, `the time ${format(row.at)}`];
  const ids = eventIdsOf(entry);
  if (ids === undefined || ids.includes(row.eventId)) return undefined;
  return [`the event ${ids.join(" or ")}`, `the event ${row.eventId}`];
}

/**
 * Under which id the entry must be found, the likeliest first. Undefined when the bytes do not say it: what somebody appended by a call has an id
 * that was made up for it.
 */
function eventIdsOf({ action, subject_id: subjectId, data }: EntryRecord): readonly string[] | undefined {
  if (action === genesisAction) return [action, `${action}/${subjectId}`];
  if (action === rotatedAction || action === revokedAction) return [`${action}/${subjectId}`];
  if (action === keyDestroyedAction) return [`subject-key-destroyed/${String(data["subject_key"])}`];
  const { event_id: id, source, subject } = data;
  if (typeof id !== "string" || typeof source !== "string" || typeof subject !== "string") return undefined;
  if (!uuid.test(id)) return [`bus/${id}`];
  const isClaimed = "claimed_source" in data || "claimed_at" in data;
  if (isClaimed) return [`bus/${id}`];
  return source === foreignActor ? [id, `bus/${id}`] : [id];
}
