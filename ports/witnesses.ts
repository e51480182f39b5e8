// The witnesses of the audit log: programs of other people that keep the largest checkpoint they saw and cosign only what continues it. Which
// there are, and how many must agree, is configuration; nobody here believes what they say without checking it against that policy.

export interface WitnessedCheckpoint {
  readonly origin: string;
  readonly size: number;
  /** The signed note. */
  readonly note: string;
  /** The proof that the tree of this checkpoint begins with that of an older size: hashes in base64, in the order of the proof. */
  proofFrom(oldSize: number): Promise<readonly string[]>;
}

export interface Witnesses {
  /** `k of <vkey>,<vkey>`: who counts, and how many must have cosigned. */
  readonly policy: string;
  /**
   * Shows the checkpoint to every witness, each with the proof from where it stands, and gives the signature lines (with their line feeds) of
   * those that cosigned within the time. A witness that refuses or is away gives none; that is reported, not thrown.
   */
  submit(checkpoint: WitnessedCheckpoint): Promise<WitnessAnswers>;
}

export interface WitnessAnswers {
  readonly lines: readonly string[];
  /** One sentence for each that did not cosign. */
  readonly complaints: readonly string[];
  /** Those among them that cosigned something which this checkpoint does not continue. */
  readonly contradictions: readonly WitnessContradiction[];
}

/**
 * What a witness knows of the log and the checkpoint that it was shown does not: `larger`, a larger size than the checkpoint has; `other root`,
 * another checkpoint of that size; `not continued`, a smaller one from which no proof leads to it. It is the witness's word and no proof.
 */
export interface WitnessContradiction {
  readonly url: string;
  readonly vkey: string;
  readonly kind: "larger" | "other root" | "not continued";
  /** The size that the witness has cosigned. */
  readonly witnessSize: number;
}
