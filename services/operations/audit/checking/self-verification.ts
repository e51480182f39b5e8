// The log verifies itself on a schedule: chain, tree, checkpoints and index, as fsck does. The result is an entry, so that it can be seen later that it
// was done, and an alarm when it fails.
import { type Instant, tryParse } from "../../../../contracts/src/instant.ts";
import { readEntry } from "../../../../core/audit/entry.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { Random } from "../../../../ports/random.ts";
import { type LoopPorts, startLoop } from "../../../shared/loop.ts";
import type { AppendRequest } from "../log/append-request.ts";
import { auditActor, verifiedAction } from "../log/reserved.ts";
import type { Appended } from "../log/sequencer.ts";
import { sentenceOf, short } from "./finding-sentence.ts";
import type { Findings } from "./findings.ts";
import type { FsckReport } from "./fsck.ts";

interface SelfVerificationOptions {
  readonly ports: LoopPorts & { readonly clock: Clock; readonly random: Random };
  readonly findings: Pick<Findings, "begin">;
  readonly origin: string;
  readonly fsck: (signal: AbortSignal) => Promise<FsckReport>;
  readonly append: (request: AppendRequest) => Promise<Appended>;
  readonly firstAfterMs?: number | undefined;
  readonly everyMs?: number | undefined;
  /** The last one before this start, as far as it is known. */
  readonly before?: LastVerified | undefined;
}

export interface LastVerified {
  readonly at: Instant;
  /** "clean", or what was wrong. */
  readonly result: string;
}

export interface SelfVerification {
  /** Of this process, else the one before its start. */
  last(): LastVerified | undefined;
  /** Does it now; the entry is durable when it resolves. */
  run(): Promise<FsckReport>;
  stop(): Promise<void>;
}

const firstAfterMsDefault = 5_000;
const everyMsDefault = 3_600_000;

export function startSelfVerification(options: SelfVerificationOptions): SelfVerification {
  const { ports, firstAfterMs = firstAfterMsDefault, everyMs = everyMsDefault } = options;
  const ending = new AbortController();
  let last = options.before;

  async function run(): Promise<FsckReport> {
    const ended = options.findings.begin("everything");
    const report = await options.fsck(ending.signal);
    const { fault } = report;
    last = { at: ports.clock.now(), result: fault === undefined ? "clean" : sentenceOf(fault) };
    ended(fault);
    await options.append({
      eventId: `${verifiedAction}/${ports.random.uuid()}`,
      actor: auditActor,
      action: verifiedAction,
      subjectId: options.origin,
      data: dataOf(report),
    });
    return report;
  }

  const loop = startLoop({
    ports,
    what: { failing: "the audit log could not verify itself", working: "the audit log could verify itself again" },
    firstAfterMs,
    async run() {
      await run();
      return everyMs;
    },
    troubleMsMin: everyMs,
    troubleMsMax: everyMs,
  });
  return {
    last: () => last,
    run,
    async stop() {
      ending.abort();
      await loop.stop();
    },
  };
}

/** The last one that the log tells of, when it is the newest entry about the log itself. */
export async function lastVerifiedIn(
  auditLog: Pick<AuditLog, "newestOf" | "read">,
  origin: string,
): Promise<LastVerified | undefined> {
  const sequence = (await auditLog.newestOf([origin])).get(origin);
  const [row] = sequence === undefined ? [] : await auditLog.read(sequence, 1);
  const entry = row === undefined ? undefined : readEntry(row.text);
  const at = entry?.action === verifiedAction ? tryParse(entry.timestamp) : undefined;
  if (entry === undefined || at === undefined) return undefined;
  const result = entry.data["result"] === "verified" ? "clean" : "broken";
  return { at, result: `${result}, before this start (entry ${entry.sequence})` };
}

function dataOf({ verified, fault, tilesChecked, tilesWrong }: FsckReport): Readonly<Record<string, unknown>> {
  const tiles = { tiles_checked: tilesChecked, tiles_wrong: tilesWrong.length };
  if (verified === undefined || fault !== undefined) {
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
