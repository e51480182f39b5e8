// A model test of halts: people and machines ask both services for halts, resumes and signatures, right and wrong ones, while processes are killed, the
// store fails and forgets answers, and messages are lost, doubled and late. After every commit the halts in force are held against the rules
// (core/halts/halts.ts numbers them); after every answer and every step, what the engine believes is held against the halts.

import { Fault, messageOf } from "../contracts/src/fault.ts";
import type { HaltResponse } from "../contracts/src/generated/svc/v1/halt.ts";
import type { Identity } from "../ports/identity.ts";
import { type HaltFixture, type HaltService, haltFixture, machine, person } from "./halt-fixture.ts";
import { watchCommits } from "./halt-model-commits.ts";
import { type HaltModel, haltPeople } from "./halt-model-state.ts";
import type { MemoryFaults } from "./memory/faults.ts";
import { ignoreEndedIncarnations } from "./virtual/incarnation.ts";
import { type Prng, prng } from "./virtual/prng.ts";

export interface HaltModelRun {
  readonly seed: number;
  readonly complaints: readonly string[];
  readonly halts: number;
  readonly lifts: number;
  readonly liftsOfAll: number;
  readonly refusals: number;
  readonly kills: number;
}

/** A mistake to build in, to see that it is found. */
export type PlantedHaltBug = (fixture: HaltFixture) => void;

const actions = 70;
const lookEveryMs = 250;
const services: readonly HaltService[] = ["operations", "riskengine"];
const scopes = [
  { severity: "FIRM_HALT", fund_id: "" },
  { severity: "FUND_HALT", fund_id: "alpha" },
  { severity: "FUND_HALT", fund_id: "beta" },
  { severity: "STRATEGY_HALT", fund_id: "", strategy_id: "alpha-momentum" },
  { severity: "STRATEGY_HALT", fund_id: "", strategy_id: "beta-trend" },
] as const;
const targets = [
  { fund_id: "alpha" },
  { fund_id: "beta" },
  { strategy_id: "alpha-momentum" },
  { strategy_id: "beta-trend" },
];

export async function runHaltModel(seed: number, plantedBug?: PlantedHaltBug): Promise<HaltModelRun> {
  const stopIgnoring = ignoreEndedIncarnations();
  try {
    return await run(seed, plantedBug);
  } finally {
    stopIgnoring();
  }
}

async function run(seed: number, plantedBug: PlantedHaltBug | undefined): Promise<HaltModelRun> {
  const throws = prng(seed).fork("halt model");
  const faults = { isCalm: true };
  const fixture = await haltFixture({
    seed,
    faults: faultsOf(throws.fork("faults"), faults),
    loses: losesOf(throws, faults),
    readDelayMs: readDelaysOf(throws, faults),
  });
  const counts = { halts: 0, lifts: 0, liftsOfAll: 0, refusals: 0, kills: 0 };
  const heard = { asked: [], requests: [], acknowledged: new Set<string>() };
  const model: HaltModel = { fixture, throws, complaints: [], counts, ...heard, cutAtMs: undefined };
  for (const service of services) await fixture.start(service);
  watchCommits(model);
  plantedBug?.(fixture);
  faults.isCalm = false;
  for (let done = 0; done < actions && model.complaints.length === 0; done += 1) {
    act(model);
    await pass(model, throws.chance(0.15) ? throws.below(9_000) : throws.below(300));
  }
  faults.isCalm = true;
  fixture.chat.isDown = false;
  await settle(model);
  judgeEnd(model);
  const complaints = [...model.complaints, ...fixture.deaths];
  return { seed, complaints, ...counts };
}

/** Looks at the engine on the way: what it may not claim it may not claim for a moment. */
async function pass(model: HaltModel, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= lookEveryMs) {
    await model.fixture.pass(Math.min(left, lookEveryMs));
    judgeBelief(model, "after a step");
  }
}

function faultsOf(throws: Prng, faults: { readonly isCalm: boolean }): Partial<MemoryFaults> {
  const when = <Value>(bad: () => Value, good: Value): Value => (faults.isCalm ? good : bad());
  return {
    commit: () =>
      when(() => {
        const thrown = throws.below(100);
        if (thrown < 4) return "failed";
        if (thrown < 7) return "lost, committed";
        if (thrown < 10) return "lost, not committed";
        return thrown < 15 ? "conflict" : "committed";
      }, "committed"),
    commitDelayMs: () => when(() => throws.below(20), 0),
    answerDelayMs: () => when(() => throws.below(20), 0),
    deliveryDelayMs: () => when(() => throws.below(2_000), 0),
    savesThePlace: () => when(() => throws.chance(0.6), true),
    pick: (count) => throws.below(count),
  };
}

function losesOf(throws: Prng, faults: { readonly isCalm: boolean }): () => boolean {
  const own = throws.fork("roads");
  return () => !faults.isCalm && own.chance(0.2);
}

