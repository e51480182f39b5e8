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
   * those that cosigned within the time. A witness that refuses or is away gives none; that is told, not thrown.
   */
  submit(checkpoint: WitnessedCheckpoint): Promise<WitnessAnswers>;
}

export interface WitnessAnswers {
  readonly lines: readonly string[];
  /** One sentence for each that did not cosign. */
  readonly complaints: readonly string[];
}
