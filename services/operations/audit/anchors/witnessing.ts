// Shows every checkpoint that was signed to the witnesses, and once at the start the newest that is stored; keeps their cosignatures, and hears what
// they say against the log. Nothing of the log waits for them.
//
//  1. Cosignatures are believed when they verify under the policy; a checkpoint gains them later and is otherwise as it was.
//  2. A proof that leaves here holds for what we have: so a witness that refuses it has cosigned something else, and it is not our tiles that are wrong.
//  3. A witness with a larger size than a checkpoint's is compared with what is stored, not with what this process believes: another process
//     may have gone on with the log.
import { Defect, Fault, messageOf } from "../../../../contracts/src/fault.ts";
import { base64OfHash } from "../../../../core/audit/base64.ts";
import { readCheckpointNote } from "../../../../core/audit/checkpoint.ts";
import { judgeCosignature } from "../../../../core/audit/cosignature.ts";
import type { Hash } from "../../../../core/audit/hash.ts";
import type { TreeHash } from "../../../../core/audit/merkle.ts";
import { countCosignatures, type Policy } from "../../../../core/audit/policy.ts";
import { verifyConsistency } from "../../../../core/audit/proof.ts";
import { type Note, readSignatureLine, type VerifySignature } from "../../../../core/audit/signed-note.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { Log } from "../../../../ports/log.ts";
import type { Timers } from "../../../../ports/timers.ts";
import type { WitnessContradiction, Witnesses } from "../../../../ports/witnesses.ts";
import { endsWithin } from "../../../shared/waiting.ts";
import type { Contradiction, Findings } from "../checking/findings.ts";
import type { VerifyReport } from "../checking/verify.ts";
import type { SignedCheckpoint } from "../log/checkpoints.ts";
import { readConsistencyProof, readGrowingTree } from "../log/growing-tree.ts";

export interface Witnessing {
  /** A checkpoint is signed and stored. */
  signed(checkpoint: SignedCheckpoint): void;
  /** A verification counts the stored cosignatures as well. */
  verified(report: Pick<VerifyReport, "level" | "coveredSize">): void;
  /** The largest size that enough witnesses have cosigned; 0 while one of them contradicts the log. */
  witnessedSize(): number;
  /** Why witnesses did not cosign the last checkpoint that they were shown. */
  complaints(): readonly string[];
  /** Waits for what is being asked, for at most so long. */
  stop(patienceMs: number): Promise<void>;
}

interface WitnessingOptions {
  readonly auditLog: Pick<AuditLog, "readTiles" | "putCheckpoint" | "head">;
  readonly witnesses: Witnesses | undefined;
  readonly policy: Policy | undefined;
  readonly origin: string;
  readonly tree: TreeHash;
  /** What enough of them had cosigned at the start. */
  readonly witnessedBefore: number;
  readonly findings: Pick<Findings, "contradicted" | "agreed" | "contradictions">;
  readonly writerEpoch: () => number;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly verifySignature: VerifySignature;
  readonly onDefect: (defect: Defect) => void;
}

