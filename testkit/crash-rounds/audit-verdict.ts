// What must be true of the audit log whatever was killed: nothing acknowledged is missing, nothing stands twice, whoever appended in order stands in
// order, and what was published is an entry. That the chain and the tree hold is asked of the verifiers, not here.
import type { AppendAcknowledged } from "./audit-load.ts";
import { action } from "./audit-load.ts";

export interface AuditRowSeen {
  readonly sequence: number;
  readonly eventId: string;
  readonly text: string;
}

export interface AuditEvidence {
  readonly rows: readonly AuditRowSeen[];
  readonly appends: readonly AppendAcknowledged[];
  /** Event ids that were acknowledged to their publishers. */
  readonly published: readonly string[];
  /** Events of audited subjects that the outbox holds. */
  readonly committed: readonly string[];
}

interface Drill {
  readonly sequence: number;
  readonly hash: string;
  readonly data: { readonly key: string; readonly lane: string; readonly number: number };
}

/** One sentence for everything that is wrong. */
export function judgeAudit({ rows, appends, published, committed }: AuditEvidence): readonly string[] {
  const wrong: string[] = [];
  const byEvent = new Map<string, number>();
  const byKey = new Map<string, Drill>();
  const lastOfLane = new Map<string, number>();
  for (const [place, { sequence, eventId, text }] of rows.entries()) {
    if (sequence !== place) wrong.push(`entry ${sequence} stands where ${place} should`);
    if (byEvent.has(eventId)) wrong.push(`the event ${eventId} stands in ${byEvent.get(eventId)} and ${sequence}`);
    byEvent.set(eventId, sequence);
    const entry = JSON.parse(text) as Drill & { readonly action: string };
    if (entry.sequence !== sequence) wrong.push(`the text of entry ${sequence} says ${entry.sequence}`);
    if (entry.action !== action) continue;
    const { key, lane, number } = entry.data;
    const twin = byKey.get(key);
    if (twin !== undefined) wrong.push(`the append ${key} stands in ${twin.sequence} and ${sequence}`);
    byKey.set(key, entry);
    const before = lastOfLane.get(lane) ?? -1;
    if (number <= before) wrong.push(`${lane} appended ${number} after ${before}`);
    lastOfLane.set(lane, number);
  }
  for (const { key, sequence, hash } of appends) {
    const entry = byKey.get(key);
    if (entry === undefined) wrong.push(`the append ${key} was acknowledged as ${sequence} and is missing`);
    else if (entry.sequence !== sequence || entry.hash !== hash) {
      wrong.push(`the append ${key} was acknowledged as ${sequence} ${hash} and is ${entry.sequence} ${entry.hash}`);
    }
  }
  for (const id of published) if (!byEvent.has(id)) wrong.push(`the event ${id} was published and is no entry`);
  for (const id of committed) if (!byEvent.has(id)) wrong.push(`the event ${id} is in the outbox and is no entry`);
  return wrong;
}
