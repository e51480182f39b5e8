// The audit log of a running platform, put together: the pen and the sequencer, the checkpoints, the intake from the bus, the self-verification, and
// what may be asked about it all. One process has it at a time.
import { type Defect, Fault, messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { canonicalJson, ValueRefused } from "../../../core/audit/canonical-json.ts";
import { readEntry } from "../../../core/audit/entry.ts";
import type { AuditFault } from "../../../core/audit/fault.ts";
import { type Policy, readPolicy } from "../../../core/audit/policy.ts";
import type { AuditLog } from "../../../ports/audit-log.ts";
import type { Subscription } from "../../../ports/bus.ts";
import type { UnaryHandler } from "../../../ports/rpc.ts";
import type { Sha256OfBytes, Signing } from "../../../ports/signing.ts";
import type { Witnesses } from "../../../ports/witnesses.ts";
import type { ServicePorts } from "../../service.ts";
import { createAuditAlarms } from "./alarms.ts";
import { auditHandlers } from "./audit-rpc.ts";
import { type Checkpoints, createCheckpoints } from "./checkpoints.ts";
import { type FsckOptions, type FsckReport, fsckLog } from "./fsck.ts";
import { startIntake } from "./intake.ts";
import { openLog } from "./open-log.ts";
import { invalid, refuseReserved, subjectPrevious } from "./reserved.ts";
import { restore } from "./restore.ts";
import { type SelfVerification, sentenceOf, startSelfVerification } from "./self-verification.ts";
import { type Appended, type AuditWish, createSequencer, type Sequencer, type SequencerState } from "./sequencer.ts";
import { readTrail, type Trail } from "./trail.ts";
import { type Verdict, type VerifyPorts, verifyLog } from "./verify.ts";

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
  readonly auditSettings: AuditSettings;
}

export interface AuditSettings {
  /** Where the key is kept: `secret/<prefix>/audit/signing-key`. */
  readonly signingKeyPath: string;
  /** Appends that wait; one more is refused. */
  readonly queueMax?: number;
  readonly verifyFirstAfterMs?: number;
  readonly verifyEveryMs?: number;
}

export interface AuditStatus {
  readonly state: SequencerState;
  readonly origin: string;
  readonly size: number;
  readonly signedSize: number;
  /** "operator-trusted" when no witness is configured, else "witnessed by k of n". */
  readonly trust: string;
  readonly witnessedSize: number;
  /** How many must cosign, and who counts, as vkeys; 0 and none without witnesses. */
  readonly witnessesNeeded: number;
  readonly witnesses: readonly string[];
  /** The keys that sign, as vkeys. */
  readonly keys: readonly string[];
  readonly waiting: number;
  readonly lastVerification: FsckReport | undefined;
  readonly lastVerifiedAt: Instant | undefined;
  /** One sentence when something is wrong. */
  readonly complaint: string | undefined;
}

export interface RunningAudit {
  /** Resolves when the entry is durable. The same event id again resolves with where it stands; with another content it is refused. */
  append(wish: AuditWish): Promise<Appended>;
  trail(subjectId: string): Promise<Trail | { readonly fault: AuditFault }>;
  verify(from?: number, signal?: AbortSignal): Promise<Verdict>;
  fsck(options?: FsckOptions): Promise<FsckReport>;
  /** Verifies now, as the schedule does: the result is an entry. */
  verifySelf(): Promise<FsckReport>;
  /** Signs what is not signed yet. */
  flush(): Promise<void>;
  status(): AuditStatus;
  /** AppendAudit, GetAuditTrail and VerifyAudit of the service Operations. */
  readonly rpcHandlers: Readonly<Record<string, UnaryHandler>>;
  /** Finishes what is in hand, signs, lets go. */
  stop(): Promise<void>;
}

/** How long each part may take to stop. */
const patienceMs = 2_000;

export async function startAudit(ports: AuditPorts): Promise<RunningAudit> {
  const { auditLog, clock, timers, log, random, signing, sha256OfBytes: sha256, auditSettings } = ports;
  const incarnation = random.uuid();
  const policy = policyOf(ports);
  const alarms = createAuditAlarms(ports);
  const path = auditSettings.signingKeyPath;
  const opened = await openLog({ ...ports, sha256, incarnation, path });
  const { origin, key } = opened;
  const verifySignature = signing.verify;
  const restored = await restore({ auditLog, sha256, verifySignature, origin, key: key?.key }, opened.head);
  const fault = opened.fault ?? restored.fault;
  const onDefect = (defect: Defect): void => ports.crash.die(defect);
  const onBroken = (sentence: string): void => alarms.raise("AUDIT_CHAIN_BROKEN", sentence);
  const sizes = ports.metrics.gauge("portcullis_audit_entries", "Entries of the audit log.");
  let intake: Subscription | undefined;
  let checkpoints: Checkpoints | undefined;

  const sequencer = createSequencer({
    ...{ auditLog, clock, timers, log, sha256, incarnation, pen: opened.pen, head: opened.head, onDefect },
    queueMax: auditSettings.queueMax,
    onDurable(entries, head) {
      checkpoints?.grown(entries);
      sizes.set(head.size);
    },
    onTakenOver(cause) {
      alarms.raise("STATE_MISMATCH", `Another process writes the audit log; this one has ended: ${cause.message}`);
      // Whoever has the pen now must get the events as well.
      intake?.close().catch((thrown: unknown) => log.warn("the intake did not close", { error: messageOf(thrown) }));
    },
  });
  if (fault !== undefined) {
    sequencer.standStill(`The audit log takes no entries, because it is not what was signed: ${sentenceOf(fault)}`);
    onBroken(sentenceOf(fault));
  } else if (key === undefined) onBroken(noKey(path));
  checkpoints = createCheckpoints({
    ...{ auditLog, clock, timers, log, policy, verifySignature, onDefect },
    ...{ tree: restored.tree, growing: restored.growing, last: restored.last, witnesses: ports.witnesses },
    key: fault === undefined ? key : undefined,
    pen: sequencer.pen,
    onTakenOver: sequencer.takenOver,
    onInconsistent: onBroken,
  });
  // What was not signed when the last process ended is signed now.
  checkpoints.grown([]);
  const trustedKeys = key === undefined ? [] : [key.key];
  const verifyPorts: VerifyPorts = { auditLog, clock, sha256, verifySignature, origin, trustedKeys, policy };
  const { verifyFirstAfterMs: firstAfterMs, verifyEveryMs: everyMs } = auditSettings;
  const verification = startSelfVerification({
    ...{ clock, timers, random, log, alarms, origin, onDefect, append: sequencer.append, firstAfterMs, everyMs },
    fsck: (signal) => fsckLog(verifyPorts, { signal }),
  });
  intake = await startIntake({ bus: ports.bus, sha256, append: sequencer.append });
  const subscription = intake;
  return running({ ports, origin, policy, fault, sequencer, checkpoints, verifyPorts, verification }, async () => {
    await subscription.close();
    await verification.stop();
    await sequencer.stop(patienceMs);
    await checkpoints.stop(patienceMs);
    await alarms.stop();
  });
}

