// The audit log's crash rounds: load, a blow at a random moment, the platform gets up by itself, and the verdict is taken over the whole log since the
// beginning: by what was acknowledged, by the running log about itself, and by the offline verifier about an export.
import { messageOf } from "../../contracts/src/fault.ts";
import { eventually, pause } from "../platform.ts";
import { type Dice, dice } from "../virtual/dice.ts";
import { judgeAudit } from "./audit-verdict.ts";
import { type AuditLogWorld, openAuditLogWorld } from "./audit-world.ts";
import { type Blow, strike } from "./blows.ts";

export interface AuditRoundsOptions {
  readonly seed: number;
  /** One per round. */
  readonly blows: readonly Blow[];
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
const afterMs = 300;

/** Rejects with everything that is wrong as soon as a round shows something wrong. */
export async function runAuditRounds({ seed, blows, loadMsMax, say }: AuditRoundsOptions): Promise<AuditSummary> {
  const startedAtMs = Date.now();
  const throws = dice(seed);
  const world = await openAuditLogWorld(throws);
  const { load } = world;
  let seen = { entries: 0, verifiedOffline: 0 };
  try {
    for (const [index, blow] of blows.entries()) {
      await playRound(world, blow, loadMsMax, throws);
      seen = await checkRound(world);
      const facts = `${load.appends.length} appends and ${load.published.length} events acknowledged`;
      say(`audit seed ${seed} round ${index + 1}/${blows.length}: ${blow}; ${facts}, ${seen.entries} entries`);
    }
    return {
      seed,
      rounds: blows.length,
      ...seen,
      appendsAcknowledged: load.appends.length,
      appendsRepeated: load.repeated(),
      eventsAcknowledged: load.published.length,
      durationMs: Date.now() - startedAtMs,
    };
  } catch (error) {
    say(`audit seed ${seed} failed; the platform's last words:\n${world.printed().slice(-6_000)}`);
    throw error;
  } finally {
    await world.close();
  }
}

async function playRound(world: AuditLogWorld, blow: Blow, loadMsMax: number, throws: Dice): Promise<void> {
  const { load } = world;
  load.resume();
  await pause(loadMsMin + throws.below(Math.max(1, loadMsMax - loadMsMin)));
  await strike(blow, world);
  const before = load.appends.length;
  await eventually("the log takes entries again", () => load.appends.length > before + 50, settleMsMax).catch(
    (error: unknown) => {
      throw new Error(`${messageOf(error)}; last: ${load.lastTrouble()}`);
    },
  );
  await pause(afterMs);
}

async function checkRound(world: AuditLogWorld): Promise<{ entries: number; verifiedOffline: number }> {
  const { load } = world;
  await load.settle(settleMsMax);
  let committed: readonly string[] = [];
  // What never comes is for the verdict to tell.
  await eventually(
    "everything published is an entry",
    async () => {
      committed = await world.committed();
      const there = new Set((await world.rows()).map(({ eventId }) => eventId));
      return [...committed, ...load.published].every((id) => there.has(id));
    },
    settleMsMax,
  ).catch(() => undefined);
  const rows = await world.rows();
  const { verdict, size } = await world.verifyOffline();
  const died = /[^\n]*Defect: this process ends here[^\n]*/.exec(world.printed());
  const alarms = /[^\n]*AUDIT_CHAIN_BROKEN[^\n]*/.exec(world.printed());
  const wrong = [
    ...judgeAudit({ rows, appends: load.appends, published: load.published, committed }),
    ...(await world.parked()),
    ...(await world.inspect()),
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
