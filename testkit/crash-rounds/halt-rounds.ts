// Crash rounds of halts on the whole platform, under load: a halt is raised, or some are lifted, somebody is killed at a named place in the middle of it or
// at a random moment, the platform gets up by itself, and the verdict is taken over everything since the beginning. One seed decides what is
// done, whom it strikes and when; what the machine makes of it differs, so a replay repeats the kills, not the interleaving.
import { messageOf } from "../../contracts/src/fault.ts";
import type { AuditVerification } from "../../contracts/src/generated/svc/v1/audit.ts";
import { eventually, pause } from "../platform.ts";
import { type Prng, prng } from "../virtual/prng.ts";
import { type EngineFixture, openEngineFixture } from "./engine-fixture.ts";
import { parkedEvents, readJournal, storedHalts } from "./engine-journal.ts";
import { createModel } from "./engine-model.ts";
import { judgeHalts } from "./engine-verdict.ts";
import { type HaltAction, type HaltActor, haltActor, restartEverybody } from "./halt-actions.ts";
import { inForce, readFacts } from "./halt-ledger.ts";
import { haltPeople, listedHalts, wholeLogMsMax } from "./halt-people.ts";
import { type HaltPlace, holdPlace, makePlaces } from "./halt-places.ts";
import { judgeHaltFacts } from "./halt-verdict.ts";
import { strike } from "./kills.ts";

export const haltVictims = ["operations", "riskengine", "both", "postgres", "platform"] as const;
export type HaltVictim = (typeof haltVictims)[number];

export interface HaltRound {
  readonly action: HaltAction;
  readonly place: HaltPlace | "after the answer" | "at random";
  readonly victim: HaltVictim;
}

export interface HaltRoundsOptions {
  readonly seed: number;
  readonly rounds: readonly HaltRound[];
  /** How often the five services are restarted in random order with halts in force, at the end. */
  readonly restarts: number;
  say(line: string): void;
}

export interface HaltSummary {
  readonly seed: number;
  readonly rounds: number;
  readonly haltsAnswered: number;
  readonly haltsUnanswered: number;
  /** Of those without an answer: in force all the same. */
  readonly unansweredInForce: number;
  readonly haltsByLosses: number;
  readonly liftsAnswered: number;
  readonly liftsUnanswered: number;
  readonly unansweredComplete: number;
  readonly stepsProven: number;
  readonly decisions: number;
  readonly approvals: number;
  readonly serviceRestarts: number;
  readonly looksWhileRestarting: number;
  readonly auditEntries: number;
  readonly durationMs: number;
}

const settleMsMax = 90_000;
const randomMsMax = 120;

interface Stage {
  readonly fixture: EngineFixture;
  readonly actor: HaltActor;
  readonly throws: Prng;
  /** What is wrong with the decisions and answers since the beginning. */
  violations(): Promise<readonly string[]>;
}

/** Rejects with everything that is wrong as soon as a round shows something wrong. */
export async function runHaltRounds({ seed, rounds, restarts, say }: HaltRoundsOptions): Promise<HaltSummary> {
  const startedAtMs = Date.now();
  const throws = prng(seed).fork("halt rounds");
  const fixture = await openEngineFixture(throws);
  const people = haltPeople(fixture, throws.fork("people"));
  const actor = haltActor(fixture, people, throws.fork("actor"));
  const journal = readJournal(fixture.pool, createModel());
  const violations = async (): Promise<readonly string[]> => {
    await journal.readOn();
    const { answers, halts: acknowledged } = fixture.witness;
    const halts = await storedHalts(fixture.pool);
    return judgeHalts({ answers, acknowledged, decisions: journal.decisions, halts, heard: new Map() });
  };
  const stage: Stage = { fixture, actor, throws, violations };
  let auditEntries = 0;
  let looks = 0;
  try {
    await makePlaces(fixture.owner);
    await people.logIn();
    for (const [index, round] of rounds.entries()) {
      const happened = await playRound(stage, round);
      auditEntries = await checkRound(stage);
      const name = `${round.action}, ${round.place}, ${round.victim}`;
      say(`halts seed ${seed} round ${index + 1}/${rounds.length}: ${name}: ${happened}`);
    }
    if (restarts > 0) {
      looks = await restartEverybody(fixture, actor, throws.fork("restarts"), restarts, say);
      auditEntries = await checkRound(stage);
    }
    const facts = { ...(await countsOf(stage)), decisions: journal.decisions.length };
    const restarted = { serviceRestarts: restarts * 5, looksWhileRestarting: looks, auditEntries };
    return { seed, rounds: rounds.length, ...facts, ...restarted, durationMs: Date.now() - startedAtMs };
  } catch (error) {
    say(`halts seed ${seed} failed; the platform's last words:\n${fixture.printed().slice(-5_000)}`);
    throw error;
  } finally {
    await fixture.close();
  }
}

