// One recorded decision, held against its entry of the audit log and made again from nothing but its record.
//
//  1. The entry comes first: a record that differs from it is a difference, whatever made again it would be.
//  2. What cannot be made again for a reason that is no fault of the record is skipped, and says why.
import type {
  DecidedAs,
  DecisionDifference,
  SkippedDecisions,
} from "../../../contracts/src/generated/svc/v1/replay.ts";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import { format } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { canonicalJson } from "../../../core/audit/canonical/canonical-json.ts";
import { readEntry } from "../../../core/audit/entry.ts";
import type { Sha256OfBytes } from "../../../core/audit/hash.ts";
import { replayDecision } from "../../../core/engine/replay.ts";
import type { Envelope } from "../../../core/envelope/envelope.ts";
import { decisionMadeOf, partsOf } from "../../../core/state/rejection.ts";
import type { RecordedDecision } from "../../../ports/replay-queries.ts";
import { fitPayload } from "../audit/log/event-data.ts";
import { hasSealed } from "../audit/personal/sealing.ts";
import { type Payload, partAt } from "./timeline-words.ts";

export type SkipCause = "DUPLICATE" | "SCHEMA" | "EARLIER_RULES" | "ERASED";

export type Judged =
  | { readonly kind: "same" }
  | { readonly kind: "skipped"; readonly cause: SkipCause }
  | { readonly kind: "different"; readonly difference: DecisionDifference };

interface JudgeTools {
  readonly sha256: Sha256OfBytes;
  /** Undefined where the decision names none; "unreadable" where it names one that is not there. */
  readonly envelopeOf: (version: number | undefined) => Promise<Envelope | "unreadable" | undefined>;
}

export async function judgeDecision(stored: RecordedDecision, { sha256, envelopeOf }: JudgeTools): Promise<Judged> {
  const { decisionId, approved, code, orderId } = stored;
  const named = { order_id: orderId, decision_id: decisionId, decided_at: format(stored.at) };
  const record = readRecord(stored.payload);
  if (record === undefined) return different({ ...named, cause: "UNREADABLE", recorded: { approved, gate: "", code } });
  const { decision } = partsOf(record);
  const recorded: DecidedAs = { approved: decision.approved, gate: decision.rejecting_gate, code: decision.code };
  const facts = { ...named, order_id: decision.order_id, decided_at: decision.decided_at, recorded };
  const isOwn = decision.decision_id === decisionId && decision.approved === approved && decision.code === code;
  const entry = stored.entry === undefined ? undefined : readEntry(stored.entry.text);
  if (stored.entry !== undefined && entry === undefined) return different({ ...facts, cause: "UNREADABLE" });
  if (entry !== undefined && hasSealed(entry.data)) return { kind: "skipped", cause: "ERASED" };
  const tells =
    entry !== undefined && entry.action === "order.decided" && isReported(record, decisionId, entry.data, sha256);
  if (!isOwn || !tells) return different({ ...facts, cause: "AUDIT" });
  const envelope = await envelopeOf(decision.envelope_version);
  if (envelope === "unreadable") return different({ ...facts, cause: "UNREADABLE" });
  return again(record, envelope, facts);
}

type Facts = Pick<DecisionDifference, "order_id" | "decision_id" | "decided_at"> & { readonly recorded: DecidedAs };

function again(record: DecisionRecord, envelope: Envelope | undefined, facts: Facts): Judged {
  const { recorded } = facts;
  const result = tryReplay(record, envelope);
  if (result === undefined) return different({ ...facts, cause: "UNREADABLE" });
  if (result === "EARLIER_RULES") return { kind: "skipped", cause: "EARLIER_RULES" };
  if (result === "NO_LIMIT_DECIDES") {
    return { kind: "skipped", cause: recorded.gate === "schema" ? "SCHEMA" : "DUPLICATE" };
  }
  const { approved, gate, code } = result;
  if (approved === recorded.approved && gate === recorded.gate && code === recorded.code) return { kind: "same" };
  return different({ ...facts, cause: "DECISION", replayed: { approved, gate, code } });
}

function different(
  difference: Omit<DecisionDifference, "replayed"> & { readonly replayed?: DecidedAs | undefined },
): Judged {
  return { kind: "different", difference: { replayed: undefined, ...difference } };
}

/** A record that cannot be read is that record's trouble, and is reported as such. */
function readRecord(payload: Uint8Array): DecisionRecord | undefined {
  return unlessItThrows(() => {
    const record = DecisionRecord.decode(payload);
    partsOf(record);
    return record;
  });
}

function tryReplay(record: DecisionRecord, envelope: Envelope | undefined) {
  return unlessItThrows(() => replayDecision(record, envelope));
}

function isReported(record: DecisionRecord, decisionId: string, data: Payload, sha256: Sha256OfBytes): boolean {
  const told = unlessItThrows(() => {
    // As it came over the bus: JSON, and only what its schema has.
    const heard = subjects.decisionMade.schema.parse(parseJson(JSON.stringify(decisionMadeOf(record))));
    return canonicalJson(fitPayload(heard, sha256)) === canonicalJson(data["payload"]);
  });
  return told === true && data["event_id"] === decisionId && data["subject"] === subjects.decisionMade.name;
}

function unlessItThrows<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    // Whatever is wrong with a record of another's making is a finding and no trouble of ours.
    return undefined;
  }
}

/** What an entry says of a decision whose record is gone. */
export function decidedIn(data: Payload): { readonly fundId: string; readonly difference: DecisionDifference } {
  const decision = partAt(partAt(data, "payload"), "decision");
  const text = (name: string): string => (typeof decision[name] === "string" ? decision[name] : "");
  const recorded = { approved: decision["approved"] === true, gate: text("rejecting_gate"), code: text("code") };
  const named = { order_id: text("order_id"), decision_id: text("decision_id"), decided_at: text("decided_at") };
  return { fundId: text("fund_id"), difference: { ...named, cause: "MISSING", recorded, replayed: undefined } };
}

export function skippedCauses(counts: ReadonlyMap<SkipCause, number>): SkippedDecisions[] {
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([cause, count]) => ({ cause, count }));
}
