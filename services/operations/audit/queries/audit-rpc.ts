// The audit log's remote procedures. Who appends is who proved it: a name in the request is at most a claim, and is kept as one.

import { mayCall } from "../../../../contracts/src/authority.ts";
import { Fault } from "../../../../contracts/src/fault.ts";
import type {
  AppendAuditRequest,
  AuditEntry,
  AuditTrail,
  AuditTrailRequest,
  AuditVerification,
  VerifyAuditRequest,
} from "../../../../contracts/src/generated/svc/v1/audit.ts";
import { type EntryRecord, readEntry } from "../../../../core/audit/entry.ts";
import { subjectCharactersMax } from "../../../../core/audit/entry-layout.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { Random } from "../../../../ports/random.ts";
import type { DeniedAnswer, RpcCall, UnaryHandler } from "../../../../ports/rpc.ts";
import type { RunningAudit } from "../audit-ports.ts";
import { sentenceOf } from "../checking/finding-sentence.ts";
import { claimedActor, denyPlatformNames, invalid } from "../log/reserved.ts";
import { hasSealed } from "../personal/sealing.ts";
import { atMost } from "./at-most.ts";

interface AuditRpcPorts extends Pick<RunningAudit, "append" | "trail" | "verify" | "unseal"> {
  readonly auditLog: Pick<AuditLog, "head" | "read">;
  readonly random: Random;
}

/** What cannot become an entry of 65,535 bytes whatever it says. */
const requestBytesMax = 100_000;
/** Each reads the whole log. */
const verificationsMax = 2;
/** Each may hold eight megabytes of entries in memory. */
const trailsMax = 4;
const trailPageMax = 1_000;
/** As an order's. */
const keyUnitsMax = 200;

export function auditHandlers(ports: AuditRpcPorts): Readonly<Record<string, UnaryHandler>> {
  const fewVerifications = atMost(verificationsMax, "verifications are running");
  const fewTrails = atMost(trailsMax, "trails are being read");
  return {
    AppendAudit: (request: AppendAuditRequest, call: RpcCall) => appendAudit(ports, request, call),
    GetAuditTrail: (request: AuditTrailRequest, call: RpcCall) => fewTrails(() => getAuditTrail(ports, request, call)),
    VerifyAudit: (request: VerifyAuditRequest, call: RpcCall) =>
      fewVerifications(() => verifyAudit(ports, request, call)),
  };
}

async function appendAudit(
  ports: AuditRpcPorts,
  request: AppendAuditRequest,
  call: RpcCall,
): Promise<AuditEntry | DeniedAnswer> {
  if (call.requestBytes.length > requestBytesMax) throw invalid("This is longer than an audit entry can be.");
  const { actor: claimed, action, subject_id: subjectId } = request;
  const { actor } = call.identity;
  const data: Record<string, unknown> = { ...request.data };
  const reserved = denyPlatformNames({ action, subjectId, data, claimed });
  if (reserved !== undefined) return { denial: reserved };
  // What an entry holds sealed only the platform seals; a copy would be shown as if it were about somebody.
  if (hasSealed(data))
    throw invalid("An object of sealed and subject_key alone is the audit log's own: name it otherwise.");
  if (claimed !== "" && claimed !== actor) data[claimedActor] = claimed;
  const eventId = eventIdOf(ports, actor, request.idempotency_key);
  let appended: Awaited<ReturnType<AuditRpcPorts["append"]>>;
  try {
    appended = await ports.append({ eventId, actor, action, subjectId, data });
  } catch (thrown) {
    const denied = keyTaken(request.idempotency_key, thrown);
    if (denied === undefined) throw thrown;
    return denied;
  }
  const { sequence, entry } = appended;
  // Under a key that was used before, the entry is the one that stands in the log.
  const text = entry?.text ?? (await ports.auditLog.read(sequence, 1))[0]?.text;
  const record = text === undefined ? undefined : readEntry(text);
  if (record === undefined) throw new Fault("INTERNAL", "The entry that was made cannot be read.", { retry: "never" });
  return messageOfEntry(record);
}

