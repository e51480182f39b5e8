// Signs what the log is: a checkpoint every 1,000 entries, or after one second when something is new, and at a clean stop. A signature is a promise
// for ever, so this is where doubt ends in silence.
//
//  1. Only durable entries are signed.
//  2. A checkpoint is signed only when the stored tiles prove that its tree begins with that of the last one that was signed.
//  3. Tiles are stored before the checkpoint that they belong to, so a stored checkpoint can always be proved from.
//  4. Whoever lost the writer epoch signs nothing any more.
//  5. After a rotation the handover comes first: the checkpoint that ends with it, signed by both keys. The old key signs nothing larger, and the
//     new key signs alone only after the secret says that it is the one.
import { Defect, Fault, messageOf } from "../../../../contracts/src/fault.ts";
import { emptyRoot, signCheckpoint } from "../../../../core/audit/checkpoint.ts";
import type { Entry } from "../../../../core/audit/entry.ts";
import type { Hash, Sha256OfBytes } from "../../../../core/audit/hash.ts";
import { keyChangeOf } from "../../../../core/audit/key-entry.ts";
import type { TreeHash } from "../../../../core/audit/merkle.ts";
import { verifyConsistency } from "../../../../core/audit/proof.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { Log } from "../../../../ports/log.ts";
import type { CancelTimer, Timers } from "../../../../ports/timers.ts";
import { endsWithin } from "../../../shared/waiting.ts";
import type { LogKey, Signer } from "../keys/signing-key.ts";
import { type GrowingTree, readConsistencyProof } from "./growing-tree.ts";

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

interface CheckpointsOptions {
  readonly auditLog: Pick<AuditLog, "putTiles" | "readTiles" | "putCheckpoint">;
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
  /** Called with every checkpoint that was signed and stored. */
  readonly onSigned: (checkpoint: SignedCheckpoint) => void;
  readonly writerEpoch: () => number;
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
  /** Why nothing is signed right now. */
  complaint(): string | undefined;
  /** Signs now if anything is new, and waits for it. */
  flush(): Promise<void>;
  /** Signs what is left, for at most so long. */
  stop(patienceMs: number): Promise<void>;
}

const signEveryEntries = 1_000;
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
  let complaint: string | undefined = key === undefined ? "There is no key to sign with." : undefined;
  let ended = false;

  function grown(entries: readonly Entry[]): void {
    for (const entry of entries) {
      growing.append(entry.leaf);
      if (expected !== undefined) lookForRotation(entry.text, expected);
    }
    if (ended || key === undefined || isDone()) return;
    if (handover !== undefined || growing.size - last.size >= signEveryEntries) sign();
    else signLater();
  }

  /** A timer that rings while something is being signed is spent: what is new then is seen when that ends. */
  function signLater(): void {
    cancelTimer ??= timers.after(signEveryMs, () => {
      cancelTimer = undefined;
      sign();
    });
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
      else signLater();
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
    await auditLog.putCheckpoint(options.writerEpoch(), { size: head.size, note, at: clock.now() });
    last = head;
    complaint = undefined;
    options.onSigned({ size: head.size, note });
    return true;
  }

  async function continuesLast(head: SignedHead): Promise<boolean> {
    const proof = await readConsistencyProof(auditLog, tree, last.size, head.size);
    if (proof === undefined) return false;
    const claim = { first: last.size, firstRoot: last.root, second: head.size, secondRoot: head.root, proof };
    return verifyConsistency(tree, claim);
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
    complaint: () => complaint,
    async stop(patienceMs) {
      await endsWithin(timers, flush(), patienceMs);
      ended = true;
      cancelTimer?.();
      if (signing !== undefined) await endsWithin(timers, signing, patienceMs);
    },
  };
}