async function playRound({ fixture, actor, throws }: Stage, { action, place, victim }: HaltRound): Promise<string> {
  await actor.prepare(action);
  fixture.traders.resume();
  // tidy: sleeps because the traders are to be in the middle of it.
  await pause(150);
  const held =
    place === "after the answer" || place === "at random" ? undefined : await holdPlace(fixture.owner, place);
  try {
    const acting = actor.act(action);
    // Awaited below; a failure before that must not count as unhandled.
    acting.catch(() => undefined);
    // What follows an answer comes after it; a refusal comes to no place at all.
    if (held !== undefined) await Promise.race([held.reached(), acting.then(held.reached)]);
    else if (place === "after the answer") await acting;
    else await pause(throws.below(randomMsMax));
    await kill(fixture, victim, () => held?.release());
    held?.release();
    return (await acting) ? "answered" : "no answer";
  } finally {
    held?.release();
  }
}

async function kill(fixture: EngineFixture, victim: HaltVictim, released: () => void): Promise<void> {
  const part = (name: string) => strike("part", { ...fixture, aim: { ...fixture.aim, part: name } });
  if (victim === "postgres") await strike("postgres", fixture);
  else if (victim === "platform") {
    // The database goes with the supervisor; whoever holds a connection to it only keeps it from going quickly.
    const struck = strike("supervisor", fixture);
    released();
    await struck;
  } else {
    for (const name of victim === "both" ? ["operations", "riskengine"] : [victim]) await part(name);
  }
}

async function checkRound({ fixture, actor, violations }: Stage): Promise<number> {
  await eventually("the platform is healthy", async () => (await fixture.platform().health()) === 200, settleMsMax);
  // A connection from before the kill may still be the first that is tried.
  const logIn = () =>
    actor.people.logIn().then(
      () => true,
      () => false,
    );
  await eventually("people can log in", logIn, settleMsMax);
  await fixture.traders.settle(settleMsMax);
  let wrong: readonly string[] = [];
  // What follows a halt takes its time; what is wrong stays wrong.
  await eventually(
    "everything about the halts is right",
    async () => {
      const facts = await readFacts(fixture.owner);
      const listed = [...(await listedHalts(actor.people))].sort();
      const stored = inForce(facts)
        .map(({ haltId }) => haltId)
        .sort();
      wrong = [
        ...judgeHaltFacts(actor.people.ledger, facts),
        ...(String(listed) === String(stored) ? [] : [`listed are ${listed}, in force ${stored}`]),
        // One that was asked to end a moment ago may still have counted as healthy.
        ...(await actor.wrongWithEngine(facts).catch((thrown: unknown) => [`no engine answers: ${messageOf(thrown)}`])),
      ];
      return wrong.length === 0;
    },
    settleMsMax,
  ).catch((error: unknown) => {
    if (wrong.length === 0) throw error;
  });
  const parked = (await parkedEvents(fixture.owner)).map((each) => `${each.subscription} put aside: ${each.error}`);
  const died = /[^\n]*Defect: this process ends here[^\n]*/.exec(fixture.printed());
  const all = [...wrong, ...(await violations()), ...parked, ...(died === null ? [] : [died[0]])];
  if (all.length > 0) throw new Error(all.join("\n"));
  const whole = { from_sequence: 0 };
  const verified = await actor.people.ask<AuditVerification>("operations", "VerifyAudit", whole, wholeLogMsMax);
  return Number(verified.entry_count);
}

async function countsOf({ fixture, actor }: Stage) {
  const { ledger } = actor.people;
  const { rows, steps, reported } = await readFacts(fixture.owner);
  const stored = new Map(rows.map((row) => [row.haltId, row]));
  const lost = ledger.lifts.filter(({ wasAnswered }) => !wasAnswered);
  return {
    haltsAnswered: ledger.answered.size,
    haltsUnanswered: ledger.unanswered.size,
    unansweredInForce: [...ledger.unanswered].filter((id) => stored.has(id)).length,
    haltsByLosses: rows.filter(({ requestedBy }) => requestedBy === "riskengine").length,
    liftsAnswered: ledger.lifts.length - lost.length,
    liftsUnanswered: lost.length,
    unansweredComplete: lost.filter((lift) =>
      reported.lifted.some((one) => lift.haltIds.includes(one.halt_id) && one.cosigned_by === lift.cosignedBy),
    ).length,
    stepsProven: steps.length,
    approvals: fixture.witness.answers.filter(({ approved }) => approved).length,
  };
}

/** The rounds, with their progress on standard error and the way to repeat them in the message of a failure. */
export async function reportHaltRounds(options: Omit<HaltRoundsOptions, "say">, replay: string): Promise<HaltSummary> {
  try {
    const summary = await runHaltRounds({ ...options, say: (line) => void process.stderr.write(`${line}\n`) });
    process.stderr.write(`${JSON.stringify(summary)}\n`);
    return summary;
  } catch (error) {
    throw new Error(`${messageOf(error)}\nto repeat it: PORTCULLIS_CRASH_SEED=${options.seed} ${replay}`, {
      cause: error,
    });
  }
}
