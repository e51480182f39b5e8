// The engine's crash rounds: load, perhaps a halt, a blow at a random moment, the platform gets up by itself, and the verdict is taken over
// everything since the beginning. One seed decides what is done and when; what the machine makes of it differs, so a replay repeats the
// blows, not the interleaving.
import { messageOf } from "../../contracts/src/fault.ts";
import type { HaltRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { eventually, pause } from "../platform.ts";
import { type Dice, dice } from "../virtual/dice.ts";
import { type Blow, strike } from "./blows.ts";
import { type JournalReader, liftHalts, parkedEvents, readJournal, storedHalts } from "./engine-journal.ts";
import { createModel, type Model } from "./engine-model.ts";
import { desks } from "./engine-orders.ts";
import { judgeEngine } from "./engine-verdict.ts";
import type { Witness } from "./engine-witness.ts";
import { type EngineWorld, openEngineWorld } from "./engine-world.ts";

export interface EngineRoundsOptions {
  readonly seed: number;
  /** One per round. */
  readonly blows: readonly Blow[];
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
  readonly toldTheirFirstDecision: number;
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
  const { seed, blows, say } = options;
  const startedAtMs = Date.now();
  const throws = dice(seed);
  const world = await openEngineWorld(throws);
  const model = createModel();
  const judging = { model, journal: readJournal(world.pool, model) };
  try {
    for (const [index, blow] of blows.entries()) {
      const halted = await playRound(world, blow, options, throws);
      await checkRound(world, judging, throws);
      const facts = `${world.witness.answers.length} answers, ${model.openCount()} orders open`;
      say(`engine seed ${seed} round ${index + 1}/${blows.length}: ${blow}${halted ? ", halted" : ""}; ${facts}`);
    }
    await checkCleanEnd(world, judging);
    return { seed, rounds: blows.length, ...countsOf(world, judging), durationMs: Date.now() - startedAtMs };
  } catch (error) {
    say(`engine seed ${seed} failed; the platform's last words:\n${world.printed().slice(-6_000)}`);
    throw error;
  } finally {
    await world.close();
  }
}

async function playRound(
  world: EngineWorld,
  blow: Blow,
  { loadMsMax, haltShare }: EngineRoundsOptions,
  throws: Dice,
): Promise<boolean> {
  await lift(world);
  const requestHalt = throws.chance(haltShare) ? await world.operator() : undefined;
  world.traders.resume();
  await pause(loadMsMin + throws.below(Math.max(1, loadMsMax - loadMsMin)));
  const halting = requestHalt === undefined ? undefined : halt(world.witness, requestHalt, throws);
  // Half of them are acknowledged before the blow and must outlive it; the others are struck on their way.
  if (throws.chance(0.5)) await halting;
  else if (halting !== undefined) await pause(throws.below(300));
  await strike(blow, world);
  const isHalted = (await halting) ?? false;
  const before = world.witness.sends;
  await eventually(
    "the engine answers again",
    () => world.witness.answers.some(({ sentAt }) => sentAt > before),
    settleMsMax,
  ).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}; last: ${world.traders.lastTrouble()}`);
  });
  await pause(afterMs);
  return isHalted;
}

async function halt(
  witness: Witness,
  requestHalt: Awaited<ReturnType<EngineWorld["operator"]>>,
  throws: Dice,
): Promise<boolean> {
  // The widest comes seldom, because nothing is approved under it.
  const asked = halts[throws.chance(0.2) ? 2 : throws.below(2)];
  if (asked === undefined) throw new Error("there is nothing to halt");
  const told = await requestHalt({ ...asked, halt_id: throws.uuid(), confirmation: "HALT" });
  if (told?.acknowledged !== true) return false;
  witness.halts.push({ haltId: told.halt_id, fromSend: witness.sends, untilSend: Number.POSITIVE_INFINITY });
  return true;
}

async function lift({ witness, pool }: EngineWorld): Promise<void> {
  for (const each of witness.halts) each.untilSend = Math.min(each.untilSend, witness.sends + 1);
  await liftHalts(pool);
}

async function checkRound(world: EngineWorld, judging: Judging, throws: Dice): Promise<void> {
  await world.traders.settle(settleMsMax);
  await world.broker.settle(settleMsMax);
  await eventually("the platform is healthy", async () => (await world.platform().health()) === 200, settleMsMax);
  let wrong: readonly string[] = [];
  // The platform's own orders (an exit of a stop) may come between two looks: what is on its way settles, and what is wrong stays.
  await eventually("everything is right", async () => {
    await caughtUp(world, judging.journal);
    const own = await judgeWorld(world, judging);
    wrong = [...own, ...(await differingHoldings(world, judging.model, throws))];
    return wrong.length === 0;
  }).catch((error: unknown) => {
    if (wrong.length === 0) throw error;
  });
  await complainIfAny(wrong);
}

/** Everything that was published is in the journal, and everything in the journal was heard. */
async function caughtUp(world: EngineWorld, journal: JournalReader): Promise<void> {
  const { broker, heard } = world;
  await eventually(
    "the engine has heard every fill and ending",
    async () => {
      await journal.readOn();
      const isIn = (all: ReadonlySet<string>, some: ReadonlySet<string>) => [...some].every((id) => all.has(id));
      return isIn(journal.fillIds, broker.fillIds) && isIn(journal.endedOrders, broker.endedOrders);
    },
    settleMsMax,
  ).catch(async (error: unknown) => {
    const parked = (await parkedEvents(world.owner)).map((each) => `${each.subscription}: ${each.error}`);
    throw new Error(`${messageOf(error)}; put aside: ${parked.join("; ") || "nothing"}`);
  });
  // What never comes is for the verdict to tell.
  await eventually(
    "the subscriber has heard every decision",
    () => journal.decisions.every(({ messageIds }) => messageIds.every((id) => heard.has(id))),
    settleMsMax,
  ).catch(() => undefined);
}

async function judgeWorld(world: EngineWorld, { journal, model }: Judging): Promise<readonly string[]> {
  const { witness, heard } = world;
  const evidence = { answers: witness.answers, decisions: journal.decisions, acknowledged: witness.halts, heard };
  const said = /The snapshot through entry \d+ differs[^"]*/.exec(world.printed());
  const parked = (await parkedEvents(world.owner)).filter(({ subscription }) => ours.test(subscription));
  const died = /[^\n]*Defect: this process ends here[^\n]*/.exec(world.printed());
  return [
    ...judgeEngine({ ...evidence, halts: await storedHalts(world.pool) }),
    ...journal.differences,
    ...model.complaints(),
    ...parked.map(({ subscription, error }) => `${subscription} put an event aside: ${error}`),
    ...(said === null ? [] : [`the engine found its own books wrong: ${said[0]}`]),
    ...(died === null ? [] : [`a process ended by a defect: ${died[0]}`]),
  ];
}

/** What the running engine says it holds, against the model. Until prices are back a check may end before it comes to exposure. */
async function differingHoldings(world: EngineWorld, model: Model, throws: Dice): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const desk of desks) {
    let said: Awaited<ReturnType<EngineWorld["holding"]>>;
    await eventually(`the engine tells of ${desk.symbol}`, async () => {
      said = await world.holding(desk, throws.uuid()).catch(() => undefined);
      return said !== undefined;
    });
    const [engine, own] = [JSON.stringify(said), JSON.stringify(model.holding(desk.fundId, desk.symbol))];
    if (engine !== own)
      wrong.push(`the engine holds ${engine} of ${desk.fundId} ${desk.symbol}, the journal says ${own}`);
  }
  return wrong;
}

/** A clean end puts the books down whole: they must be the journal's to the last order. */
async function checkCleanEnd(world: EngineWorld, judging: Judging): Promise<void> {
  const before = judging.journal.snapshotsCompared();
  const pid = world.platform().runFile().processes["riskengine"] ?? 0;
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

function countsOf(world: EngineWorld, { journal }: Judging) {
  const { answers } = world.witness;
  const count = (text: string): number => world.printed().split(text).length - 1;
  const again = answers.filter(({ kind, tries }) => kind === "first" && tries > 1);
  const told = again.filter(({ code }) => code === "DUPLICATE_KEY").length;
  return {
    decisionsAcknowledged: answers.length,
    approvalsAcknowledged: answers.filter(({ approved }) => approved).length,
    journalDecisions: journal.decisions.length,
    outcomesUnknown: again.length,
    sendsUnanswered: world.witness.unanswered,
    toldTheirFirstDecision: told,
    decidedAtSecondTry: again.length - told,
    keysRepeated: answers.filter(({ kind }) => kind !== "first").length,
    fills: journal.fillIds.size,
    endings: journal.endedOrders.size,
    haltsAcknowledged: world.witness.halts.length,
    engineStarts: count("the books are rebuilt"),
    booksVerifiedByEngine: count("the books equal their recomputation"),
    booksNotCompared: count("the books could not be compared"),
    snapshotsCompared: journal.snapshotsCompared(),
    messagesHeard: world.heard.size,
    messagesHeardAgain: [...world.heard.values()].reduce((sum, times) => sum + times - 1, 0),
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
