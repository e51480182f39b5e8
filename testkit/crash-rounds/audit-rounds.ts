// The audit log's crash rounds: load, a kill at a random moment, the platform gets up by itself, and the verdict is taken over the whole log since the
// beginning: by what was acknowledged, by the running log about itself, and by the offline verifier about an export.
import { messageOf } from "../../contracts/src/fault.ts";
import { eventually, pause } from "../platform.ts";
import { type Prng, prng } from "../virtual/prng.ts";
import { type AuditLogFixture, openAuditLogFixture } from "./audit-fixture.ts";
import { judgeAudit } from "./audit-verdict.ts";
import { type Kill, strike } from "./kills.ts";

export interface AuditRoundsOptions {
  readonly seed: number;
  /** One per round. */
  readonly kills: readonly Kill[];
  readonly loadMsMax: number;
  say(line: string): void;
}

export interface AuditSummary {
  readonly seed: number;
  readonly rounds: number;
  readonly entries: number;
  readonly appendsAcknowledged: number;
  /** Appends that got no answer at first; each was sent again with its key until it had one. */
  readonly appendsRepeated: number;
  readonly eventsAcknowledged: number;
  readonly verifiedOffline: number;
  readonly durationMs: number;
}

const settleMsMax = 60_000;
const loadMsMin = 400;

/** Rejects with everything that is wrong as soon as a round shows something wrong. */
export async function runAuditRounds({ seed, kills, loadMsMax, say }: AuditRoundsOptions): Promise<AuditSummary> {
  const startedAtMs = Date.now();
  const throws = prng(seed);
  const fixture = await openAuditLogFixture(throws);
  const { load } = fixture;
  let seen = { entries: 0, verifiedOffline: 0 };
  try {
    for (const [index, kill] of kills.entries()) {
      await playRound(fixture, kill, loadMsMax, throws);
      seen = await checkRound(fixture);
      const facts = `${load.appends.length} appends and ${load.published.length} events acknowledged`;
      say(`audit seed ${seed} round ${index + 1}/${kills.length}: ${kill}; ${facts}, ${seen.entries} entries`);
    }
    return {
      seed,
      rounds: kills.length,
      ...seen,
      appendsAcknowledged: load.appends.length,
      appendsRepeated: load.repeated(),
      eventsAcknowledged: load.published.length,
      durationMs: Date.now() - startedAtMs,
    };
  } catch (error) {
    say(`audit seed ${seed} failed; the platform's last words:\n${fixture.printed().slice(-6_000)}`);
    throw error;
  } finally {
    await fixture.close();
  }
}

async function playRound(fixture: AuditLogFixture, kill: Kill, loadMsMax: number, throws: Prng): Promise<void> {
  const { load } = fixture;
  load.resume();
  await pause(loadMsMin + throws.below(Math.max(1, loadMsMax - loadMsMin)));
  await strike(kill, fixture);
  const before = load.appends.length;
  await eventually("the log takes entries again", () => load.appends.length > before + 50, settleMsMax).catch(
    (error: unknown) => {
      throw new Error(`${messageOf(error)}; last: ${load.lastTrouble()}`);
    },
  );
  await eventually("the load goes on", () => load.appends.length > before + 100, settleMsMax);
}

async function checkRound(fixture: AuditLogFixture): Promise<{ entries: number; verifiedOffline: number }> {
  const { load } = fixture;
  await load.settle(settleMsMax);
  let committed: readonly string[] = [];
  // What never comes is for the verdict to tell.
  await eventually(
    "everything published is an entry",
    async () => {
      committed = await fixture.committed();
      const there = new Set((await fixture.rows()).map(({ eventId }) => eventId));
      return [...committed, ...load.published].every((id) => there.has(id));
    },
    settleMsMax,
  ).catch(() => undefined);
  const rows = await fixture.rows();
  const { verdict, size } = await fixture.verifyOffline();
  const died = /[^\n]*Defect: this process ends here[^\n]*/.exec(fixture.printed());
  const alarms = /[^\n]*AUDIT_CHAIN_BROKEN[^\n]*/.exec(fixture.printed());
  const wrong = [
    ...judgeAudit({ rows, appends: load.appends, published: load.published, committed }),
    ...(await fixture.parked()),
    ...(await fixture.inspect()),
    ...(verdict.verdict === "yes" && verdict.level === "L1" ? [] : [`offline: ${JSON.stringify(verdict)}`]),
    ...(died === null ? [] : [`a process ended by a defect: ${died[0]}`]),
    ...(alarms === null ? [] : [`an alarm: ${alarms[0]}`]),
  ];
  if (wrong.length > 0) throw new Error(wrong.slice(0, 20).join("\n"));
  return { entries: rows.length, verifiedOffline: size };
}

/** The rounds, with their progress on standard error and the way to repeat them in the message of a failure. */
export async function reportAuditRounds(
  options: Omit<AuditRoundsOptions, "say">,
  replay: string,
): Promise<AuditSummary> {
  try {
    const summary = await runAuditRounds({ ...options, say: (line) => void process.stderr.write(`${line}\n`) });
    process.stderr.write(`${JSON.stringify(summary)}\n`);
    return summary;
  } catch (error) {
    throw new Error(`${messageOf(error)}\nto repeat it: PORTCULLIS_CRASH_SEED=${options.seed} ${replay}`, {
      cause: error,
    });
  }
}
