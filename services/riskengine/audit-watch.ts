// What the engine knows of the audit log: up to when everything published is an entry, and whether the log is broken. Operations writes it, and
// the engine reads it twice a second and judges by its own clock: a log of which nothing is heard is behind, whoever is to blame.
//
//  1. The engine is told of it before anything is served. Until operations has ever reported, the log counts as up to date when the engine began.
//  2. How far the log is behind is judged at the moment of each check, so that neither a silent store nor a busy event loop stretches it.
//  3. A log that is whole again lifts the block with the next reading.
import { format, fromMicroseconds, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { StandingCondition } from "../../core/state/standing-condition.ts";
import type { AuditStanding } from "../../ports/audit-standing.ts";
import type { Loop } from "../shared/loop.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { Alarms } from "./alarms.ts";
import { type SafetyLooks, startReader } from "./safety-looks.ts";

const readEveryMsMax = 500;
/** So often at least within what the log may be behind. */
const readsWithin = 10;
const reasonCharactersMax = 300;

type Ports = Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash" | "settings">;

/** Until when the log may be relied on, and what is wrong with it after that. */
interface JudgedAudit {
  readonly goodUntil: number;
  readonly reason: string;
  /** Since when it is broken; microseconds. */
  readonly since?: number;
}

function judgeAudit(standing: AuditStanding | undefined, beganAt: Instant, behindMaxMs: number): JudgedAudit {
  if (standing?.broken !== undefined) {
    const { reason, since } = standing.broken;
    // A denial's reason is one sentence.
    const why = line(reason, reasonCharactersMax)
      .replace(/(?<![.\s])[.\s]+$/u, "")
      .replaceAll(/[.!?](?=\s)/gu, ";");
    const sentence = `The audit log is broken since ${format(since)} (${why})`;
    return { goodUntil: Number.NEGATIVE_INFINITY, reason: sentence, since };
  }
  const through = standing?.through ?? beganAt;
  const what = standing === undefined ? "Nobody has kept the audit log" : "The audit log is behind the outbox";
  return {
    goodUntil: plusMilliseconds(through, behindMaxMs),
    reason: `${what} since ${format(through)}, longer than ${behindMaxMs / 1_000} s`,
  };
}

/** It stands from the moment on at which the log is too late. */
function conditionOf({ goodUntil, reason, since = goodUntil }: JudgedAudit): StandingCondition {
  const known = Number.isFinite(since) ? fromMicroseconds(since) : undefined;
  return { code: "AUDIT_UNAVAILABLE", reason, from: goodUntil, since: known };
}

/** Resolves when the engine has it. */
export async function watchAudit(ports: Ports, engine: Engine, alarms: Alarms, looks?: SafetyLooks): Promise<Loop> {
  const { store, clock, log } = ports;
  const { behindMaxMs } = ports.settings.audit;
  const readEveryMs = Math.min(readEveryMsMax, behindMaxMs / readsWithin);
  const beganAt = clock.now();
  let judged = judgeAudit(undefined, beganAt, behindMaxMs);
  let isBlocked = false;

  const ask = (): Promise<AuditStanding | undefined> =>
    store.transact("riskengine.audit", (unit) => unit.auditStanding.read(), { isOneStatement: true });

  function hear(standing: AuditStanding | undefined): void {
    judged = judgeAudit(standing, beganAt, behindMaxMs);
    engine.setConditions("audit log", [conditionOf(judged)]);
  }

  /** Also when nothing could be read: time alone makes the log late. */
  function tell(): void {
    const wasBlocked = isBlocked;
    isBlocked = clock.now() >= judged.goodUntil;
    if (isBlocked) {
      alarms.raise(
        "AUDIT_STOPS_NEW_RISK",
        "audit",
        `${judged.reason}: new risk is denied until the log is whole again.`,
      );
    } else if (wasBlocked) {
      alarms.clear("AUDIT_STOPS_NEW_RISK", "audit");
      log.info("the audit log is whole again, and new risk is no longer denied for want of it");
    }
  }

  const trouble = {
    failing: "how the audit log stands cannot be read",
    working: "how the audit log stands can be read again",
  };
  return startReader(ports, looks, { question: "audit", everyMs: readEveryMs, ask, hear, trouble, judge: tell });
}