/** Answers of the store may overtake each other. */
function readDelaysOf(throws: Prng, faults: { readonly isCalm: boolean }): () => number {
  const own = throws.fork("reads");
  return () => (faults.isCalm || own.chance(0.5) ? 0 : own.below(own.chance(0.1) ? 1_000 : 60));
}

function act(model: HaltModel): void {
  const { throws, fixture } = model;
  const thrown = throws.below(100);
  if (thrown < 33) halt(model);
  else if (thrown < 48) resumeScope(model);
  else if (thrown < 70) askForAll(model);
  else if (thrown < 82) sign(model);
  else if (thrown < 90) killAndStart(model);
  else if (thrown < 96) cutOff(model);
  else if (thrown < 98) fixture.chat.isDown = !fixture.chat.isDown;
  else drill(model);
}

function halt(model: HaltModel): void {
  const { throws, asked } = model;
  const isAgain = asked.length > 0 && throws.chance(0.15);
  const haltId = isAgain ? (one(throws, asked) as string) : `h-${asked.length + 1}`;
  if (!isAgain) asked.push(haltId);
  const by = throws.chance(0.3) ? machine : person(one(throws, haltPeople));
  const word = throws.chance(0.9) ? { confirmation: "HALT" } : {};
  const request = { ...one(throws, scopes), halt_id: haltId, reason: "", requested_by: "x", ...word };
  tell(model, one(throws, services), "RequestHalt", request, by, (answer) =>
    judgeHalted(model, answer as HaltResponse),
  );
}

function resumeScope(model: HaltModel): void {
  const { throws } = model;
  const by = throws.chance(0.1)
    ? machine
    : person(one(throws, haltPeople), throws.chance(0.9) ? ["operator"] : ["viewer"]);
  const forged = throws.chance(0.1) ? { cosigned_by: "operator:somebody" } : {};
  const request = { ...one(throws, targets), ...words(throws), ...forged, halt_ids: [] };
  tell(model, one(throws, services), "ResumeHalt", request, by);
}

function askForAll(model: HaltModel): void {
  const { throws, requests } = model;
  const name = one(throws, haltPeople);
  const request = { ...words(throws), ...codeOf(model, name), halt_ids: [] };
  tell(model, one(throws, services), "ResumeHalt", request, throws.chance(0.9) ? person(name) : machine, (answer) => {
    const { request_id: id } = answer as { readonly request_id?: string };
    if (id === undefined) return;
    requests.push(id);
    // The other one often stands beside; and sometimes it is the same one, with the next code.
    const soon = (run: () => void) => model.fixture.time.timers.after(throws.below(100), run);
    if (throws.chance(0.2)) soon(() => signAs(model, id, name, 30_000));
    else if (throws.chance(0.8)) soon(() => signAs(model, id, haltPeople.find((one) => one !== name) ?? "relief", 0));
  });
}

function sign(model: HaltModel): void {
  const { throws, requests } = model;
  const name = one(throws, haltPeople);
  const known = throws.chance(0.8) ? requests.at(-1) : one(throws, [...requests, "r-0"]);
  const request = { request_id: known ?? "r-0", ...words(throws), ...codeOf(model, name), halt_ids: [] };
  tell(model, one(throws, services), "ResumeHalt", request, throws.chance(0.95) ? person(name) : machine);
}

/** With everything that it takes but, perhaps, being another person. */
function signAs(model: HaltModel, requestId: string, name: string, aheadMs: number): void {
  const shown = { confirmation: "RESUME", one_time_code: model.fixture.codeOf(name, aheadMs) };
  const request = { request_id: requestId, ...shown, halt_ids: [] };
  tell(model, one(model.throws, services), "ResumeHalt", request, person(name));
}

function words(throws: Prng): object {
  return { reason: throws.chance(0.95) ? "over" : "", confirmation: throws.chance(0.95) ? "RESUME" : "no" };
}

function codeOf({ throws, fixture }: HaltModel, name: string): object {
  const thrown = throws.below(10);
  if (thrown === 0) return {};
  return { one_time_code: thrown === 1 ? "wrong" : fixture.codeOf(thrown === 2 ? one(throws, haltPeople) : name) };
}

function killAndStart(model: HaltModel): void {
  const { fixture, throws, counts } = model;
  const service = one(throws, services);
  if (!fixture.isUp(service)) return;
  fixture.kill(service);
  counts.kills += 1;
  if (service === "riskengine") model.cutAtMs = undefined;
  fixture.time.timers.after(throws.below(6_000), () => void startAgain(fixture, service));
}

/** As a supervisor does. */
async function startAgain(fixture: HaltFixture, service: HaltService): Promise<void> {
  for (;;) {
    try {
      await fixture.startSoon(service);
      return;
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      fixture.kill(service);
      await fixture.time.timers.sleep(100);
    }
  }
}

