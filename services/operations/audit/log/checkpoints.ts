// Signs what the log is: a checkpoint every 1,000 entries, or after one second when something is new, and at a clean stop. A signature is a promise
// for ever, so this is where doubt ends in silence.
//
//  1. Only durable entries are signed.
//  2. A checkpoint is signed only when the stored tiles prove that its tree begins with that of the last one that was signed.
//  3. Tiles are stored before the checkpoint that they belong to, so a stored checkpoint can always be proved from.
//  4. Whoever lost the pen signs nothing any more.
//  5. After a rotation the handover comes first: the checkpoint that ends with it, signed by both keys. The old key signs nothing larger, and the
//     new key signs alone only after the secret says that it is the one.
//  6. Cosignatures are believed when they verify under the policy; a checkpoint gains them later and is otherwise as it was.
import { Defect, Fault, messageOf } from "../../../../contracts/src/fault.ts";
import { base64OfHash } from "../../../../core/audit/base64.ts";
import { emptyRoot, readCheckpointNote, signCheckpoint } from "../../../../core/audit/checkpoint.ts";
import { judgeCosignature } from "../../../../core/audit/cosignature.ts";
import type { Entry } from "../../../../core/audit/entry.ts";
import type { Hash, Sha256OfBytes } from "../../../../core/audit/hash.ts";
import { keyChangeOf } from "../../../../core/audit/key-entry.ts";
import type { TreeHash } from "../../../../core/audit/merkle.ts";
import type { Policy } from "../../../../core/audit/policy.ts";
import { verifyConsistency } from "../../../../core/audit/proof.ts";
import { readSignatureLine, type VerifySignature } from "../../../../core/audit/signed-note.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { Log } from "../../../../ports/log.ts";
import type { CancelTimer, Timers } from "../../../../ports/timers.ts";
import type { Witnesses } from "../../../../ports/witnesses.ts";
import type { LogKey, Signer } from "../keys/signing-key.ts";
import { type GrowingTree, readConsistencyProof } from "./growing-tree.ts";
import { endsWithin } from "./waiting.ts";

export interface SignedHead {
  readonly size: number;
  readonly root: Hash;
}

/** What both keys must sign next. */
export interface Handover extends SignedHead {
  readonly next: Signer;
}

export interface SignedCheckpoint {
  readonly size: number;
  readonly note: string;
}

export interface CheckpointsOptions {
  readonly auditLog: Pick<AuditLog, "putTiles" | "readTile" | "putCheckpoint">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly sha256: Sha256OfBytes;
  readonly tree: TreeHash;
  /** As large as the log, and consistent with `last`. */
  readonly growing: GrowingTree;
  readonly last: SignedHead | undefined;
  /** Undefined when there is no key: then nothing is signed. */
  readonly key: LogKey | undefined;
  /** Left over from the last process: its rotation stands in the log. */
  readonly handover: Handover | undefined;
  /** The handover is stored: makes the next key the one that signs, and gives it. */
  readonly onHandover: (size: number) => Promise<LogKey>;
  /** Told of every checkpoint that was signed and stored. */
  readonly onSigned: (checkpoint: SignedCheckpoint) => void;
  readonly pen: () => number;
  readonly verifySignature: VerifySignature;
  readonly witnesses: Witnesses | undefined;
  readonly policy: Policy | undefined;
  readonly onTakenOver: (fault: Fault) => void;
  /** The tree is not a continuation of what was signed. */
  readonly onInconsistent: (sentence: string) => void;
  readonly onDefect: (defect: Defect) => void;
}

export interface Checkpoints {
  /** A rotation to this key will come among the entries. */
  expectRotation(next: Signer): void;
  /** Entries became durable. */
  grown(entries: readonly Entry[]): void;
  signedSize(): number;
  /** The largest size that enough witnesses have cosigned since the start. */
  witnessedSize(): number;
  /** Why witnesses did not cosign the last checkpoint that they were shown. */
  witnessComplaints(): readonly string[];
  /** Why nothing is signed or cosigned right now. */
  complaint(): string | undefined;
  /** Signs now if anything is new, and waits for it. */
  flush(): Promise<void>;
  /** Signs what is left and waits for the witnesses, for at most so long each. */
  stop(patienceMs: number): Promise<void>;
}

