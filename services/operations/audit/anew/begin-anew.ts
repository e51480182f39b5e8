// Closes a log and begins the next, in one transaction of the store. What the old log holds is not touched; entry 1 of the new one names it: what it was
// called, how long it was, what it signed last, how much of that its entries still led to, what was wrong, and who decided why.
//
//  1. The new log's key is kept before anything names it. After a crash here it is the one that the next attempt takes.
//  2. The store closes the old log and appends entries 0 and 1 of the new one. After a crash here the next start opens the new log.
//  3. The secret of the new log says that it has begun, that of the old one that it was closed: both by whoever opens the new log.
import { Fault } from "../../../../contracts/src/fault.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { base64OfHash } from "../../../../core/audit/base64.ts";
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import { makeEntry } from "../../../../core/audit/entry.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { genesisAction, makeGenesis } from "../../../../core/audit/genesis.ts";
import type { AuditHead, NewAuditRow, StoredCheckpoint } from "../../../../ports/audit-log.ts";
import type { AuditPorts } from "../audit-ports.ts";
import { keyPathOf, type LogKey, makeFollowingKey } from "../keys/signing-key.ts";
import { begunAnewAction, subjectPrevious } from "../log/reserved.ts";
import { isUnknown } from "../log/sequencer-faults.ts";
import { type JudgedLog, signedNewest } from "./judge-log.ts";

export interface AnewAsked {
  /** The log that is to be closed. */
  readonly number: number;
  readonly requestId: string;
  readonly reason: string;
  readonly requestedBy: string;
  readonly cosignedBy: string;
}

export interface AnewDone {
  readonly number: number;
  readonly origin: string;
  /** As a vkey. */
  readonly key: string;
  /** Of the entry that names the old log. */
  readonly sequence: number;
}

/** A witness's word, which no verification finds. */
export type Finding = Omit<AuditFault, "code"> & { readonly code: AuditFault["code"] | "WITNESS_CONTRADICTS" };

const attemptsMax = 5;
/** A note that is longer is left out; its size and its root say the same. */
const noteCharactersMax = 16_000;
const factCharactersMax = 300;

/** Whoever wrote the old log must have stopped. */
export async function beginAnew(
  ports: AuditPorts,
  asked: AnewAsked,
  judged: JudgedLog,
  finding: Finding,
): Promise<AnewDone> {
  const { auditLog, random, sha256OfBytes: sha256, secrets, signing, clock } = ports;
  const number = asked.number + 1;
  const incarnation = random.uuid();
  const path = keyPathOf(ports.auditSettings.signingKeyPath, number);
  let taken = await auditLog.takeWriterEpoch(incarnation);
  if (taken.number !== asked.number) throw elsewhere(asked.number, taken.number);
  const key = await makeFollowingKey({ secrets, random, signing, sha256, path }, number);
  const signed = (await signedNewest(ports, auditLog, judged.key)) ?? judged.signed;
  const at = clock.now();
  const begun = firstEntries(
    ports,
    key,
    format(at),
    dataOf(asked, { ...judged, signed }, finding, taken.head, format(at)),
  );
  for (let attempt = 1; ; attempt += 1) {
    try {
      await auditLog.beginAnew({ writerEpoch: taken.writerEpoch, at, ...begun });
      break;
    } catch (thrown) {
      if (!isUnknown(thrown) || attempt >= attemptsMax) throw thrown;
    }
    taken = await auditLog.takeWriterEpoch(incarnation);
    if (taken.number === number && taken.head.hash === begun.head.hash) break;
    if (taken.number !== asked.number) throw elsewhere(asked.number, taken.number);
  }
  return { number, origin: key.origin, key: key.key.vkey, sequence: 1 };
}

function firstEntries(
  { sha256OfBytes: sha256 }: AuditPorts,
  { origin, incarnation, key }: LogKey,
  timestamp: string,
  { actor, data }: { readonly actor: string; readonly data: Readonly<Record<string, unknown>> },
): { readonly rows: readonly NewAuditRow[]; readonly head: AuditHead } {
  const genesis = makeGenesis({ origin, incarnation, keys: [key.vkey], timestamp }, sha256);
  const fields = { sequence: 1, timestamp, actor, action: begunAnewAction, subject_id: origin };
  const naming = makeEntry({ ...fields, data, prev_hash: genesis.hash }, sha256);
  const row = (sequence: number, action: string, text: Uint8Array): NewAuditRow => ({
    sequence,
    action,
    text,
    timestamp,
    subjectId: origin,
    eventId: `${action}/${origin}`,
  });
  return {
    rows: [row(0, genesisAction, genesis.text), row(1, begunAnewAction, naming.text)],
    head: { size: 2, hash: naming.hash, timestamp },
  };
}

function dataOf(
  { number, requestId, reason, requestedBy, cosignedBy }: AnewAsked,
  { origin, key, signed, verified }: JudgedLog,
  { code, sequence, expected, actual }: Finding,
  head: AuditHead,
  closedAt: string,
): { readonly actor: string; readonly data: Readonly<Record<string, unknown>> } {
  const data = {
    fault: { code, sequence, expected: short(expected), actual: short(actual) },
    log: number + 1,
    previous: {
      log: number,
      origin,
      size: head.size,
      hash: head.hash,
      closed_at: closedAt,
      keys: key?.terms.map((term) => term.key.vkey) ?? [],
      checkpoint: checkpointOf(signed),
      verified_checkpoint: checkpointOf(verified),
    },
    reason,
    request_id: requestId,
    requested_by: requestedBy,
    cosigned_by: cosignedBy,
    [subjectPrevious]: 0,
  };
  return { actor: cosignedBy, data };
}

function checkpointOf(stored: StoredCheckpoint | undefined): Readonly<Record<string, unknown>> | null {
  const read = stored === undefined ? undefined : readCheckpointNote(stored.note);
  if (stored === undefined || read === undefined || "malformed" in read) return null;
  const { size, root } = read.checkpoint;
  return { size, root: base64OfHash(root), ...(stored.note.length <= noteCharactersMax ? { note: stored.note } : {}) };
}

function short(text: string): string {
  return text.length <= factCharactersMax ? text : `${text.slice(0, factCharactersMax)}…`;
}

function elsewhere(asked: number, found: number): Fault {
  const sentence = `Log ${asked} is not the one that is written: that is log ${found}.`;
  return new Fault("STORE_CONFLICT", sentence, { retry: "never" });
}
