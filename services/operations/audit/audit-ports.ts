// What the audit log of operations is handed, and what it is once it runs.
import type { AuditFault } from "../../../core/audit/fault.ts";
import type { Anchor } from "../../../ports/anchors.ts";
import type { AuditLog } from "../../../ports/audit-log.ts";
import type { UnaryHandler } from "../../../ports/rpc.ts";
import type { Sha256OfBytes, Signing } from "../../../ports/signing.ts";
import type { Cipher, SubjectKeys } from "../../../ports/subject-keys.ts";
import type { Witnesses } from "../../../ports/witnesses.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Findings } from "./checking/findings.ts";
import type { FsckOptions, FsckReport } from "./checking/fsck.ts";
import type { RunState } from "./checking/runs.ts";
import type { Verdict } from "./checking/verify.ts";
import type { KeyChangeDone } from "./keys/key-rotation.ts";
import type { AppendRequest } from "./log/append-request.ts";
import type { Appended, Sequencer } from "./log/sequencer.ts";
import type { PersonalData } from "./personal/personal-data.ts";
import type { AuditStatus } from "./queries/audit-status.ts";
import type { Trail, TrailPage } from "./queries/trail.ts";

export interface AuditPorts
  extends Pick<
    ServicePorts,
    "clock" | "timers" | "random" | "crash" | "log" | "metrics" | "store" | "bus" | "secrets"
  > {
  readonly auditLog: AuditLog;
  readonly signing: Signing;
  readonly sha256OfBytes: Sha256OfBytes;
  /** Undefined when none is configured: then whoever runs the platform must be trusted, and the status says so. */
  readonly witnesses: Witnesses | undefined;
  /** Where checkpoints are kept a second time. */
  readonly anchors: readonly Anchor[];
  readonly subjectKeys: SubjectKeys;
  readonly cipher: Cipher;
  readonly auditSettings: AuditSettings;
}

export interface RunningAudit {
  /** Resolves when the entry is durable. The same event id again resolves with where it stands; with another content it is refused. */
  append(request: AppendRequest): Promise<Appended>;
  trail(subjectId: string, page?: TrailPage): Promise<Trail | { readonly fault: AuditFault }>;
  /** 0 is the log that is written. */
  verify(
    from?: number,
    signal?: AbortSignal,
    progress?: (nextSequence: number) => void,
    log?: number,
  ): Promise<Verdict>;
  fsck(options?: FsckOptions): Promise<FsckReport>;
  /** Verifies now, as the schedule does: the result is an entry. */
  verifySelf(): Promise<FsckReport>;
  /** The same two for as long as they take; `watchRun` tells how far they are. */
  beginVerification(from: number, log?: number, by?: RunningAudit["verify"]): Promise<RunState<RunResult>>;
  beginInspection(rebuild: boolean): Promise<RunState<RunResult>>;
  watchRun(runId: string): Promise<RunState<RunResult>>;
  /** Signs what is not signed yet. */
  flush(): Promise<void>;
  /** A new key that signs; its handover is stored when it resolves. */
  rotateKey(actor: string): Promise<KeyChangeDone>;
  revokeKey(actor: string, keyId: string): Promise<KeyChangeDone>;
  /** Destroys the key of what is sealed about a person; the sequences of the entries that say so. */
  readonly erase: PersonalData["erase"];
  readonly unseal: PersonalData["unseal"];
  status(): AuditStatus;
  /** Whether it takes entries, what it made durable and under which number, and what verifications found. */
  readonly keeping: Pick<Sequencer, "state" | "head" | "writerEpoch"> & Pick<Findings, "broken">;
  /** What witnesses say against the log, in sentences. */
  contradictions(): readonly string[];
  /** AppendAudit, GetAuditTrail and VerifyAudit of the service Operations. */
  readonly rpcHandlers: Readonly<Record<string, UnaryHandler>>;
  /** Finishes what is in hand, signs, lets go. */
  stop(): Promise<void>;
}

export interface AuditSettings {
  /** Where the key is kept: `secret/<prefix>/audit/signing-key`. */
  readonly signingKeyPath: string;
  /** Appends that wait; one more is refused. */
  readonly queueMax?: number;
  readonly verifyFirstAfterMs?: number;
  readonly verifyEveryMs?: number;
  /** How far the log may be behind; it is reported on several times within that. */
  readonly behindMaxMs?: number;
}

export type RunResult =
  | { readonly kind: "verified"; readonly verdict: Verdict }
  | { readonly kind: "inspected"; readonly report: FsckReport };