/** The caller knows its key and not the event id that is made of it, so that is what it is told of. */
function keyTaken(key: string | undefined, thrown: unknown): DeniedAnswer | undefined {
  if (key === undefined || !(thrown instanceof Fault) || typeof thrown.facts["taken_by"] !== "number") return undefined;
  const sequence = thrown.facts["taken_by"];
  const entry = sequence < 0 ? "an entry of a log that was closed" : `entry ${sequence}`;
  const made = `The idempotency_key ${JSON.stringify(key)} made ${entry}, with another content`;
  return { denial: { code: "AUDIT_KEY_CONFLICT", reason: `${made}: choose another key for another entry.` } };
}

/** A key is the caller's own: another's is another key. Both stand as JSON, so that no two pairs are written alike. */
function eventIdOf({ random }: AuditRpcPorts, actor: string, key: string | undefined): string {
  if (key === undefined) return `rpc/${random.uuid()}`;
  if (key.length >= 1 && key.length <= keyUnitsMax) return `rpc-key/${JSON.stringify([actor, key])}`;
  throw invalid(
    `An idempotency_key has 1 to ${keyUnitsMax} characters, not ${key.length}: leave it away or choose another.`,
  );
}

async function getAuditTrail(
  ports: AuditRpcPorts,
  {
    subject_id: subjectId,
    from_sequence: from = 0,
    count_max: countMax = 0,
    count_before: countBefore,
    log = 0,
  }: AuditTrailRequest,
  { identity }: RpcCall,
): Promise<AuditTrail> {
  if (subjectId === "" || subjectId.length > 2 * subjectCharactersMax) {
    throw invalid(
      `subject_id has 1 to ${subjectCharactersMax} characters: name an order, a fund or whatever it is about.`,
    );
  }
  if ((from > 0 || log > 0) && countMax === 0) throw invalid("from_sequence asks for a page: name count_max as well.");
  const page = { from, countMax: Math.min(countMax, trailPageMax), countBefore, ...(log === 0 ? {} : { log }) };
  const trail = await ports.trail(subjectId, countMax === 0 ? undefined : page);
  if ("fault" in trail) throw broken(trail.fault);
  const mayRead = mayCall("ReadPersonalData", identity);
  const entries = (mayRead ? await ports.unseal(trail.entries) : trail.entries).map(messageOfEntry);
  const next = trail.nextLog === undefined ? {} : { next_log: trail.nextLog };
  const logs = trail.entries.flatMap(({ log: number }) => number ?? []);
  return { entries, logs, complete: trail.isComplete, next_sequence: trail.next ?? 0, ...next };
}

async function verifyAudit(
  ports: AuditRpcPorts,
  { from_sequence: from, log = 0 }: VerifyAuditRequest,
  call: RpcCall,
): Promise<AuditVerification> {
  const { size } = await ports.auditLog.head();
  if (!Number.isSafeInteger(from) || (from > size && size > 0 && log === 0)) {
    throw invalid(`from_sequence is ${from}: the log has ${size} entries, counted from 0.`);
  }
  const verdict = await ports.verify(from, call.signal, undefined, log);
  if ("fault" in verdict) throw broken(verdict.fault);
  return {
    entry_count: verdict.entries,
    trust_level: verdict.level,
    unanchored_count: verdict.unanchoredTail,
    covered_size: verdict.coveredSize,
    gap_count: 0,
  };
}

function messageOfEntry({
  sequence,
  timestamp,
  actor,
  action,
  subject_id,
  data,
  prev_hash,
  hash,
}: EntryRecord): AuditEntry {
  return { sequence, timestamp, actor, action, subject_id, data: { ...data }, prev_hash, hash };
}

/** The ChainIntegrityError: its fields stand in the facts, and in the sentence for whoever only gets that. */
export function broken(fault: AuditFault): Fault {
  const { code, sequence, expected, actual } = fault;
  return new Fault("CHAIN_INTEGRITY", `The audit log does not verify: ${sentenceOf(fault)}`, {
    retry: "never",
    facts: { code, sequence, expected, actual },
  });
}