export const signEveryEntries = 1_000;
export const signEveryMs = 1_000;

export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const { auditLog, clock, timers, log, tree, growing, sha256 } = options;
  let { key } = options;
  let expected: Signer | undefined;
  let handover: Handover | undefined = options.handover;
  let handoverIsStored = false;
  let last: SignedHead = options.last ?? { size: 0, root: emptyRoot };
  let cancelTimer: CancelTimer | undefined;
  let signing: Promise<void> | undefined;
  let submitting: Promise<void> | undefined;
  let witnessed = 0;
  let witnessComplaints: readonly string[] = [];
  let submitted: SignedCheckpoint | undefined;
  let complaint: string | undefined = key === undefined ? "There is no key to sign with." : undefined;
  let ended = false;

  function grown(entries: readonly Entry[]): void {
    for (const entry of entries) {
      growing.append(entry.leaf);
      if (expected !== undefined) lookForRotation(entry.text, expected);
    }
    if (ended || key === undefined || isDone()) return;
    if (handover !== undefined || growing.size - last.size >= signEveryEntries) sign();
    else cancelTimer ??= timers.after(signEveryMs, sign);
  }

  /** The root is taken right here: entries that follow in the same batch belong to the new key. */
  function lookForRotation(text: Uint8Array, next: Signer): void {
    const change = keyChangeOf(text, growing.size - 1, next.key.name, sha256);
    if (change === undefined || "fault" in change || change.kind !== "rotated") return;
    if (change.newKey.vkey !== next.key.vkey) return;
    handover = { size: growing.size, root: growing.root(), next };
    expected = undefined;
  }

  function isDone(): boolean {
    return growing.size === last.size && handover === undefined;
  }

  /** One at a time; what comes meanwhile is signed next. */
  function sign(): void {
    if (signing !== undefined || ended) return;
    cancelTimer?.();
    cancelTimer = undefined;
    signing = signOnce().then(() => {
      signing = undefined;
      if (ended || isDone()) return;
      if (growing.size - last.size >= signEveryEntries && complaint === undefined) sign();
      else cancelTimer ??= timers.after(signEveryMs, sign);
    });
  }

  async function signOnce(): Promise<void> {
    if (key === undefined || isDone()) return;
    try {
      if (handover === undefined) await makeCheckpoint(key, { size: growing.size, root: growing.root() }, [key]);
      else await handOver(key, handover);
    } catch (thrown) {
      if (thrown instanceof Defect) options.onDefect(thrown);
      complaint = `No checkpoint could be signed: ${messageOf(thrown)}`;
      log.warn("a checkpoint of the audit log was not signed", { error: messageOf(thrown) });
      if (thrown instanceof Fault && thrown.code === "STORE_CONFLICT") {
        ended = true;
        options.onTakenOver(thrown);
      }
    }
  }

  async function handOver(old: LogKey, { size, root, next }: Handover): Promise<void> {
    if (!handoverIsStored && !(await makeCheckpoint(old, { size, root }, [old, next]))) return;
    handoverIsStored = true;
    key = await options.onHandover(size);
    handover = undefined;
    handoverIsStored = false;
    complaint = undefined;
  }

  /** Whether it is signed and stored. */
  async function makeCheckpoint(
    { origin }: LogKey,
    head: SignedHead,
    signers: readonly [Signer, ...Signer[]],
  ): Promise<boolean> {
    const tiles = growing.unsaved();
    await auditLog.putTiles(tiles);
    growing.saved(tiles);
    if (!(await continuesLast(head))) {
      complaint = `The tree of ${head.size} entries does not begin with the signed one of ${last.size}; it is not signed.`;
      log.error("the audit log is not a continuation of what was signed", { size: head.size, signed: last.size });
      options.onInconsistent(complaint);
      return false;
    }
    const note = signCheckpoint({ origin, ...head }, signers);
    await auditLog.putCheckpoint(options.pen(), { size: head.size, note, at: clock.now() });
    last = head;
    complaint = undefined;
    options.onSigned({ size: head.size, note });
    submit({ size: head.size, note });
    return true;
  }

  async function continuesLast(head: SignedHead): Promise<boolean> {
    const proof = await readConsistencyProof(auditLog, tree, last.size, head.size);
    if (proof === undefined) return false;
    const claim = { first: last.size, firstRoot: last.root, second: head.size, secondRoot: head.root, proof };
    return verifyConsistency(tree, claim);
  }

  /** One at a time, the newest next: a witness wants the largest, not each. */
  function submit(checkpoint: SignedCheckpoint): void {
    if (options.witnesses === undefined) return;
    submitted = checkpoint;
    submitting ??= submitAll(options.witnesses).then(() => {
      submitting = undefined;
    });
  }

  async function submitAll(witnesses: Witnesses): Promise<void> {
    for (let next = submitted; next !== undefined; next = submitted) {
      submitted = undefined;
      try {
        await submitOne(witnesses, next);
      } catch (thrown) {
        if (thrown instanceof Defect) options.onDefect(thrown);
        log.warn("a checkpoint was not cosigned", { size: next.size, error: messageOf(thrown) });
      }
    }
  }

  async function submitOne(witnesses: Witnesses, { size, note }: SignedCheckpoint): Promise<void> {
    const proofFrom = async (oldSize: number): Promise<readonly string[]> => {
      const proof = await readConsistencyProof(auditLog, tree, Math.min(oldSize, size), size);
      if (proof === undefined) throw new Fault("NOT_FOUND", "tiles of the proof are missing", { retry: "later" });
      return proof.map(base64OfHash);
    };
    const { lines, complaints } = await witnesses.submit({ origin: key?.origin ?? "", size, note, proofFrom });
    witnessComplaints = complaints;
    for (const sentence of complaints) log.warn("a witness did not cosign", { size, sentence });
    const good = validLines(note, lines);
    if (good.length > 0) {
      await auditLog.putCheckpoint(options.pen(), { size, note: note + good.join(""), at: clock.now() });
    }
    if (options.policy !== undefined && good.length >= options.policy.k) witnessed = Math.max(witnessed, size);
  }

  /** Those of the policy's witnesses, each once, that verify now: a note with a bad line would be refused as a whole. */
  function validLines(note: string, lines: readonly string[]): readonly string[] {
    const signed = readCheckpointNote(note);
    if ("malformed" in signed) throw new Defect(`our own checkpoint is malformed: ${signed.malformed}`);
    const good = new Map<string, string>();
    for (const line of lines) {
      const read = readSignatureLine(line.endsWith("\n") ? line.slice(0, -1) : line);
      for (const witness of options.policy?.witnesses ?? []) {
        if (read === undefined || witness.name !== read.name || witness.id !== read.keyId) continue;
        const clockNow = { nowUs: clock.now() };
        const { kind } = judgeCosignature(signed.note.text, read, witness, options.verifySignature, clockNow);
        if (kind === "valid") good.set(witness.vkey, `${line.trimEnd()}\n`);
      }
    }
    return [...good.values()];
  }

  async function flush(): Promise<void> {
    // A first one may be under way that does not have the newest entries.
    while (!ended && key !== undefined && !isDone()) {
      const before = `${last.size} ${handover?.size}`;
      sign();
      await signing;
      if (`${last.size} ${handover?.size}` === before) return;
    }
  }

  return {
    expectRotation(next) {
      if (handover === undefined) expected = next;
    },
    grown,
    flush,
    signedSize: () => last.size,
    witnessedSize: () => witnessed,
    witnessComplaints: () => witnessComplaints,
    complaint: () => complaint,
    async stop(patienceMs) {
      await endsWithin(timers, flush(), patienceMs);
      ended = true;
      cancelTimer?.();
      await endsWithin(timers, Promise.all([signing, submitting]), patienceMs);
    },
  };
}
