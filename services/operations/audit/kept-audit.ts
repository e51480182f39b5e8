// Keeps the audit log open. One that takes no entries, because it was not whole at the start or because its head was moved, is read again and
// again, and opened anew when it is whole: nobody has to start operations for that.
//
//  1. A look takes nothing from anybody: it only reads. It is what a start reads, and when the head was moved, also that everything this process
//     made durable is still there: an end that was cut off and not signed yet is not taken for whole. What a whole verification found must have been
//     taken back by another.
//  2. While another process reports on the log, the log is that one's.
//  3. Looks become rarer, up to a bound.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import { startLoop } from "../../shared/loop.ts";
import { startAudit } from "./audit.ts";
import type { AuditPorts, RunningAudit } from "./audit-ports.ts";
import { tailFault } from "./checking/tail-check.ts";
import { keyPathOf } from "./keys/signing-key.ts";
import { peekLog } from "./log/open-log.ts";
import { lookAtLog } from "./log/start-look.ts";

const lookFirstMs = 5_000;
const lookMaxMs = 60_000;
/** And at most so much of the time is spent on looking. */
const restFactor = 20;
/** Another process that has reported nothing new for so long has let go. */
const silentMs = 60_000;

export async function keepAudit(ports: AuditPorts): Promise<RunningAudit> {
  const { store, clock, log } = ports;
  const firstMs = Math.min(lookFirstMs, ports.auditSettings.behindMaxMs ?? lookFirstMs);
  let current = await startAudit(ports);
  let isStopped = false;
  let waitMs = firstMs;

  function isRefusing(): boolean {
    const state = current.keeping.state();
    return state === "taken over" || state === "standing still";
  }

  async function isAnothers(): Promise<boolean> {
    const standing = await store.transact("audit.kept", (unit) => unit.auditStanding.read());
    if (standing === undefined || standing.writerEpoch <= current.keeping.writerEpoch()) return false;
    return millisecondsBetween(standing.through, clock.now()) < silentMs;
  }

  async function isWhole(): Promise<boolean> {
    const { auditLog, sha256OfBytes: sha256, auditSettings } = ports;
    const { number } = current.status();
    const path = keyPathOf(auditSettings.signingKeyPath, number);
    const opened = await peekLog({ ...ports, sha256, path }, number);
    if (opened.fault !== undefined) return false;
    const { keeping } = current;
    // What a whole verification found stands until another one takes it back, unless it was looking for another log.
    if (keeping.broken() !== undefined && opened.origin === current.status().origin) return false;
    if (keeping.state() === "taken over") {
      const head = keeping.head();
      if ((await tailFault({ auditLog, sha256, origin: opened.origin }, head, head.size)) !== undefined) return false;
    }
    return opened.head.size === 0 || (await lookAtLog(ports, opened)).fault === undefined;
  }

  async function openAnew(): Promise<void> {
    // A start that fails is tried again, and nothing is reported meanwhile.
    if (!isStopped) await current.stop();
    isStopped = true;
    current = await startAudit(ports);
    isStopped = false;
    log.info("the audit log was opened anew", { state: current.keeping.state(), size: current.keeping.head().size });
  }

  async function lookAgain(ending: AbortSignal): Promise<void> {
    try {
      if ((await isAnothers()) || !(await isWhole()) || ending.aborted) return;
      await openAnew();
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      log.warn("the audit log could not be read again", { error: messageOf(thrown) });
    }
  }

  async function run(ending: AbortSignal): Promise<number> {
    if (!isRefusing()) {
      waitMs = firstMs;
      return waitMs;
    }
    const beganAt = clock.now();
    await lookAgain(ending);
    const tookMs = millisecondsBetween(beganAt, clock.now());
    waitMs = isRefusing() ? Math.max(Math.min(2 * waitMs, lookMaxMs), restFactor * tookMs) : firstMs;
    return waitMs;
  }

  const loop = startLoop({ ports, what: "the watch over the audit log", firstAfterMs: firstMs, run });
  return {
    ...delegating(() => current),
    async stop() {
      await loop.stop();
      if (!isStopped) await current.stop();
      isStopped = true;
    },
  };
}

/** Whoever was handed the log before it was opened anew asks the one that is open now. */
function delegating(current: () => RunningAudit): Omit<RunningAudit, "stop"> {
  const methods = Object.keys(current().rpcHandlers);
  return {
    append: (request) => current().append(request),
    trail: (subjectId, page) => current().trail(subjectId, page),
    verify: (...asked) => current().verify(...asked),
    fsck: (options) => current().fsck(options),
    verifySelf: () => current().verifySelf(),
    beginVerification: (...asked) => current().beginVerification(...asked),
    beginInspection: (rebuild) => current().beginInspection(rebuild),
    watchRun: (runId) => current().watchRun(runId),
    flush: () => current().flush(),
    rotateKey: (actor) => current().rotateKey(actor),
    revokeKey: (actor, keyId) => current().revokeKey(actor, keyId),
    erase: (...asked) => current().erase(...asked),
    unseal: (...asked) => current().unseal(...asked),
    status: () => current().status(),
    contradictions: () => current().contradictions(),
    keeping: {
      state: () => current().keeping.state(),
      head: () => current().keeping.head(),
      writerEpoch: () => current().keeping.writerEpoch(),
      broken: () => current().keeping.broken(),
    },
    rpcHandlers: Object.fromEntries(
      methods.map((method) => [
        method,
        async (request, call) => {
          const handle = current().rpcHandlers[method];
          if (handle === undefined) throw new Defect(`the audit log no longer answers ${method}`);
          return handle(request, call);
        },
      ]),
    ) satisfies RunningAudit["rpcHandlers"],
  };
}
