// The engine's crash rounds: load, perhaps a halt, a kill at a random moment, the platform gets up by itself, and the verdict is taken over
// everything since the beginning. One seed decides what is done and when; what the machine makes of it differs, so a replay repeats the
// kills, not the interleaving.
import { messageOf } from "../../contracts/src/fault.ts";
import type { HaltRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { eventually, pause } from "../platform.ts";
import { type Prng, prng } from "../virtual/prng.ts";
import { type EngineFixture, openEngineFixture } from "./engine-fixture.ts";
import { type JournalReader, liftHalts, parkedEvents, readJournal, storedHalts } from "./engine-journal.ts";
import { createModel, type Model } from "./engine-model.ts";
import { tradedLines } from "./engine-orders.ts";
import { judgeEngine } from "./engine-verdict.ts";
import type { Witness } from "./engine-witness.ts";
import { type Kill, strike } from "./kills.ts";

export interface EngineRoundsOptions {
  readonly seed: number;
  /** One per round. */
  readonly kills: readonly Kill[];
  readonly loadMsMax: number;
  readonly haltShare: number;
  say(line: string): void;
}

export interface EngineSummary {
  readonly seed: number;
  readonly rounds: number;
  readonly decisionsAcknowledged: number;
  readonly approvalsAcknowledged: number;
  readonly journalDecisions: number;
  /** Orders that got no answer at first; each was sent again with its key until it had one. */
  readonly outcomesUnknown: number;
  readonly sendsUnanswered: number;
  readonly reportedTheirFirstDecision: number;
  readonly decidedAtSecondTry: number;
  readonly keysRepeated: number;
  readonly fills: number;
  readonly endings: number;
  readonly haltsAcknowledged: number;
  readonly engineStarts: number;
  readonly booksVerifiedByEngine: number;
  /** Starts at which the engine could not finish comparing, because something else was killed meanwhile. */
  readonly booksNotCompared: number;
  readonly snapshotsCompared: number;
  readonly messagesHeard: number;
  readonly messagesHeardAgain: number;
  readonly durationMs: number;
}

const settleMsMax = 60_000;
const loadMsMin = 400;
const afterMs = 300;
/** Subscriptions that may lose nothing here. */
const ours = /^(riskengine|crash-rounds)\./;
const halts: readonly HaltRequest[] = [
  scope("STRATEGY_HALT", "alpha", "alpha-momentum"),
  scope("FUND_HALT", "beta"),
  scope("FIRM_HALT", ""),
];

function scope(severity: HaltRequest["severity"], fund_id: string, strategy_id?: string): HaltRequest {
  return {
    severity,
    fund_id,
    strategy_id,
    reason: "crash rounds",
    requested_by: "operator:duty",
    confirmation: "HALT",
  };
}

interface Judging {
  readonly journal: JournalReader;
  readonly model: Model;
}

/** Rejects with everything that is wrong as soon as a round shows something wrong. */
export async function runEngineRounds(options: EngineRoundsOptions): Promise<EngineSummary> {
  const { seed, kills, say } = options;
  const startedAtMs = Date.now();
  const throws = prng(seed);
  const fixture = await openEngineFixture(throws);
  const model = createModel();
  const judging = { model, journal: readJournal(fixture.pool, model) };
  try {
    for (const [index, kill] of kills.entries()) {
      const halted = await playRound(fixture, kill, options, throws);
      await checkRound(fixture, judging, throws);
      const facts = `${fixture.witness.answers.length} answers, ${model.openCount()} orders open`;
      say(`engine seed ${seed} round ${index + 1}/${kills.length}: ${kill}${halted ? ", halted" : ""}; ${facts}`);
    }
    await checkCleanEnd(fixture, judging);
    return { seed, rounds: kills.length, ...countsOf(fixture, judging), durationMs: Date.now() - startedAtMs };
  } catch (error) {
    say(`engine seed ${seed} failed; the platform's last words:\n${fixture.printed().slice(-6_000)}`);
    throw error;
  } finally {
    await fixture.close();
  }
}

async function playRound(
  fixture: EngineFixture,
  kill: Kill,
  { loadMsMax, haltShare }: EngineRoundsOptions,
  throws: Prng,
): Promise<boolean> {
  await lift(fixture);
  const requestHalt = throws.chance(haltShare) ? await fixture.operator() : undefined;
  fixture.traders.resume();
  await pause(loadMsMin + throws.below(Math.max(1, loadMsMax - loadMsMin)));
  const halting = requestHalt === undefined ? undefined : halt(fixture.witness, requestHalt, throws);
  // Half of them are acknowledged before the kill and must outlive it; the others are struck on their way.
  if (throws.chance(0.5)) await halting;
  else if (halting !== undefined) await pause(throws.below(300));
  await strike(kill, fixture);
  const isHalted = (await halting) ?? false;
  const before = fixture.witness.sends;
  await eventually(
    "the engine answers again",
    () => fixture.witness.answers.some(({ sentAt }) => sentAt > before),
    settleMsMax,
  ).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}; last: ${fixture.traders.lastTrouble()}`);
  });
  // tidy: sleeps because orders are to come for a while after the kill, so that what was broken by it shows.
  await pause(afterMs);
  return isHalted;
}

async function halt(
  witness: Witness,
  requestHalt: Awaited<ReturnType<EngineFixture["operator"]>>,
  throws: Prng,
): Promise<boolean> {
  // The widest comes seldom, because nothing is approved under it.
  const asked = halts[throws.chance(0.2) ? 2 : throws.below(2)];
  if (asked === undefined) throw new Error("there is nothing to halt");
  const reported = await requestHalt({ ...asked, halt_id: throws.uuid(), confirmation: "HALT" });
  if (reported?.acknowledged !== true) return false;
  witness.halts.push({ haltId: reported.halt_id, fromSend: witness.sends, untilSend: Number.POSITIVE_INFINITY });
  return true;
}

async function lift({ witness, pool }: EngineFixture): Promise<void> {
  for (const each of witness.halts) each.untilSend = Math.min(each.untilSend, witness.sends + 1);
  await liftHalts(pool);
}

async function checkRound(fixture: EngineFixture, judging: Judging, throws: Prng): Promise<void> {
  await fixture.traders.settle(settleMsMax);
  await fixture.broker.settle(settleMsMax);
  await eventually("the platform is healthy", async () => (await fixture.platform().health()) === 200, settleMsMax);
  let wrong: readonly string[] = [];
  // The platform's own orders (an exit of a stop) may come between two looks: what is on its way settles, and what is wrong stays.
  await eventually("everything is right", async () => {
    await caughtUp(fixture, judging.journal);
    const own = await judgeEvidence(fixture, judging);
    wrong = [...own, ...(await differingHoldings(fixture, judging.model, throws))];
    return wrong.length === 0;
  }).catch((error: unknown) => {
    if (wrong.length === 0) throw error;
  });
  await complainIfAny(wrong);
}

/** Everything that was published is in the journal, and everything in the journal was heard. */
async function caughtUp(fixture: EngineFixture, journal: JournalReader): Promise<void> {
  const { broker, heard } = fixture;
  await eventually(
    "the engine has heard every fill and ending",
    async () => {
      await journal.readOn();
      const isIn = (all: ReadonlySet<string>, some: ReadonlySet<string>) => [...some].every((id) => all.has(id));
      return isIn(journal.fillIds, broker.fillIds) && isIn(journal.endedOrders, broker.endedOrders);
    },
    settleMsMax,
  ).catch(async (error: unknown) => {
    const parked = (await parkedEvents(fixture.owner)).map((each) => `${each.subscription}: ${each.error}`);
    throw new Error(`${messageOf(error)}; put aside: ${parked.join("; ") || "nothing"}`);
  });
  // What never comes is for the verdict to tell.
  await eventually(
    "the subscriber has heard every decision",
    () => journal.decisions.every(({ messageIds }) => messageIds.every((id) => heard.has(id))),
    settleMsMax,
  ).catch(() => undefined);
}

async function judgeEvidence(fixture: EngineFixture, { journal, model }: Judging): Promise<readonly string[]> {
  const { witness, heard } = fixture;
  const evidence = { answers: witness.answers, decisions: journal.decisions, acknowledged: witness.halts, heard };
  const said = /The snapshot through entry \d+ differs[^"]*/.exec(fixture.printed());
  const parked = (await parkedEvents(fixture.owner)).filter(({ subscription }) => ours.test(subscription));
  const died = /[^\n]*Defect: this process ends here[^\n]*/.exec(fixture.printed());
  return [
    ...judgeEngine({ ...evidence, halts: await storedHalts(fixture.pool) }),
    ...journal.differences,
    ...model.complaints(),
    ...parked.map(({ subscription, error }) => `${subscription} put an event aside: ${error}`),
    ...(said === null ? [] : [`the engine found its own books wrong: ${said[0]}`]),
    ...(died === null ? [] : [`a process ended by a defect: ${died[0]}`]),
  ];
}

/** What the running engine says it holds, against the model. Until prices are back a check may end before it comes to exposure. */
async function differingHoldings(fixture: EngineFixture, model: Model, throws: Prng): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const traded of tradedLines) {
    let said: Awaited<ReturnType<EngineFixture["holding"]>>;
    await eventually(`the engine tells of ${traded.symbol}`, async () => {
      said = await fixture.holding(traded, throws.uuid()).catch(() => undefined);
      return said !== undefined;
    });
    const [engine, own] = [JSON.stringify(said), JSON.stringify(model.holding(traded.fundId, traded.symbol))];
    if (engine !== own)
      wrong.push(`the engine holds ${engine} of ${traded.fundId} ${traded.symbol}, the journal says ${own}`);
  }
  return wrong;
}

/** A clean end puts the books down whole: they must be the journal's to the last order. */
async function checkCleanEnd(fixture: EngineFixture, judging: Judging): Promise<void> {
  const before = judging.journal.snapshotsCompared();
  const pid = fixture.platform().runFile().processes["riskengine"] ?? 0;
  process.kill(pid, "SIGTERM");
  await eventually("a part that was told to end has put its books down", async () => {
    await judging.journal.readOn();
    return judging.journal.snapshotsCompared() > before;
  });
  await complainIfAny(judging.journal.differences);
}

async function complainIfAny(wrong: readonly string[]): Promise<void> {
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}

function countsOf(fixture: EngineFixture, { journal }: Judging) {
  const { answers } = fixture.witness;
  const count = (text: string): number => fixture.printed().split(text).length - 1;
  const again = answers.filter(({ kind, tries }) => kind === "first" && tries > 1);
  const reported = again.filter(({ code }) => code === "DUPLICATE_KEY").length;
  return {
    decisionsAcknowledged: answers.length,
    approvalsAcknowledged: answers.filter(({ approved }) => approved).length,
    journalDecisions: journal.decisions.length,
    outcomesUnknown: again.length,
    sendsUnanswered: fixture.witness.unanswered,
    reportedTheirFirstDecision: reported,
    decidedAtSecondTry: again.length - reported,
    keysRepeated: answers.filter(({ kind }) => kind !== "first").length,
    fills: journal.fillIds.size,
    endings: journal.endedOrders.size,
    haltsAcknowledged: fixture.witness.halts.length,
    engineStarts: count("the books are rebuilt"),
    booksVerifiedByEngine: count("the books equal their recomputation"),
    booksNotCompared: count("the books could not be compared"),
    snapshotsCompared: journal.snapshotsCompared(),
    messagesHeard: fixture.heard.size,
    messagesHeardAgain: [...fixture.heard.values()].reduce((sum, times) => sum + times - 1, 0),
  };
}

/** The rounds, with their progress on standard error and the way to repeat them in the message of a failure. */
export async function reportEngineRounds(
  options: Omit<EngineRoundsOptions, "say">,
  replay: string,
): Promise<EngineSummary> {
  try {
    const summary = await runEngineRounds({ ...options, say: (line) => void process.stderr.write(`${line}\n`) });
    process.stderr.write(`${JSON.stringify(summary)}\n`);
    return summary;
  } catch (error) {
    throw new Error(`${messageOf(error)}\nto repeat it: PORTCULLIS_CRASH_SEED=${options.seed} ${replay}`, {
      cause: error,
    });
  }
}
