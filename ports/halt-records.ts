// The part of a unit of work about what stands around halts: which event reported each, which steps after its latch were proven, and the requests to
// lift every halt. The halts themselves are `unit.risk`'s; whoever writes here holds them locked (`unit.risk.lockHalts`), so that nothing
// here needs a lock of its own.
import type { Instant } from "../contracts/src/instant.ts";
import type { HaltStepName, ResumeEnded } from "../contracts/src/records/halt.ts";

/** Who reported a halt: the risk engine that latched it, or the halt manager that has it. */
export type HaltPublisher = "riskengine" | "operations";

export interface ReportedHalt {
  readonly haltId: string;
  readonly publisher: HaltPublisher;
  /** Of the event that reported it. */
  readonly eventId: string;
}

/** A step after a latch that was proven, once and for all. */
export interface ProvenStep {
  readonly haltId: string;
  readonly step: HaltStepName;
  /** What was seen. */
  readonly detail: string;
  readonly at: Instant;
}

/** One operator's request to lift every halt, which waits for another one's signature. */
export interface StoredResume {
  readonly requestId: string;
  /** Exactly those that were in force, in the order of their epochs. */
  readonly haltIds: readonly string[];
  readonly epoch: number;
  readonly reason: string;
  readonly rebase: boolean;
  /** As records name them: `operator:<name>`. */
  readonly requestedBy: string;
  /** The person itself, the same under every session. */
  readonly subject: string;
  readonly at: Instant;
  readonly expiresAt: Instant;
  readonly ended?: { readonly outcome: ResumeEnded["outcome"]; readonly by: string; readonly at: Instant };
}

export interface HaltRecords {
  /** False when that publisher had reported it before; then the first one stays. */
  tell(reported: ReportedHalt): Promise<boolean>;
  /** Who reported these. */
  reported(haltIds: readonly string[]): Promise<readonly ReportedHalt[]>;
  /** False when it was proven before; then the first proof stays. */
  prove(step: ProvenStep): Promise<boolean>;
  /** What was proven of these, in the order of their proofs. */
  proven(haltIds: readonly string[]): Promise<readonly ProvenStep[]>;
  /** Adds it, or puts it in place of the one with its id. */
  putResume(resume: StoredResume): Promise<void>;
  resume(requestId: string): Promise<StoredResume | undefined>;
  /** The one that has not ended; there is one at most. */
  pendingResume(): Promise<StoredResume | undefined>;
}
