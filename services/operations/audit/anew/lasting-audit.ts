// The audit of a platform over all of its logs: the one that is written, in whose place another can be begun while the platform runs, and those that
// were closed. Whoever holds it need not know which log is written.

import type { Denial } from "../../../../contracts/src/codes.ts";
import { Defect, messageOf } from "../../../../contracts/src/fault.ts";
import type { AuditFault } from "../../../../core/audit/fault.ts";
import { pollUntil } from "../../../shared/waiting.ts";
import type { AuditPorts, RunningAudit } from "../audit-ports.ts";
import type { Verdict } from "../checking/verify.ts";
import { keepAudit } from "../kept-audit.ts";
import { auditHandlers } from "../queries/audit-rpc.ts";
import { type Trail, type TrailPage, trailEntriesMax } from "../queries/trail.ts";
import { type AnewAsked, type AnewDone, beginAnew, type Finding } from "./begin-anew.ts";
import { closedEntries, logOf } from "./closed-logs.ts";
import { type JudgedLog, judgeLog } from "./judge-log.ts";

export interface LastingAudit extends RunningAudit {
  /**
   * Closes the log, if it does not verify, and begins another. `permit` is asked when it is certain that it may be done, and what it answers ends it.
   */
  beginAnew(
    asked: AnewAsked,
    permit: () => Promise<Denial | undefined>,
  ): Promise<AnewDone | { readonly denial: Denial }>;
}

const startAttemptsMax = 5;
const startAgainMs = 1_000;

/** `open` opens the log that is written, whichever that is. */
export async function startLastingAudit(
  ports: AuditPorts,
  open: (ports: AuditPorts) => Promise<RunningAudit> = keepAudit,
): Promise<LastingAudit> {
  const { auditLog, timers, log } = ports;
  let current = await open(ports);
  let beginning: Promise<unknown> | undefined;

  /** A process without its audit must not go on. */
  async function startAgain(): Promise<void> {
    let failed: unknown;
    const polling = { timers, everyMs: startAgainMs, timesMax: startAttemptsMax };
    const opened = await pollUntil(polling, async () => {
      try {
        return await open(ports);
      } catch (thrown) {
        log.error("the audit log could not be opened again", { error: messageOf(thrown) });
        failed = thrown;
        return undefined;
      }
    });
    if (opened !== undefined) current = opened;
    else ports.crash.die(failed instanceof Error ? failed : new Defect("the audit log could not be opened again"));
  }

  async function begin(
    asked: AnewAsked,
    permit: () => Promise<Denial | undefined>,
  ): ReturnType<LastingAudit["beginAnew"]> {
    const { number } = current.status();
    if (number !== asked.number) return { denial: otherLog(asked.number, number) };
    const judged = await judgeLog(ports, auditLog, number, { isWritten: true });
    const finding = findingOf(judged, current.contradictions());
    if (finding === undefined) return { denial: notBroken };
    const denial = await permit();
    if (denial !== undefined) return { denial };
    await current.stop();
    try {
      return await beginAnew(ports, asked, judged, finding);
    } finally {
      await startAgain();
    }
  }

  async function trail(subjectId: string, page?: TrailPage): Promise<Trail | { readonly fault: AuditFault }> {
    const closed = await auditLog.closedLogs();
    if (closed.length === 0) return current.trail(subjectId, page);
    const { number } = current.status();
    const first = page?.log ?? ((page?.from ?? 0) > 0 ? number : 1);
    const countMax = page?.countMax ?? trailEntriesMax;
    const entries: Trail["entries"][number][] = [];
    for (const one of closed.filter((each) => each.number >= first)) {
      const from = one.number === first ? (page?.from ?? 0) : 0;
      entries.push(...(await closedEntries(auditLog, one, subjectId, from, countMax - entries.length)));
      const last = entries.at(-1);
      if (entries.length >= countMax && last !== undefined) {
        return { entries, isComplete: false, next: last.sequence + 1, nextLog: one.number };
      }
    }
    const isFirst = first === number;
    const rest = page && { ...page, from: isFirst ? page.from : 0, countMax: countMax - entries.length };
    const now = await current.trail(subjectId, rest && { ...rest, countBefore: isFirst ? page?.countBefore : 0 });
    return "fault" in now ? now : { ...now, entries: [...entries, ...now.entries] };
  }

  const asked: Omit<LastingAudit, "rpcHandlers"> = {
    append: (request) => current.append(request),
    trail,
    async verify(from, signal, progress, number = 0) {
      if (number === 0 || number === current.status().number) return current.verify(from, signal, progress);
      const auditLogOf = await logOf(auditLog, number, current.status().number);
      return verdictOf(
        await judgeLog(ports, auditLogOf, number, {
          isWritten: false,
          ...(from === undefined ? {} : { from }),
          ...(signal === undefined ? {} : { signal }),
        }),
      );
    },
    fsck: (options) => current.fsck(options),
    verifySelf: () => current.verifySelf(),
    beginVerification: (from, number) => current.beginVerification(from, number, asked.verify),
    beginInspection: (rebuild) => current.beginInspection(rebuild),
    watchRun: (runId) => current.watchRun(runId),
    flush: () => current.flush(),
    rotateKey: (actor) => current.rotateKey(actor),
    revokeKey: (actor, keyId) => current.revokeKey(actor, keyId),
    erase: (person, actor) => current.erase(person, actor),
    unseal: (entries) => current.unseal(entries),
    status: () => current.status(),
    contradictions: () => current.contradictions(),
    keeping: {
      state: () => current.keeping.state(),
      head: () => current.keeping.head(),
      writerEpoch: () => current.keeping.writerEpoch(),
      broken: () => current.keeping.broken(),
    },
    async beginAnew(request, permit) {
      if (beginning !== undefined) {
        return { denial: { code: "ANEW_REQUEST_VOID", reason: "The log is being begun anew right now." } };
      }
      const doing = begin(request, permit);
      beginning = doing.catch(() => undefined);
      try {
        return await doing;
      } finally {
        beginning = undefined;
      }
    },
    async stop() {
      await beginning;
      await current.stop();
    },
  };
  return { ...asked, rpcHandlers: auditHandlers({ ...asked, auditLog, random: ports.random }) };
}

export const notBroken: Denial = {
  code: "LOG_NOT_BROKEN",
  reason:
    "The audit log verifies, so it is not closed. A log that stands still since its start is read again by `ctl cmd restart-all`.",
};

export function otherLog(asked: number, current: number): Denial {
  return { code: "ANEW_REQUEST_VOID", reason: `The request is about log ${asked}; log ${current} is written now.` };
}

function findingOf({ fault, origin }: JudgedLog, contradictions: readonly string[]): Finding | undefined {
  if (fault !== undefined) return fault;
  if (contradictions.length === 0) return undefined;
  return { code: "WITNESS_CONTRADICTS", sequence: 0, expected: `the log ${origin}`, actual: contradictions.join(" ") };
}

function verdictOf({ fault, report }: JudgedLog): Verdict {
  if (fault !== undefined) return { fault };
  if (report === undefined) throw new Defect("a log that was judged has neither a report nor a fault");
  return report;
}
