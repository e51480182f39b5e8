// Verifies the log from what is stored: every entry as a link of the chain and as a leaf of the tree, and the tree against every checkpoint on the
// way. The answer says how far it reaches: what no checkpoint covers is consistent, and nothing more.
//
//  1. Whose checkpoints are believed is decided by keys that were not read from the log.
//  2. What comes before `from` enters through the stored tiles; the checkpoint's root holds only if they are right. When it does not, everything is
//     read from entry 0 on, because tiles are derived and prove nothing by themselves.
//  3. How many entries there must be is said by the head and by the checkpoints; fewer is TRUNCATED, and more are SEQUENCE_MISMATCH.
import { type ChainCheck, createChainCheck } from "../../../../core/audit/chain-check.ts";
import { type CheckpointNote, readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { createFrontier, type Frontier } from "../../../../core/audit/frontier.ts";
import type { Hash, Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { KeyRing } from "../../../../core/audit/key-ring.ts";
import { startKeyRing } from "../../../../core/audit/key-ring.ts";
import { createTreeHash, type TreeHash } from "../../../../core/audit/merkle.ts";
import type { Policy } from "../../../../core/audit/policy.ts";
import type { VerifierKey, VerifySignature } from "../../../../core/audit/signed-note.ts";
import { judgeCheckpoint, type TrustLevel } from "../../../../core/audit/trusted-checkpoint.ts";
import type { AuditHead, AuditLog, AuditRow, ClosedLogReads, StoredCheckpoint } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import { type AnchoredRoot, rootOther, shorterThan } from "../anchors/anchored-roots.ts";
import { followKeys } from "../keys/key-changes.ts";
import { readLeft } from "../log/growing-tree.ts";
import { beyondHead } from "../log/row-count.ts";
import type { SubjectMemory } from "../log/subject-memory.ts";

export interface VerifyPorts {
  readonly auditLog: AuditLog;
  readonly clock: Clock;
  readonly sha256: Sha256OfBytes;
  readonly verifySignature: VerifySignature;
  readonly origin: string;
  /** Without any the level stays L0. */
  readonly trustedKeys: readonly VerifierKey[];
  readonly policy?: Policy | undefined;
  /** Which key may sign which size, as the secret says: for a verification that begins after entry 0 and does not see every rotation. */
  readonly ring?: () => KeyRing | undefined;
  /** Told by fsck what the entries say of their subjects. */
  readonly subjects?: Pick<SubjectMemory, "beginPass">;
  /** Under which the index may be put right; without one it is only compared. */
  readonly writerEpoch?: () => number;
  /** The checkpoints that anchors outside the store have. */
  readonly anchored?: () => Promise<readonly AnchoredRoot[]>;
}

/** A closed log is verified like any other. */
type VerifyLogPorts = Omit<VerifyPorts, "auditLog"> & { readonly auditLog: ClosedLogReads };

export interface VerifyReport {
  readonly from: number;
  /** How many were verified, from `from` on. */
  readonly entries: number;
  readonly level: TrustLevel;
  /** The size of the largest checkpoint that the level rests on; 0 when there is none. */
  readonly coveredSize: number;
  /** A log with a gap does not verify at all. */
  readonly gaps: 0;
  /** Entries after the covered size. */
  readonly unanchoredTail: number;
  /** How many checkpoints were compared with the tree. */
  readonly checkpoints: number;
}

export type Verdict = VerifyReport | { readonly fault: AuditFault };

export interface VerifyOptions {
  readonly from?: number;
  readonly signal?: AbortSignal;
  /** Called with every entry that was found good; what it answers ends the verification. */
  readonly seen?: (row: AuditRow, leaf: Hash) => AuditFault | undefined;
  /** Called after every page. */
  readonly paged?: (nextSequence: number) => Promise<AuditFault | undefined>;
  /** Called with every checkpoint that a trusted key has signed and the entries lead to; of a log that ends too soon as well. */
  readonly trusted?: (checkpoint: StoredCheckpoint) => void;
}

/** Rows of one read; the next page is on its way while one is looked at. Nobody else has a turn while a page is: halts are answered in this process. */
const pageRows = 250;
const pageCheckpoints = 200;

export async function verifyLog(ports: VerifyLogPorts, options: VerifyOptions = {}): Promise<Verdict> {
  // Anchors and checkpoints first: one that is signed meanwhile must not make the head look short.
  const anchored = (await ports.anchored?.()) ?? [];
  const newest = await ports.auditLog.newestCheckpoint();
  const head = await ports.auditLog.head();
  const from = Math.min(options.from ?? 0, head.size);
  const longer = anchored.find(({ size }) => size > head.size);
  const isShort = (newest !== undefined && newest.size > head.size) || longer !== undefined;
  if (isShort && options.trusted !== undefined) {
    await walk(ports, options, { from: 0, begin: 0, left: [], head, anchored: [] });
  }
  if (newest !== undefined && newest.size > head.size) return truncated(head.size, newest.size);
  if (longer !== undefined) return { fault: shorterThan(longer, head.size) };
  if (head.size === 0) return { fault: fault("TRUNCATED", 0, "entry 0", "an empty log") };
  // The entry before is read as well: it is what the first link leads to. Of what no checkpoint covers, the first link leads to what one does.
  const begin = newest === undefined ? 0 : Math.max(0, Math.min(from, newest.size) - 1);
  const tree = createTreeHash(ports.sha256);
  const left = begin === 0 ? [] : await readLeft(ports.auditLog, tree, begin, newest?.size ?? 0);
  if (left === undefined) return walk(ports, options, { from, begin: 0, left: [], head, anchored });
  const verdict = await walk(ports, options, { from, begin, left, head, anchored });
  const mayBeTiles = begin > 0 && "fault" in verdict && verdict.fault.code === "ROOT_MISMATCH";
  return mayBeTiles ? walk(ports, options, { from, begin: 0, left: [], head, anchored }) : verdict;
}

interface Range {
  readonly from: number;
  readonly begin: number;
  readonly left: readonly Hash[];
  readonly head: AuditHead;
  readonly anchored: readonly AnchoredRoot[];
}

interface Walk extends Range {
  readonly ports: VerifyLogPorts;
  readonly trusted: VerifyOptions["trusted"];
  readonly tree: TreeHash;
  readonly chain: ChainCheck;
  readonly frontier: Frontier;
  readonly known: KeyRing | undefined;
  ring: KeyRing;
  /** The checkpoints that are to come, the next one first. */
  ahead: StoredCheckpoint[];
  checkpoints: number;
  /** The largest size that each level reaches. */
  readonly covered: { L1: number; L2: number };
  /** The checkpoint that the level rests on, and the keys by which it was judged. */
  last: { readonly signed: CheckpointNote; readonly root: Hash; readonly ring: KeyRing } | undefined;
}

async function walk(ports: VerifyLogPorts, options: VerifyOptions, range: Range): Promise<Verdict> {
  const { auditLog, sha256, origin } = ports;
  const { begin, head, left } = range;
  const tree = createTreeHash(sha256);
  const it: Walk = {
    ...range,
    ports,
    trusted: options.trusted,
    tree,
    chain: createChainCheck({ sha256, from: begin, origin }),
    frontier: createFrontier(tree, { size: begin, hashes: left }),
    known: ports.ring?.(),
    ring: (begin === 0 ? undefined : ports.ring?.()) ?? startKeyRing(ports.trustedKeys),
    ahead: [],
    checkpoints: 0,
    covered: { L1: 0, L2: 0 },
    last: undefined,
  };
  const readPage = (sequence: number): Promise<readonly AuditRow[]> =>
    sequence >= head.size ? Promise.resolve([]) : auditLog.read(sequence, Math.min(pageRows, head.size - sequence));
  let next = readPage(begin);
  while (it.chain.sequence < head.size) {
    options.signal?.throwIfAborted();
    const rows = await next;
    if (rows.length === 0) return truncated(it.chain.sequence, head.size);
    next = readPage(it.chain.sequence + rows.length);
    // Whoever leaves early must not leave a failure behind that nobody hears.
    next.catch(() => undefined);
    const wrong = (await look(it, rows, options)) ?? (await options.paged?.(it.chain.sequence));
    if (wrong !== undefined) return { fault: wrong };
  }
  if (it.chain.hash !== head.hash) {
    return { fault: fault("HASH_MISMATCH", head.size - 1, it.chain.hash ?? "a hash", `the head says ${head.hash}`) };
  }
  const wrong = outOfForceSince(it) ?? (await beyondHead(auditLog, head));
  return wrong === undefined ? reportOf(it) : { fault: wrong };
}

async function look(it: Walk, rows: readonly AuditRow[], options: VerifyOptions): Promise<AuditFault | undefined> {
  for (const row of rows) {
    const sequence = it.chain.sequence;
    const broken = it.chain.next(row.text);
    if (broken !== undefined) return broken;
    const leaf = it.tree.leaf(row.text);
    it.frontier.append(leaf);
    if (it.ahead.length === 0 || (it.ahead[0]?.size ?? 0) <= sequence) await fetchCheckpoints(it, sequence + 1);
    const due = it.ahead[0]?.size === sequence + 1 ? it.ahead.shift() : undefined;
    const wrong =
      followKeys(it, row.text, sequence, due) ??
      (due === undefined ? undefined : judge(it, due)) ??
      otherThanAnchored(it, sequence + 1) ??
      options.seen?.(row, leaf);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Whether an anchor has another tree of this size. */
function otherThanAnchored({ anchored, frontier }: Walk, size: number): AuditFault | undefined {
  if (anchored.length === 0) return undefined;
  const differs = anchored.find((each) => each.size === size && each.root !== frontier.root());
  return differs === undefined ? undefined : rootOther(differs, frontier.root());
}

/** The next page of checkpoints; when there are no more, one that never comes keeps us from asking again. */
async function fetchCheckpoints(it: Walk, fromSize: number): Promise<void> {
  it.ahead = (await it.ports.auditLog.checkpoints(fromSize, pageCheckpoints)).filter(
    ({ size }) => size <= it.head.size,
  );
  if (it.ahead.length === 0) it.ahead = [{ size: Number.POSITIVE_INFINITY, note: "", at: it.ports.clock.now() }];
}

function judge(it: Walk, stored: StoredCheckpoint): AuditFault | undefined {
  const signed = readCheckpointNote(stored.note);
  if ("malformed" in signed) return fault("CHECKPOINT_MALFORMED", stored.size, "a checkpoint", signed.malformed);
  if (signed.checkpoint.size !== stored.size) {
    const { size } = signed.checkpoint;
    return fault("CHECKPOINT_MALFORMED", stored.size, `a checkpoint of size ${stored.size}`, `one of size ${size}`);
  }
  const trusted = levelOf(it, signed);
  if ("fault" in trusted) return trusted.fault;
  it.checkpoints += 1;
  it.trusted?.(stored);
  it.last = { signed, root: signed.checkpoint.root, ring: it.ring };
  if (trusted.level !== "L0") it.covered.L1 = stored.size;
  if (trusted.level === "L2") it.covered.L2 = stored.size;
  return undefined;
}

/** What was revoked after the last checkpoint was signed counts against it. */
function outOfForceSince({ last, ring, ports }: Walk): AuditFault | undefined {
  if (last === undefined || last.ring === ring) return undefined;
  const { origin, verifySignature, clock } = ports;
  const trusted = judgeCheckpoint(last.signed, last.root, { ring, origin, verifySignature, nowUs: clock.now() });
  return "fault" in trusted ? trusted.fault : undefined;
}

/** Witnesses answer later than we sign: a checkpoint without enough of them is still one of ours. */
function levelOf(it: Walk, signed: CheckpointNote): { readonly level: TrustLevel } | { readonly fault: AuditFault } {
  const { origin, policy, verifySignature, clock } = it.ports;
  const trust = { ring: it.ring, origin, verifySignature, nowUs: clock.now() };
  const root = it.frontier.root();
  if (policy !== undefined && it.ring.terms.length > 0) {
    const trusted = judgeCheckpoint(signed, root, { ...trust, policy });
    if (!("fault" in trusted) || trusted.fault.code !== "WITNESSES_MISSING") return trusted;
  }
  return judgeCheckpoint(signed, root, trust);
}

function reportOf({ from, head, covered, checkpoints }: Walk): VerifyReport {
  const level = covered.L2 > from ? "L2" : covered.L1 > from ? "L1" : "L0";
  const coveredSize = level === "L2" ? covered.L2 : level === "L1" ? covered.L1 : 0;
  const unanchoredTail = head.size - Math.max(coveredSize, from);
  return { from, entries: head.size - from, level, coveredSize, gaps: 0, unanchoredTail, checkpoints };
}

function truncated(size: number, expected: number): { readonly fault: AuditFault } {
  return { fault: fault("TRUNCATED", size, `${expected} entries`, `${size}`) };
}

function fault(code: AuditFault["code"], sequence: number, expected: string, actual: string): AuditFault {
  return { code, sequence, expected, actual };
}
