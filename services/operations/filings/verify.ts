// Holds a day's records of a fund against their entries in the audit log, and its files against the records: whatever was changed behind the platform's back is
// named. Nothing is written.
import { format } from "../../../contracts/src/instant.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import { pathOf } from "./bring-file.ts";
import type { FilingParts } from "./filing-parts.ts";
import { type LoggedRecord, readLoggedRecords } from "./logged-day.ts";
import { type DayToReconcile, type ReconcilePorts, rowsOf } from "./reconcile.ts";

type FindingKind =
  | "ENTRY_MISSING"
  | "RECORD_CHANGED"
  | "RECORD_MISSING"
  | "FILE_CHANGED"
  | "FILE_BEHIND"
  | "FILE_MISSING";

interface Finding {
  readonly kind: FindingKind;
  /** The record's id, or the file's path under the folder of filings. */
  readonly of: string;
  readonly sentence: string;
}

export interface Verification {
  records: number;
  /** Records whose entries the log need not have yet. */
  pending: number;
  readonly files: readonly { readonly path: string; readonly state: string; readonly bytes: number }[];
  /** At most so many. */
  readonly findings: readonly Finding[];
  findingCount: number;
  readonly until: string;
}

type VerifyParts = ReconcilePorts & Pick<FilingParts, "images">;

const findingsMax = 1_000;

export async function verifyDay(parts: VerifyParts, of: Omit<DayToReconcile, "heardUntil">): Promise<Verification> {
  const { regime, fundId, date } = of;
  const { records: logged, until } = await readLoggedRecords(parts.ports, { ...of, regime: regime.name });
  const findings: Finding[] = [];
  let [records, pending, findingCount] = [0, 0, 0];
  const tell = (kind: FindingKind, what: string, sentence: string): void => {
    findingCount += 1;
    if (findings.length < findingsMax) findings.push({ kind, of: what, sentence });
  };
  const seen = new Set<string>();
  for await (const row of rowsOf(parts.ports, { ...of, heardUntil: undefined })) {
    records += 1;
    seen.add(row.recordId);
    const entry = logged.get(row.recordId);
    if (entry === undefined && format(row.recordedAt) > until) pending += 1;
    else if (entry === undefined)
      tell("ENTRY_MISSING", row.recordId, `No entry of the audit log tells of ${row.recordId}.`);
    else if (!isAsAudited(row, entry, parts.sha256)) {
      tell("RECORD_CHANGED", row.recordId, `The record ${row.recordId} is not what its entry in the audit log says.`);
    }
  }
  for (const recordId of logged.keys()) {
    if (seen.has(recordId)) continue;
    tell("RECORD_MISSING", recordId, `The audit log tells of ${recordId}, and there is no such record.`);
  }
  const files = [];
  for (const status of ["WRITTEN", "QUARANTINED"] as const) {
    const file = { regime: regime.name, fundId, date, status };
    const path = pathOf(file, parts.sha256);
    const { state, bytes, line } = await parts.images.look(file, path);
    const name = path.join("/");
    if (state === "NONE") continue;
    files.push({ path: name, state, bytes });
    if (state === "CHANGED") tell("FILE_CHANGED", name, `${name} is not what its records are, from line ${line} on.`);
    if (state === "BEHIND") tell("FILE_BEHIND", name, `${name} ends before line ${line} of its records.`);
    if (state === "MISSING") tell("FILE_MISSING", name, `${name} is not there.`);
  }
  return { records, pending, files, findings, findingCount, until };
}

function isAsAudited(row: FilingRecord, entry: LoggedRecord, sha256: FilingParts["sha256"]): boolean {
  return entry.sha256 === sha256(row.text) && entry.line === row.line && entry.status === row.status;
}
