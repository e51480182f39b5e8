// Reads the audit log in order from a moment on, over the logs that were closed since, and checks every entry that it reads: what is derived from a log that
// is not a chain proves nothing.
import { Fault } from "../../../contracts/src/fault.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { createChainCheck } from "../../../core/audit/chain-check.ts";
import { type EntryRecord, readEntry } from "../../../core/audit/entry.ts";
import type { AuditHead, AuditLog, AuditRow, ClosedLogReads } from "../../../ports/audit-log.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { breathe } from "../../shared/waiting.ts";

type ScanPorts = Pick<ServicePorts, "auditLog" | "timers" | "sha256OfBytes">;

/** One log, as far as it goes. */
export interface LogPart {
  readonly log: Pick<ClosedLogReads, "read" | "readSubject">;
  readonly head: AuditHead;
}

export interface LogPlace {
  /** Index of its part. */
  readonly part: number;
  readonly sequence: number;
}

const pageEntries = 1_000;
const decoder = new TextDecoder();

/** The oldest first; the last one is written. */
export async function logParts(auditLog: AuditLog): Promise<readonly LogPart[]> {
  const closed = await auditLog.closedLogs();
  const parts = closed.map((log): LogPart => ({ log: auditLog.closed(log), head: log.head }));
  return [...parts, { log: auditLog, head: await auditLog.head() }];
}

/** Of the first entry that is not older. */
export async function placeOf(parts: readonly LogPart[], since: Instant): Promise<LogPlace> {
  const from = format(since);
  const part = Math.max(
    parts.findIndex(({ head }) => head.timestamp >= from),
    0,
  );
  const within = parts[part];
  let [low, high] = [0, within?.head.size ?? 0];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = (await within?.log.read(middle, 1)) ?? [];
    const entry = row && readEntry(row.text);
    if (entry === undefined) throw broken("is no entry", middle);
    if (entry.timestamp < from) low = middle + 1;
    else high = middle;
  }
  return { part, sequence: low };
}

interface Scan {
  readonly from: LogPlace;
  /** Up to before this one; to the end when absent. */
  readonly before?: LogPlace;
  /** Which texts are looked into at all. */
  readonly has: readonly string[];
  readonly signal: AbortSignal;
}

/** Shows the entries whose text has one of these, in the order of the log. */
export async function scanLog(
  ports: ScanPorts,
  parts: readonly LogPart[],
  { from, before, has, signal }: Scan,
  show: (entry: EntryRecord, place: LogPlace) => void,
): Promise<void> {
  for (let part = from.part; part <= (before?.part ?? parts.length - 1); part += 1) {
    const within = parts[part];
    if (within === undefined) return;
    let sequence = part === from.part ? from.sequence : 0;
    const end = part === before?.part ? before.sequence : within.head.size;
    const chain = createChainCheck({ sha256: ports.sha256OfBytes, from: sequence });
    while (sequence < end) {
      const rows = await within.log.read(sequence, Math.min(pageEntries, end - sequence));
      if (rows.length === 0) throw broken("is missing", sequence);
      for (const row of rows) {
        const fault = chain.next(row.text);
        if (fault !== undefined) throw broken(`is broken (${fault.code})`, fault.sequence);
        const entry = lookInto(row, has);
        if (entry !== undefined) show(entry, { part, sequence: row.sequence });
      }
      sequence += rows.length;
      if (signal.aborted) throw new Fault("CANCELLED", "The caller went away.", { retry: "never" });
      await breathe(ports.timers);
    }
  }
}

function lookInto({ text }: AuditRow, has: readonly string[]): EntryRecord | undefined {
  const words = decoder.decode(text);
  return has.some((word) => words.includes(word)) ? readEntry(text) : undefined;
}

/** Entries about a subject from before that one on, the newest first, along the links that they carry themselves. */
export async function* entriesBefore(
  parts: readonly LogPart[],
  part: number,
  previous: unknown,
): AsyncGenerator<{ readonly entry: EntryRecord; readonly place: LogPlace }> {
  const within = parts[part];
  for (let sequence = previous; typeof sequence === "number"; ) {
    const [row] = (await within?.log.read(sequence, 1)) ?? [];
    const entry = row && readEntry(row.text);
    if (entry === undefined) throw broken("is no entry", sequence);
    yield { entry, place: { part, sequence } };
    sequence = entry.data["subject_previous"];
  }
}

function broken(what: string, sequence: number): Fault {
  const sentence = `Entry ${sequence} of the audit log ${what}: nothing is proved by it. ctl operations audit verify.`;
  return new Fault("FILING_LOG_BROKEN", sentence, { retry: "never", facts: { sequence } });
}
