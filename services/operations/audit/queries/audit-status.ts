// The audit log's state as its status tells it: how far it reaches, who signs it, who else vouches for it, and what is wrong.
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { Policy } from "../../../../core/audit/policy.ts";
import type { Anchoring, AnchorState } from "../anchors/anchoring.ts";
import type { Witnessing } from "../anchors/witnessing.ts";
import { sentenceOf } from "../checking/finding-sentence.ts";
import type { Findings } from "../checking/findings.ts";
import type { LastVerified, SelfVerification } from "../checking/self-verification.ts";
import type { KeyKeeper } from "../keys/key-rotation.ts";
import type { KeptTerm } from "../keys/signing-key.ts";
import type { SequencerState } from "../log/append-request.ts";
import type { Checkpoints } from "../log/checkpoints.ts";
import type { Sequencer } from "../log/sequencer.ts";

export interface AuditStatus {
  readonly state: SequencerState;
  /** 1 for the first log of all, one more for each that followed. */
  readonly number: number;
  readonly origin: string;
  readonly size: number;
  readonly signedSize: number;
  /**
   * "operator-trusted" until enough witnesses have cosigned, then "witnessed by k of n" and how far; "not witnessed" while one of them
   * contradicts the log. Anchors are named behind it.
   */
  readonly trust: string;
  /** 0 while a witness contradicts the log. */
  readonly witnessedSize: number;
  /** How many must cosign, and who counts, as vkeys; 0 and none without witnesses. */
  readonly witnessesNeeded: number;
  readonly witnesses: readonly string[];
  /** One sentence for each that did not cosign the last checkpoint that it was shown. */
  readonly witnessComplaints: readonly string[];
  /** The keys that sign, as vkeys. */
  readonly keys: readonly string[];
  /** Every key that the log ever signed with, the oldest first. */
  readonly keyTerms: readonly KeptTerm[];
  readonly anchors: readonly AnchorState[];
  readonly waiting: number;
  readonly lastVerified: LastVerified | undefined;
  /** What is wrong when the log is not what was signed, or not what a witness has cosigned. */
  readonly broken: string | undefined;
  /** One sentence when something is wrong. */
  readonly complaint: string | undefined;
}

export interface StatusParts {
  readonly number: number;
  readonly origin: string;
  readonly policy: Policy | undefined;
  /** Why the log takes no entries. */
  readonly fault: AuditFault | undefined;
  /** Why nothing is signed, though the log is whole. */
  readonly unsigned: string | undefined;
  readonly sequencer: Sequencer;
  readonly checkpoints: Checkpoints;
  readonly keeper: KeyKeeper;
  readonly anchoring: Anchoring;
  readonly witnessing: Witnessing;
  readonly verification: SelfVerification;
  readonly findings: Findings;
}

export function statusOf(parts: StatusParts): AuditStatus {
  const { number, origin, policy, sequencer, checkpoints, keeper, anchoring, witnessing, verification } = parts;
  const broken = brokenOf(parts);
  const witnessedSize = witnessing.witnessedSize();
  const keyTerms = keeper.terms();
  const anchors = anchoring.states();
  const current = keyTerms.at(-1)?.key.vkey;
  return {
    state: sequencer.state(),
    number,
    origin,
    size: sequencer.head().size,
    signedSize: checkpoints.signedSize(),
    trust: trustOf(parts, witnessedSize, anchors.length),
    witnessedSize,
    witnessesNeeded: policy?.k ?? 0,
    witnesses: policy?.witnesses.map(({ vkey }) => vkey) ?? [],
    witnessComplaints: witnessing.complaints(),
    keys: current === undefined ? [] : [current],
    keyTerms,
    anchors,
    waiting: sequencer.waiting(),
    lastVerified: verification.last(),
    broken,
    complaint: broken ?? parts.unsigned ?? checkpoints.complaint(),
  };
}

/** What verifications and witnesses found; both are told when there are both. */
export function brokenOf({ fault, findings }: Pick<StatusParts, "fault" | "findings">): string | undefined {
  const found = fault ?? findings.broken();
  const sentences = [
    ...(found === undefined ? [] : [sentenceOf(found)]),
    ...findings.contradictions().map(({ sentence }) => sentence),
  ];
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

/** An anchor makes nobody else vouch: whoever runs the platform and the anchors can still write another history into both. */
function trustOf({ policy, findings }: StatusParts, witnessedSize: number, anchors: number): string {
  const against = findings.contradictions().length;
  const by = policy === undefined ? "operator-trusted" : witnessesOf(policy, witnessedSize, against);
  return anchors === 0 ? by : `${by}, anchored in ${anchors} ${anchors === 1 ? "place" : "places"}`;
}

/** A witness that is configured and has not cosigned vouches for nothing. */
function witnessesOf({ k, witnesses }: Policy, witnessedSize: number, against: number): string {
  const all = witnesses.length;
  if (against > 0) {
    return `not witnessed: ${against} of ${all} witnesses ${against === 1 ? "knows" : "know"} another history of this log`;
  }
  const needed = `${k} of ${all}`;
  if (witnessedSize > 0) return `witnessed by ${needed} up to entry ${witnessedSize - 1}`;
  return `operator-trusted: ${needed} witnesses needed, ${k === 1 ? "none has" : "fewer have"} cosigned`;
}
