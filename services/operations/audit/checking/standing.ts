// Says about once a second how the log stands, for risk engines, which take no new risk without it: up to when everything published is an entry, and
// what is wrong. How far the log has come is measured from end to end: a message is published like any other, and when the intake hears it,
// everything published before it is durable in the log.
//
//  1. Only a message that this process published counts, so nobody else can make the log look up to date.
//  2. Nothing is reported before the first one came back, unless the log is broken: what the last process reported grows old meanwhile.
//  3. The end of the log is read before every report. When rows elsewhere may have been touched, and again and again while the log is known to be
//     broken, all of it is verified; a clean verification takes the finding back, and with it the block.
import { Defect, messageOf } from "../../../../contracts/src/fault.ts";
import { format, fromMicroseconds, type Instant, millisecondsBetween } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { UnitOfWork } from "../../../../ports/store.ts";
import { startLoop } from "../../../shared/loop.ts";
import { line } from "../../../shared/one-line.ts";
import type { ServicePorts } from "../../../shared/service.ts";
import type { Sequencer } from "../log/sequencer.ts";
import type { Findings } from "./findings.ts";
import type { FsckReport } from "./fsck.ts";
import { type TailPorts, tailFault } from "./tail-check.ts";

interface StandingOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "timers" | "random" | "log" | "crash"> &
    TailPorts & { readonly auditLog: Pick<AuditLog, "rewrites"> };
  readonly sequencer: Pick<Sequencer, "state" | "head" | "writerEpoch">;
  readonly findings: Pick<Findings, "begin" | "broken">;
  /** What is wrong with the log, whoever found it. */
  readonly broken: () => string | undefined;
  readonly fsck: (signal: AbortSignal) => Promise<FsckReport>;
  /** How far the log may be behind. */
  readonly behindMaxMs?: number | undefined;
}

interface Standing {
  /** The intake has heard a message of this kind. */
  heard(beatId: string): void;
  stop(): Promise<void>;
}

const reportEveryMsMax = 1_000;
/** So often at least within what the log may be behind. */
const reportsWithin = 5;
/** A whole verification is repeated after so long, or after so many times as long as the last one took. */
const verifyAgainMsMax = 5_000;
const restFactor = 20;
/** Messages that have not come back; more are not distinguished, and the oldest are forgotten. */
const awaitedMax = 120;
const reasonCharactersMax = 500;
const longAgo = fromMicroseconds(0);

interface Broken {
  readonly reason: string;
  readonly since: Instant;
}

export function startStanding(options: StandingOptions): Standing {
  const { ports, sequencer, findings } = options;
  const { store, clock, log, random, auditLog } = ports;
  const { behindMaxMs = Number.POSITIVE_INFINITY } = options;
  const reportEveryMs = Math.min(reportEveryMsMax, behindMaxMs / reportsWithin);
  const verifyAgainMs = Math.min(verifyAgainMsMax, behindMaxMs);
  const awaited = new Map<string, Instant>();
  let through: Instant | undefined;
  let brokenSince: Instant | undefined;
  let hasReported = false;
  let counted = sequencer.head().size;
  let rewrites: string | undefined;
  let verifyAt: Instant | undefined;
  let verifying: Promise<void> | undefined;

  async function lookAtTail(): Promise<void> {
    const head = sequencer.head();
    const ended = findings.begin("part");
    const fault: AuditFault | undefined = await tailFault(ports, head, counted);
    counted = head.size;
    if (fault !== undefined) ended(fault);
    const now = await auditLog.rewrites();
    if (rewrites !== undefined && now !== rewrites) verifyAt = clock.now();
    rewrites = now;
  }

  /** Beside the reports: it may take minutes. */
  function verifyWhenDue(ending: AbortSignal): void {
    const now = clock.now();
    if (findings.broken() !== undefined) verifyAt ??= fromMicroseconds(now + verifyAgainMs * 1_000);
    if (verifying !== undefined || verifyAt === undefined || now < verifyAt) return;
    verifyAt = undefined;
    verifying = verify(now, ending).finally(() => {
      verifying = undefined;
    });
  }

  async function verify(beganAt: Instant, ending: AbortSignal): Promise<void> {
    const ended = findings.begin("everything");
    try {
      ended((await options.fsck(ending)).fault);
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      if (!ending.aborted) log.warn("the audit log could not be verified", { error: messageOf(thrown) });
    }
    if (findings.broken() === undefined) return;
    const restMs = Math.max(verifyAgainMs, millisecondsBetween(beganAt, clock.now()) * restFactor);
    verifyAt ??= fromMicroseconds(clock.now() + restMs * 1_000);
  }

  function brokenNow(): Broken | undefined {
    const state = sequencer.state();
    const isRefusing = state === "taken over" || state === "standing still";
    const reason = options.broken() ?? (isRefusing ? `it takes no entries: ${state}` : undefined);
    if (reason === undefined) {
      brokenSince = undefined;
      return undefined;
    }
    brokenSince ??= clock.now();
    return { reason: line(reason, reasonCharactersMax), since: brokenSince };
  }

  /** A log that was broken before this start is broken since then. */
  async function asBefore(unit: UnitOfWork, broken: Broken): Promise<Broken> {
    const since = (await unit.auditStanding.read())?.broken?.since;
    return since !== undefined && since < broken.since ? { ...broken, since } : broken;
  }

  async function report(ending: AbortSignal): Promise<number> {
    const isTaking = sequencer.state() === "open";
    if (isTaking) await lookAtTail();
    verifyWhenDue(ending);
    let broken = brokenNow();
    const [beatId, at] = [random.uuid(), clock.now()];
    if (isTaking) awaitBeat(beatId, at);
    await store.transact("audit.standing", async (unit) => {
      if (broken !== undefined && !hasReported) broken = await asBefore(unit, broken);
      if (through !== undefined || broken !== undefined) {
        await unit.auditStanding.report({ writerEpoch: sequencer.writerEpoch(), through: through ?? longAgo, broken });
      }
      if (isTaking) await unit.events.publish(subjects.auditProgress, { beat_id: beatId, at: format(at) });
    });
    brokenSince = broken?.since;
    hasReported = true;
    return reportEveryMs;
  }

  function awaitBeat(beatId: string, at: Instant): void {
    awaited.set(beatId, at);
    const [oldest] = awaited.keys();
    if (awaited.size > awaitedMax && oldest !== undefined) awaited.delete(oldest);
  }

  const what = {
    failing: "how the audit log stands cannot be reported",
    working: "how the audit log stands can be reported again",
  };
  const loop = startLoop({ ports, what, firstAfterMs: 0, run: report, troubleMsMax: reportEveryMs });
  return {
    heard(beatId) {
      const at = awaited.get(beatId);
      if (at === undefined) return;
      // What was published before is older and has come back, or never will.
      for (const [id, published] of awaited) if (published <= at) awaited.delete(id);
      const isFirst = through === undefined;
      if (through === undefined || at > through) through = at;
      if (isFirst) loop.wake();
    },
    async stop() {
      await loop.stop();
      await verifying;
    },
  };
}