function cutOff(model: HaltModel): void {
  const { fixture, throws } = model;
  const service = one(throws, services);
  if (!fixture.isUp(service)) return;
  fixture.cutOff(service);
  if (service === "riskengine") model.cutAtMs ??= fixture.time.elapsedMs();
  fixture.time.timers.after(throws.below(6_000), () => {
    fixture.comeBack(service);
    if (service === "riskengine") model.cutAtMs = undefined;
  });
}

/** What drills latch is nobody's to lift. */
function drill({ fixture, asked }: HaltModel): void {
  const haltId = `drill-${asked.length}`;
  const scope = { severity: "FUND_HALT", fund_id: "drill" } as const;
  const latched = {
    ...scope,
    reason: "drill",
    requested_by: "operations",
    halt_id: haltId,
    since: "2026-01-02T00:00:00.000000Z",
  };
  fixture.outside.store.transact("scene", (unit) => unit.risk.latchHalt(latched)).catch(() => undefined);
}

function tell(
  model: HaltModel,
  service: HaltService,
  method: string,
  request: object,
  by: Identity,
  answered: (answer: object) => void = () => undefined,
): void {
  const judge = (answer: unknown): void => {
    if ("denial" in (answer as object)) model.counts.refusals += 1;
    else if (by === machine && method === "ResumeHalt") model.complaints.push("2 a machine lifted");
    else answered(answer as object);
  };
  model.fixture.call(service, method, request, by).then(judge, (thrown: unknown) => {
    // Nobody was there, or the store was in trouble: whoever asked knows nothing.
    if (!(thrown instanceof Fault)) model.complaints.push(`${method}: ${messageOf(thrown)}`);
  });
}

/** Answered: it is durable. Acknowledged: whatever engine is there blocks from now on, or says that it does not know. */
function judgeHalted(model: HaltModel, { halt_id: id, acknowledged }: HaltResponse): void {
  const { fixture, complaints, counts } = model;
  counts.halts += 1;
  const isLifted = fixture.tables.risk.liftedHalts.has(id);
  if (!isLifted && !fixture.tables.risk.halts.some((one) => one.halt_id === id)) {
    complaints.push(`1 the halt ${id} was answered and is not latched`);
  }
  if (!acknowledged) return;
  model.acknowledged.add(id);
  judgeBelief(model, "as it was acknowledged");
}

/** An engine never believes less than the epoch says that it knows, nor less than was acknowledged, and says so when it cannot know. */
function judgeBelief({ fixture, complaints, cutAtMs, acknowledged }: HaltModel, when: string): void {
  const believed = fixture.believed();
  if (believed === undefined) return;
  if (cutAtMs !== undefined && fixture.time.elapsedMs() - cutAtMs > 2_600 && believed.known) {
    complaints.push(`unknown is halted: the engine still claims to know ${when}`);
  }
  for (const { halt_id: id, epoch } of fixture.tables.risk.halts) {
    if (believed.active.some((one) => one.halt_id === id)) continue;
    if (epoch <= believed.epoch) {
      complaints.push(`the engine knows epoch ${believed.epoch} and not the halt ${id} ${when}`);
    } else if (believed.known && acknowledged.has(id)) {
      complaints.push(`the halt ${id} is acknowledged and not blocked ${when}`);
    }
  }
}

/** Everybody is there again, and what is owed is done. */
async function settle(model: HaltModel): Promise<void> {
  const { fixture } = model;
  for (const service of services) fixture.comeBack(service);
  model.cutAtMs = undefined;
  await fixture.pass(15_000);
  for (const service of services) {
    if (!fixture.isUp(service)) await fixture.start(service);
  }
  await fixture.pass(10_000);
}

function judgeEnd({ fixture, complaints }: HaltModel): void {
  const { halts } = fixture.tables.risk;
  const ids = halts.map(({ halt_id: id }) => id).sort();
  const believed = fixture.believed();
  const known = believed?.active.map(({ halt_id: id }) => id).sort();
  if (believed?.known !== true || believed.epoch !== fixture.tables.risk.haltEpoch || String(known) !== String(ids)) {
    complaints.push(`at the end ${ids} are in force, and the engine believes ${known}`);
  }
  for (const id of ids) {
    if (!fixture.tables.halts.reported.has(`operations ${id}`)) complaints.push(`the halt ${id} was never adopted`);
    for (const step of ["BLOCKED", "CANCELLED", "NOTIFIED"]) {
      if (!fixture.tables.halts.steps.has(`${step} ${id}`)) complaints.push(`${step} of ${id} was never proven`);
    }
  }
}

function one<Item>(throws: Prng, items: readonly Item[]): Item {
  return items[throws.below(items.length)] as Item;
}
