// The rounds: load, a kill at a random moment, sometimes a second one while the world is still getting up, then everybody is
// brought back, the subscriber catches up, and the verdict is taken over everything since the beginning. One seed decides
// who is struck and when; what the machine makes of it differs, so a replay repeats the kills, not the interleaving.
import { pause } from "../platform.ts";
import { type Prng, prng } from "../virtual/prng.ts";
import { type Fixture, openFixture, type TransportName, type Victim } from "./fixture.ts";
import { judge, type Tally, tally } from "./verdict.ts";

export interface RoundsOptions {
  readonly transport: TransportName;
  readonly rounds: number;
  readonly seed: number;
  /** The bundled child program. */
  readonly program: string;
  say(line: string): void;
}

export interface Summary extends Tally {
  readonly transport: TransportName;
  readonly seed: number;
  readonly rounds: number;
  readonly kills: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

const loadMsMin = 300;
const loadMsMax = 1_500;
const secondKillShare = 0.35;
const secondKillMsMax = 400;

/** Rejects with everything that is wrong as soon as a round shows something wrong. */
export async function runCrashRounds(options: RoundsOptions): Promise<Summary> {
  const { transport, rounds, seed, say } = options;
  const startedAtMs = Date.now();
  const fixture = await openFixture(options);
  const throws = prng(seed).fork(transport);
  const deal = dealer(fixture.victims, throws);
  const kills = new Map<Victim, number>();
  let counted: Tally | undefined;
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const struck = await playRound(fixture, throws, deal, kills);
      counted = await checkRound(fixture);
      const facts = `acknowledged ${counted.acknowledged}, handed again ${counted.handedAgain}`;
      say(`${transport} seed ${seed} round ${round}/${rounds}: killed ${struck.join(" + ")}; ${facts}`);
    }
  } catch (error) {
    say(`${transport} seed ${seed} failed; the children's last words:\n${fixture.lastWords()}`);
    throw error;
  } finally {
    await fixture.close();
  }
  if (counted === undefined) throw new Error("there was no round");
  const summary = { transport, seed, rounds, kills: Object.fromEntries(kills), ...counted };
  return { ...summary, durationMs: Date.now() - startedAtMs };
}

async function playRound(
  fixture: Fixture,
  throws: Prng,
  deal: () => Victim,
  kills: Map<Victim, number>,
): Promise<readonly string[]> {
  const struck: string[] = [];
  const strike = async (victim: Victim, note = ""): Promise<void> => {
    const name = await fixture.strike(victim, throws);
    if (name === undefined) return;
    kills.set(victim, (kills.get(victim) ?? 0) + 1);
    struck.push(name + note);
  };
  await pause(loadMsMin + throws.below(loadMsMax - loadMsMin));
  const first = Array.from({ length: 1 + throws.below(3) }, deal);
  const second = throws.chance(secondKillShare) ? deal() : undefined;
  const secondAfterMs = throws.below(secondKillMsMax);
  await Promise.all(first.map((victim) => strike(victim)));
  const restoring = fixture.restore();
  // Awaited below; a failure before that must not count as unhandled.
  restoring.catch(() => undefined);
  if (second !== undefined) {
    await pause(secondAfterMs);
    await strike(second, " (while the others got up)");
  }
  await restoring;
  // The second kill may have come after the last look.
  await fixture.restore();
  return struck;
}

async function checkRound(fixture: Fixture): Promise<Tally> {
  // tidy: sleeps because a little load comes after the restart, so that what was broken by it shows.
  await pause(loadMsMin);
  await fixture.pauseWriters();
  await fixture.caughtUp();
  const evidence = await fixture.evidence();
  const wrong = [...fixture.complaints(), ...judge(evidence)];
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  fixture.resumeWriters();
  return tally(evidence);
}

/** Deals every victim once before any comes again, so that even a few rounds strike nearly all of them. */
function dealer(victims: readonly Victim[], throws: Prng): () => Victim {
  let deck: Victim[] = [];
  return () => {
    if (deck.length === 0) deck = [...victims];
    const [victim] = deck.splice(throws.below(deck.length), 1);
    if (victim === undefined) throw new Error("there is nobody to strike");
    return victim;
  };
}

/** The seed of this run: the one given in the environment, or a new one. */
export function seedOfRun(): number {
  const given = process.env["PORTCULLIS_CRASH_SEED"];
  return given === undefined ? Math.floor(Math.random() * 1_000_000) : Number(given);
}

/** The rounds, with their progress on standard error and the way to repeat them in the message of a failure. */
export async function reportRounds(options: Omit<RoundsOptions, "say">, replay: string): Promise<Summary> {
  try {
    return await runCrashRounds({ ...options, say: (line) => void process.stderr.write(`${line}\n`) });
  } catch (error) {
    const repeat = `PORTCULLIS_CRASH_SEED=${options.seed} ${replay}`;
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nto repeat it: ${repeat}`, {
      cause: error,
    });
  }
}
