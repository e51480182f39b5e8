// The audit log of a running platform, put together: the writer epoch and the sequencer, the checkpoints, the intake from the bus, the self-verification, and
// what may be asked about it all. One process has it at a time.
import { type Defect, Fault, messageOf } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { canonicalJson, ValueRefused } from "../../../core/audit/canonical/canonical-json.ts";
import { readEntry } from "../../../core/audit/entry.ts";
import type { AuditFault } from "../../../core/audit/fault.ts";
import { type Policy, readPolicy } from "../../../core/audit/policy.ts";
import type { AuditLog } from "../../../ports/audit-log.ts";
import type { Subscription } from "../../../ports/bus.ts";
import { type Parts, startParts } from "../../shared/parts.ts";
import { startOutside } from "./anchors/outside.ts";
import { type WitnessedChecks, witnessedChecks } from "./anchors/witnessed-checks.ts";
import type { AuditPorts, RunningAudit, RunResult } from "./audit-ports.ts";
import { createAuditAlarms } from "./checking/alarms.ts";
import { sentenceOf } from "./checking/finding-sentence.ts";
import { createFindings, type Findings } from "./checking/findings.ts";
import { createRuns, type Runs } from "./checking/runs.ts";
import { startSelfVerification } from "./checking/self-verification.ts";
import { startStanding } from "./checking/standing.ts";
import { startIntake } from "./intake/intake.ts";
import { createKeyKeeper, type SettledKey, settleKey } from "./keys/key-rotation.ts";
import { type KeyPorts, keyPathOf } from "./keys/signing-key.ts";
import type { AppendRequest } from "./log/append-request.ts";
import { type Checkpoints, createCheckpoints } from "./log/checkpoints.ts";
import { type OpenedLog, openLog } from "./log/open-log.ts";
import { refuseReserved, subjectPrevious } from "./log/reserved.ts";
import { createSequencer } from "./log/sequencer.ts";
import { type FoundLog, lookAtLog, verifyPortsOf } from "./log/start-look.ts";
import { createSubjectMemory, type SubjectMemory } from "./log/subject-memory.ts";
import { openPersonalData, type PersonalData } from "./personal/personal-data.ts";
import { auditHandlers } from "./queries/audit-rpc.ts";
import { brokenOf, type StatusParts, statusOf } from "./queries/audit-status.ts";
import { readTrail } from "./queries/trail.ts";

/** How long each part may take to stop. */
const patienceMs = 2_000;

export function startAudit(ports: AuditPorts): Promise<RunningAudit> {
  return startParts(ports, (started) => assemble(ports, started));
}