export function startWitnessing(options: WitnessingOptions): Witnessing {
  const { auditLog, witnesses, policy, tree, findings, clock, log, verifySignature } = options;
  let witnessed = options.witnessedBefore;
  let complaints: readonly string[] = [];
  let wanted: SignedCheckpoint | undefined;
  let running: Promise<void> | undefined;

  /** One at a time, the newest next: a witness wants the largest, not each. */
  async function run(asked: Witnesses): Promise<void> {
    for (let next = wanted; next !== undefined; next = wanted) {
      wanted = undefined;
      try {
        await show(asked, next);
      } catch (thrown) {
        if (thrown instanceof Defect) options.onDefect(thrown);
        log.warn("a checkpoint was not cosigned", { size: next.size, error: messageOf(thrown) });
      }
    }
  }

  async function show(asked: Witnesses, { size, note: text }: SignedCheckpoint): Promise<void> {
    const signed = readCheckpointNote(text);
    if ("malformed" in signed) throw new Defect(`our own checkpoint is malformed: ${signed.malformed}`);
    const proofFrom = (oldSize: number) => ownProof(oldSize, { size, root: signed.checkpoint.root });
    const answers = await asked.submit({ origin: options.origin, size, note: text, proofFrom });
    complaints = answers.complaints;
    for (const sentence of complaints) log.warn("a witness did not cosign", { size, sentence });
    try {
      for (const each of answers.contradictions) {
        const standing = await standsAgainst(each, size);
        if (standing !== undefined) findings.contradicted(standing);
      }
    } finally {
      await keep({ size, note: text }, signed.note, answers.lines);
    }
  }

  /** The proof from our tiles, if it holds for our own roots. */
  async function ownProof(
    oldSize: number,
    { size, root }: { readonly size: number; readonly root: Hash },
  ): Promise<readonly string[]> {
    const first = Math.min(oldSize, size);
    const proof = await readConsistencyProof(auditLog, tree, first, size);
    const firstRoot = (await readGrowingTree(auditLog, tree, first))?.root();
    const isOurs =
      proof !== undefined &&
      firstRoot !== undefined &&
      verifyConsistency(tree, { first, firstRoot, second: size, secondRoot: root, proof });
    if (isOurs) return proof.map(base64OfHash);
    const rebuild = "`ctl operations audit fsck --rebuild` writes them anew";
    throw new Fault("NOT_FOUND", `the stored tiles do not prove size ${size} from ${first}; ${rebuild}`, {
      retry: "later",
    });
  }

  async function standsAgainst(reported: WitnessContradiction, size: number): Promise<Contradiction | undefined> {
    const logSize = reported.kind === "larger" ? (await auditLog.head()).size : size;
    return reported.kind === "larger" && reported.witnessSize <= logSize
      ? undefined
      : contradictionOf(reported, logSize);
  }

  async function keep({ size, note }: SignedCheckpoint, parsed: Note, lines: readonly string[]): Promise<void> {
    if (policy === undefined) return;
    const given = validLines(parsed, lines, policy);
    for (const vkey of given.keys()) findings.agreed(vkey);
    // A witness that had cosigned this one before is not written down twice.
    const had = new Set(cosigners(parsed, policy));
    const more = [...given].filter(([vkey]) => !had.has(vkey));
    if (more.length > 0) {
      const gained = note + more.map(([, line]) => line).join("");
      await auditLog.putCheckpoint(options.writerEpoch(), { size, note: gained, at: clock.now() });
    }
    if (had.size + more.length >= policy.k) witnessed = Math.max(witnessed, size);
  }

  function cosigners(note: Note, by: Policy): readonly string[] {
    const counted = countCosignatures(note, by, verifySignature, { nowUs: clock.now() });
    return counted.kind === "counted" ? counted.cosignedBy.map(({ vkey }) => vkey) : [];
  }

  /** By vkey, those of the policy's witnesses that verify now: a note with a bad line would be refused as a whole. */
  function validLines(note: Note, lines: readonly string[], by: Policy): ReadonlyMap<string, string> {
    const good = new Map<string, string>();
    for (const line of lines) {
      const read = readSignatureLine(line.endsWith("\n") ? line.slice(0, -1) : line);
      for (const witness of by.witnesses) {
        if (read === undefined || witness.name !== read.name || witness.id !== read.keyId) continue;
        const { kind } = judgeCosignature(note.text, read, witness, verifySignature, { nowUs: clock.now() });
        if (kind === "valid") good.set(witness.vkey, `${line.trimEnd()}\n`);
      }
    }
    return good;
  }

  return {
    signed(checkpoint) {
      if (witnesses === undefined) return;
      wanted = checkpoint;
      running ??= run(witnesses).finally(() => {
        running = undefined;
      });
    },
    verified({ level, coveredSize }) {
      if (level === "L2") witnessed = Math.max(witnessed, coveredSize);
    },
    witnessedSize: () => (findings.contradictions().length > 0 ? 0 : witnessed),
    complaints: () => complaints,
    async stop(patienceMs) {
      if (running !== undefined) await endsWithin(options.timers, running, patienceMs);
    },
  };
}

function contradictionOf({ url, vkey, kind, witnessSize }: WitnessContradiction, logSize: number): Contradiction {
  const facts = { witness: url, kind, witness_size: witnessSize, log_size: logSize };
  return { vkey, sentence: `${sentenceFor(kind, url, witnessSize, logSize)} ${whatToDo}`, facts };
}

function sentenceFor(kind: WitnessContradiction["kind"], url: string, witnessSize: number, logSize: number): string {
  const knows = `the witness at ${url} has cosigned`;
  if (kind === "larger") {
    return `Rollback suspected: ${knows} this log with ${witnessSize} entries, and it has ${logSize}.`;
  }
  if (kind === "other root") {
    return `Rewriting suspected: ${knows} another checkpoint of size ${witnessSize} than this log's.`;
  }
  return `Rewriting suspected: ${knows} this log with ${witnessSize} entries, and its ${logSize} do not begin with those.`;
}

const whatToDo =
  "Keep the database as it is and compare it with a backup, the anchors and what the witness kept; it stands until that witness cosigns again.";