interface Parts {
  readonly ports: AuditPorts;
  readonly origin: string;
  readonly policy: Policy | undefined;
  readonly fault: AuditFault | undefined;
  readonly sequencer: Sequencer;
  readonly checkpoints: Checkpoints;
  readonly verifyPorts: VerifyPorts;
  readonly verification: SelfVerification;
}

function running(parts: Parts, stop: () => Promise<void>): RunningAudit {
  const { ports, sequencer, checkpoints, verifyPorts, verification } = parts;
  const { auditLog, sha256OfBytes: sha256 } = ports;
  const asked: Omit<RunningAudit, "rpcHandlers"> = {
    async append(wish) {
      refuseReserved(wish);
      const appended = await sequencer.append(wish);
      if (appended.entry === undefined) await mustBeSame(auditLog, wish, appended.sequence);
      return appended;
    },
    trail: (subjectId) => readTrail({ auditLog, sha256, newestOf: sequencer.newestOf }, subjectId),
    verify: (from, signal) =>
      verifyLog(verifyPorts, { ...(from === undefined ? {} : { from }), ...(signal === undefined ? {} : { signal }) }),
    fsck: (options) => fsckLog(verifyPorts, options),
    verifySelf: verification.run,
    flush: checkpoints.flush,
    status: () => statusOf(parts),
    stop,
  };
  return { ...asked, rpcHandlers: auditHandlers({ ...asked, auditLog, random: ports.random }) };
}

function statusOf({ origin, policy, fault, sequencer, checkpoints, verifyPorts, verification }: Parts): AuditStatus {
  const last = verification.last();
  const broken = fault ?? last?.fault;
  return {
    state: sequencer.state(),
    origin,
    size: sequencer.head().size,
    signedSize: checkpoints.signedSize(),
    trust: policy === undefined ? "operator-trusted" : `witnessed by ${policy.k} of ${policy.witnesses.length}`,
    witnessedSize: checkpoints.witnessedSize(),
    witnessesNeeded: policy?.k ?? 0,
    witnesses: policy?.witnesses.map(({ vkey }) => vkey) ?? [],
    keys: verifyPorts.trustedKeys.map(({ vkey }) => vkey),
    waiting: sequencer.waiting(),
    lastVerification: last,
    lastVerifiedAt: verification.lastAt(),
    complaint: broken === undefined ? checkpoints.complaint() : sentenceOf(broken),
  };
}

/** An event id that stands in the log already must stand there with this content. */
async function mustBeSame(auditLog: AuditLog, wish: AuditWish, sequence: number): Promise<void> {
  const [row] = await auditLog.read(sequence, 1);
  const entry = row === undefined ? undefined : readEntry(row.text);
  const { [subjectPrevious]: _link, ...data } = entry?.data ?? {};
  const { eventId: _id, at, ...given } = wish;
  const wanted = { ...given, data: at === undefined ? wish.data : { ...wish.data, at: format(at) } };
  const found = { actor: entry?.actor, action: entry?.action, subjectId: entry?.subject_id, data };
  if (entry !== undefined && isDeepEqual(wanted, found)) return;
  throw invalid(`The event id stands in entry ${sequence} already, with another content.`);
}

/** Equal as the encoder writes them; what it refuses is equal to nothing. */
function isDeepEqual(one: unknown, other: unknown): boolean {
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch (thrown) {
    if (thrown instanceof ValueRefused) return false;
    throw thrown;
  }
}

function policyOf({ witnesses, sha256OfBytes }: AuditPorts): Policy | undefined {
  if (witnesses === undefined) return undefined;
  const policy = readPolicy(witnesses.policy, sha256OfBytes);
  if (!("malformed" in policy)) return policy;
  throw new Fault("CONFIGURATION_INVALID", `The policy of the witnesses is not one: ${policy.malformed}.`, {
    retry: "never",
  });
}

function noKey(path: string): string {
  return `The audit log is there and its key is not (${path}): entries are chained, and no checkpoint is signed.`;
}