// tidy: long because it composes the services of the log in the order in which they need each other.
async function assemble(given: AuditPorts, started: Parts): Promise<Omit<RunningAudit, "stop">> {
  const { auditLog, clock, timers, log, random, sha256OfBytes: sha256 } = given;
  const incarnation = random.uuid();
  const policy = policyOf(given);
  const alarms = started.add("alarms", createAuditAlarms(given));
  const findings = createFindings(alarms);
  const opened = await openLog({ ...given, sha256, incarnation, path: given.auditSettings.signingKeyPath });
  const { origin, number } = opened;
  const ports = portsOf(given, number);
  const { auditSettings } = ports;
  const path = auditSettings.signingKeyPath;
  const keyPorts: KeyPorts = { ...ports, sha256, path };
  const begun = await lookAtLog(ports, opened);
  const { fault, restored } = begun;
  const settled = await settledOf(keyPorts, opened, begun);
  const unsigned = settled.complaint ?? (opened.key === undefined ? noKey(path) : undefined);
  const onDefect = (defect: Defect): void => ports.crash.die(defect);
  const onBroken = (sentence: string): void => alarms.raise("AUDIT_CHAIN_BROKEN", sentence);
  const sizes = ports.metrics.gauge("portcullis_audit_entries", "Entries of the audit log.");
  const subjects = subjectsOf(opened, begun, random.bytes(8));
  let hearing: Subscription | undefined;
  let checkpoints: Checkpoints | undefined;

  const sequencer = createSequencer({
    auditLog,
    clock,
    timers,
    log,
    sha256,
    incarnation,
    onDefect,
    writerEpoch: opened.writerEpoch,
    head: opened.head,
    queueMax: auditSettings.queueMax,
    hasNone: subjects.hasNone,
    onDurable(entries, head) {
      checkpoints?.grown(entries);
      for (const { subjectId, sequence } of entries) subjects.appended(subjectId, sequence);
      sizes.set(head.size);
    },
    onTakenOver(cause) {
      alarms.raise("AUDIT_TAKEN_OVER", `Another process writes the audit log; this one has ended: ${cause.message}`);
      // Whoever has the writer epoch now must get the events as well.
      hearing?.close().catch((thrown: unknown) => log.warn("the intake did not close", { error: messageOf(thrown) }));
    },
  });
  const still = fault === undefined ? undefined : standsStill(fault);
  if (fault !== undefined && still !== undefined) {
    sequencer.standStill(still);
    onBroken(sentenceOf(fault));
  } else if (unsigned !== undefined) onBroken(unsigned);
  const signer = fault === undefined ? settled.key : undefined;
  const { writerEpoch } = sequencer;
  const outside = await startOutside(ports, { origin, policy, begun, signer, alarms, findings, writerEpoch, onDefect });
  started.add("anchors and witnesses", { stop: () => outside.stop(patienceMs) });
  const { anchoring, witnessing } = outside;
  const keeper = createKeyKeeper({
    ports: keyPorts,
    key: settled.key ?? opened.key,
    complaint: still ?? unsigned,
    append: sequencer.append,
    checkpoints: () => made,
  });
  const { tree, growing, last } = restored;
  const made = createCheckpoints({
    auditLog,
    clock,
    timers,
    log,
    sha256,
    onDefect,
    tree,
    growing,
    last,
    key: signer,
    handover: settled.handover,
    onHandover: keeper.promote,
    onSigned: outside.signed,
    writerEpoch,
    onTakenOver: sequencer.takenOver,
    onInconsistent: onBroken,
  });
  checkpoints = made;
  // What the sequencer finishes is signed, and what is signed is shown outside.
  started.add("checkpoints", { stop: () => made.stop(patienceMs) });
  started.add("sequencer", { stop: () => sequencer.stop(patienceMs) });
  // What was not signed when the last process ended is signed now, and what was signed and not anchored is anchored.
  made.grown([]);
  outside.catchUp();
  const ringNow = () => restored.reportedRing ?? keeper.ring();
  const verifyPorts = verifyPortsOf(ports, policy, opened, ringNow, { subjects, writerEpoch });
  const checks = witnessedChecks(verifyPorts, findings, witnessing);
  const { verifyFirstAfterMs: firstAfterMs, verifyEveryMs: everyMs } = auditSettings;
  const verification = startSelfVerification({
    ports,
    findings,
    origin,
    append: sequencer.append,
    firstAfterMs,
    everyMs,
    before: begun.verifiedBefore,
    fsck: (signal: AbortSignal) => checks.fsck({ signal }),
  });
  started.add("self-verification", verification);
  const personal = openPersonalData({ ...ports, append: sequencer.append, signingKeyPath: path, onDefect });
  hearing = await startHearing(ports, started, { origin, fault, sequencer, findings, checks, personal });
  const runs = createRuns<RunResult>({ timers, random });
  started.add("runs", { stop: async () => runs.stop() });
  const parts = {
    number,
    origin,
    policy,
    fault,
    unsigned,
    sequencer,
    checkpoints: made,
    keeper,
    anchoring,
    verification,
    findings,
    witnessing,
  };
  return running({ ...parts, ports, checks, runs, personal, subjects });
}

/** Each log has a key of its own. */
function portsOf(given: AuditPorts, number: number): AuditPorts {
  const signingKeyPath = keyPathOf(given.auditSettings.signingKeyPath, number);
  return { ...given, auditSettings: { ...given.auditSettings, signingKeyPath } };
}

/** The intake, and the reports of how far it has come. */
async function startHearing(
  ports: AuditPorts,
  started: Parts,
  parts: Pick<StatusParts, "origin" | "fault" | "sequencer" | "findings"> &
    Pick<AuditParts, "checks"> & { readonly personal: Pick<PersonalData, "prepare"> },
): Promise<Subscription> {
  const { bus, auditLog, sha256OfBytes: sha256 } = ports;
  const { origin, sequencer, findings, checks } = parts;
  const standing = startStanding({
    ports: { ...ports, sha256, origin },
    sequencer,
    findings,
    broken: () => brokenOf(parts),
    fsck: (signal) => checks.fsck({ signal }),
    behindMaxMs: ports.auditSettings.behindMaxMs,
  });
  started.add("standing", standing);
  const { append } = sequencer;
  const intake = await startIntake({
    bus,
    auditLog,
    sha256,
    append,
    sealing: parts.personal,
    onProgress: standing.heard,
  });
  return started.add("intake", intake);
}

