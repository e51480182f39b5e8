// Everybody outside the store who is shown the log's checkpoints, put together: the anchors that keep them and the witnesses that cosign them.
import type { Defect } from "../../../../contracts/src/fault.ts";
import type { Policy } from "../../../../core/audit/policy.ts";
import type { AuditPorts } from "../audit-ports.ts";
import type { AuditAlarms } from "../checking/alarms.ts";
import type { Findings } from "../checking/findings.ts";
import { type LogKey, ringOf } from "../keys/signing-key.ts";
import type { SignedCheckpoint } from "../log/checkpoints.ts";
import type { FoundLog } from "../log/start-look.ts";
import { type Anchoring, startAnchoring } from "./anchoring.ts";
import { storedWitnessed } from "./stored-cosignatures.ts";
import { startWitnessing, type Witnessing } from "./witnessing.ts";

interface Outside {
  readonly anchoring: Anchoring;
  readonly witnessing: Witnessing;
  /** A checkpoint was signed and stored. */
  signed(checkpoint: SignedCheckpoint): void;
  /** Shows what was there before this start. */
  catchUp(): void;
  stop(patienceMs: number): Promise<void>;
}

interface OutsideOptions {
  readonly origin: string;
  readonly policy: Policy | undefined;
  readonly begun: FoundLog;
  /** Undefined when nothing is signed. */
  readonly signer: LogKey | undefined;
  readonly alarms: AuditAlarms;
  readonly findings: Findings;
  readonly writerEpoch: () => number;
  readonly onDefect: (defect: Defect) => void;
}

export async function startOutside(ports: AuditPorts, options: OutsideOptions): Promise<Outside> {
  const { auditLog, clock, timers, log, signing, witnesses, anchors } = ports;
  const { origin, policy, begun, signer, alarms, findings, writerEpoch, onDefect } = options;
  const { fault, restored, unanchored } = begun;
  const anchoring = startAnchoring({ anchors, origin, known: begun.anchors, clock, timers, log, alarms, onDefect });
  const trust = { auditLog, clock, policy, origin, tree: restored.tree, verifySignature: signing.verify };
  const ring = signer === undefined ? undefined : ringOf(signer);
  const stored = fault === undefined ? await storedWitnessed({ ...trust, ring }) : { newest: undefined, size: 0 };
  const witnessing = startWitnessing({
    ...trust,
    timers,
    log,
    findings,
    onDefect,
    witnesses,
    writerEpoch,
    witnessedBefore: stored.size,
  });
  return {
    anchoring,
    witnessing,
    signed(checkpoint) {
      anchoring.signed(checkpoint);
      witnessing.signed(checkpoint);
    },
    catchUp() {
      if (fault === undefined) unanchored.forEach(anchoring.signed);
      // At every start, while everything else goes on: the witnesses may know more of this log than is left of it.
      if (stored.newest !== undefined) witnessing.signed(stored.newest);
    },
    async stop(patienceMs) {
      await Promise.all([anchoring.stop(patienceMs), witnessing.stop(patienceMs)]);
    },
  };
}
