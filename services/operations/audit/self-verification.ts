// The log verifies itself on a schedule: chain, tree, checkpoints and index, as fsck does. The result is an entry, so that it can be seen later that it
// was done, and an alarm when it fails.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import type { AuditAlarms } from "./alarms.ts";
import type { FsckReport } from "./fsck.ts";
import { auditActor, verifiedAction } from "./reserved.ts";
import type { Appended, AuditWish } from "./sequencer.ts";

export interface SelfVerificationOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly alarms: AuditAlarms;
  readonly origin: string;
  readonly fsck: (signal: AbortSignal) => Promise<FsckReport>;
  readonly append: (wish: AuditWish) => Promise<Appended>;
  readonly onDefect: (defect: Defect) => void;
  readonly firstAfterMs?: number | undefined;
  readonly everyMs?: number | undefined;
}

export interface SelfVerification {
  /** Undefined before the first. */
  last(): FsckReport | undefined;
  lastAt(): Instant | undefined;
  /** Does it now; the entry is durable when it resolves. */
  run(): Promise<FsckReport>;
  stop(): Promise<void>;
}

const firstAfterMsDefault = 60_000;
const everyMsDefault = 3_600_000;

export function startSelfVerification(options: SelfVerificationOptions): SelfVerification {
  const { timers, log, alarms } = options;
  const ending = new AbortController();
  let last: FsckReport | undefined;
  let lastAt: Instant | undefined;
  const watching = watch();

  async function watch(): Promise<void> {
    await timers.sleep(options.firstAfterMs ?? firstAfterMsDefault, ending.signal);
    while (!ending.signal.aborted) {
      try {
        await run();
      } catch (thrown) {
        if (thrown instanceof Defect) options.onDefect(thrown);
        if (!ending.signal.aborted) log.warn("the audit log could not verify itself", { error: messageOf(thrown) });
      }
      await timers.sleep(options.everyMs ?? everyMsDefault, ending.signal);
    }
  }

  async function run(): Promise<FsckReport> {
    const report = await options.fsck(ending.signal);
    last = report;
    lastAt = options.clock.now();
    if (report.fault === undefined) alarms.clear("AUDIT_CHAIN_BROKEN");
    else alarms.raise("AUDIT_CHAIN_BROKEN", sentenceOf(report.fault));
    await options.append({
      eventId: `${verifiedAction}/${options.random.uuid()}`,
      actor: auditActor,
      action: verifiedAction,
      subjectId: options.origin,
      data: dataOf(report),
    });
    return report;
  }

  return {
    last: () => last,
    lastAt: () => lastAt,
    run,
    async stop() {
      ending.abort();
      await watching;
    },
  };
}

/** A fault in one sentence, for people. */
export function sentenceOf({ code, sequence, expected, actual }: NonNullable<FsckReport["fault"]>): string {
  return `${code} at ${sequence}: expected ${short(expected)}, found ${short(actual)}.`;
}

function short(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

function dataOf({ verified, fault, tilesChecked, tilesWrong }: FsckReport): Readonly<Record<string, unknown>> {
  const tiles = { tiles_checked: tilesChecked, tiles_wrong: tilesWrong.length };
  if (verified === undefined) {
    const { code, sequence, expected, actual } = fault ?? { code: "", sequence: 0, expected: "", actual: "" };
    const broken = { code, sequence, expected: short(expected), actual: short(actual) };
    return { ...tiles, fault: broken, result: "broken" };
  }
  return {
    ...tiles,
    covered_size: verified.coveredSize,
    entries: verified.entries,
    level: verified.level,
    result: "verified",
    unanchored_tail: verified.unanchoredTail,
  };
}