/** Of a log that has only entry 0 everything is known: that one is about the log itself. Of a longer one, after a whole verification. */
function subjectsOf({ head: { size }, origin }: OpenedLog, { fault }: FoundLog, secret: Uint8Array): SubjectMemory {
  const subjects = createSubjectMemory({ size, secret });
  if (size !== 1 || fault !== undefined) return subjects;
  const pass = subjects.beginPass();
  pass.entry(origin, 0);
  pass.complete();
  return subjects;
}

/** The key as the log and the secret together say it; of a log that stands still it is left as it is. */
async function settledOf(ports: KeyPorts, { key }: OpenedLog, { fault, restored }: FoundLog): Promise<SettledKey> {
  if (fault === undefined && key !== undefined) return settleKey(ports, key, restored);
  return { key, handover: undefined, complaint: undefined };
}

interface AuditParts extends StatusParts {
  readonly ports: AuditPorts;
  readonly checks: WitnessedChecks;
  readonly runs: Runs<RunResult>;
  readonly personal: PersonalData;
  readonly subjects: SubjectMemory;
}

function running(parts: AuditParts): Omit<RunningAudit, "stop"> {
  const { ports, sequencer, checkpoints, keeper, verification, runs, personal } = parts;
  const { auditLog, sha256OfBytes: sha256 } = ports;
  const { verify, fsck } = heardVerifications(parts.checks, parts.findings);
  const asked: Omit<RunningAudit, "rpcHandlers" | "stop"> = {
    async append(request) {
      refuseReserved(request);
      const appended = await sequencer.append(request);
      if (appended.entry === undefined) await mustBeSame(auditLog, request, appended.sequence);
      return appended;
    },
    trail: (subjectId, page) =>
      readTrail({ auditLog, sha256, newestOf: sequencer.newestOf, subjects: parts.subjects }, subjectId, page),
    verify,
    fsck,
    verifySelf: verification.run,
    async beginVerification(from, number = 0, by = verify) {
      const { size } = await auditLog.head();
      return runs.begin(size, async (signal, progress) => ({
        kind: "verified",
        verdict: await by(from, signal, progress, number),
      }));
    },
    async beginInspection(rebuild) {
      const { size } = await auditLog.head();
      return runs.begin(size, async (signal, progress) => ({
        kind: "inspected",
        report: await fsck({ rebuild, signal, progress }),
      }));
    },
    watchRun: runs.watch,
    flush: checkpoints.flush,
    rotateKey: keeper.rotate,
    revokeKey: keeper.revoke,
    erase: personal.erase,
    unseal: personal.unseal,
    status: () => statusOf(parts),
    keeping: { ...sequencer, broken: parts.findings.broken },
    contradictions: () => parts.findings.contradictions().map(({ sentence }) => sentence),
  };
  return { ...asked, rpcHandlers: auditHandlers({ ...asked, auditLog, random: ports.random }) };
}

/** What people ask for: what is found is everybody's business, not only that of who asked. */
function heardVerifications(checks: WitnessedChecks, findings: Findings): Pick<RunningAudit, "verify" | "fsck"> {
  return {
    async verify(from = 0, signal, progress) {
      const ended = findings.begin(from === 0 ? "entries" : "part");
      const verdict = await checks.verify({
        from,
        ...(signal === undefined ? {} : { signal }),
        paged: async (nextSequence) => {
          progress?.(nextSequence);
          return undefined;
        },
      });
      ended("fault" in verdict ? verdict.fault : undefined);
      return verdict;
    },
    async fsck(options) {
      const ended = findings.begin("everything");
      const report = await checks.fsck(options);
      ended(report.fault);
      return report;
    },
  };
}

/** An event id that stands in the log already must stand there with this content. */
async function mustBeSame(auditLog: AuditLog, request: AppendRequest, sequence: number): Promise<void> {
  const [row] = await auditLog.read(sequence, 1);
  const entry = row === undefined ? undefined : readEntry(row.text);
  const { [subjectPrevious]: _link, ...data } = entry?.data ?? {};
  const { eventId: _id, at, isPlain: _isPlain, ...given } = request;
  const wanted = { ...given, data: at === undefined ? request.data : { ...request.data, at: format(at) } };
  const found = { actor: entry?.actor, action: entry?.action, subjectId: entry?.subject_id, data };
  if (entry !== undefined && isDeepEqual(wanted, found)) return;
  throw new Fault("INVALID_ARGUMENT", `The event id stands in entry ${sequence} already, with another content.`, {
    retry: "never",
    facts: { taken_by: sequence },
  });
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

function standsStill(fault: AuditFault): string {
  return `The audit log takes no entries, because it is not what was signed: ${sentenceOf(fault)}`;
}

function noKey(path: string): string {
  return `The audit log is there and its key is not (${path}): entries are chained, and no checkpoint is signed.`;
}
