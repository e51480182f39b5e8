// Halts that are raised and lifted while processes are killed at a commit: every unit of work that a request leads to is a place, before it is
// durable and after it is durable and before anybody has heard so. Everybody gets up again in any order, and what is in force, what was reported
// and what was proven is held against what the caller was told. The caller then asks again, as callers do.

import { messageOf } from "../contracts/src/fault.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { type HaltFixture, type HaltService, haltFixture, person } from "./halt-fixture.ts";
import type { MemoryFaults } from "./memory/faults.ts";
import { ignoreEndedIncarnations } from "./virtual/incarnation.ts";
import { type Prng, prng } from "./virtual/prng.ts";

export type Asked = "halt" | "resume a scope" | "ask to lift all" | "sign";
export interface HaltScene {
  readonly asked: Asked;
  readonly through: HaltService;
}

export interface CrashPlace {
  /** Which of the commits, counted from the request on. */
  readonly commit: number;
  readonly when: "before it is durable" | "before it is heard";
  readonly victims: readonly HaltService[];
}

export interface CrashRun {
  readonly complaints: readonly string[];
  /** The units of work that were committed from the request on, until everything was done. */
  readonly commits: readonly string[];
  readonly wasAnswered: boolean;
  /** Whether what was asked for had happened when everybody was up again. */
  readonly hasHappened: boolean;
}

const both: readonly HaltService[] = ["operations", "riskengine"];
export const haltScenes: readonly HaltScene[] = (
  ["halt", "resume a scope", "ask to lift all", "sign"] as const
).flatMap((asked) => both.map((through) => ({ asked, through })));
export const victimSets: readonly (readonly HaltService[])[] = [both, ["operations"], ["riskengine"]];

/** What a request of these scenes commits; leases and the like are no places. */
const ofHalts = /^(halts\.|risk\.halt$|identity\.)/;
const ofEngine = /^risk\./;
const ofManager = /^halts\.(latch|adopt|step)$/;
const duty = person("duty");
const relief = person("relief");
const before = ["h-firm", "h-alpha-1", "h-alpha-2", "h-momentum"];
const scopes = [
  { severity: "FIRM_HALT", fund_id: "" },
  { severity: "FUND_HALT", fund_id: "alpha" },
  { severity: "FUND_HALT", fund_id: "alpha" },
  { severity: "STRATEGY_HALT", fund_id: "", strategy_id: "alpha-momentum" },
];

interface Watch {
  armed: boolean;
  struck: boolean;
  /** Strikes once the commit that is under way is durable. */
  isDue: boolean;
  readonly commits: string[];
  strike: () => void;
}

export async function runHaltCrash(seed: number, scene: HaltScene, place?: CrashPlace): Promise<CrashRun> {
  const stopIgnoring = ignoreEndedIncarnations();
  try {
    return await run(seed, scene, place);
  } finally {
    stopIgnoring();
  }
}

async function run(seed: number, scene: HaltScene, place: CrashPlace | undefined): Promise<CrashRun> {
  const throws = prng(seed).fork("halt crash");
  const watch: Watch = { armed: false, struck: false, isDue: false, commits: [], strike: () => undefined };
  const fixture = await haltFixture({ seed, faults: faultsOf(watch, scene, place) });
  watch.strike = () => {
    watch.struck = true;
    for (const victim of place?.victims ?? []) fixture.kill(victim);
  };
  for (const service of both) await fixture.start(service);
  const setting = await setScene(fixture, scene);
  watch.armed = true;
  let answer: object | undefined;
  const complaints: string[] = [];
  fixture.call(scene.through, ...setting.request()).then(
    (reported) => {
      answer = reported as object;
    },
    // Whoever got no answer knows nothing: it is judged by what is in force.
    (thrown: unknown) => void (watch.struck || complaints.push(`the request failed: ${messageOf(thrown)}`)),
  );
  await fixture.pass(12_000);
  watch.armed = false;
  if (place !== undefined && !watch.struck) complaints.push("the place was not come by");
  await getUp(fixture, throws);
  const answered = answer !== undefined && !("denial" in answer);
  const hasHappened = setting.hasHappened();
  if (answered && !hasHappened) complaints.push("it was answered and has not happened");
  complaints.push(...setting.torn(), ...judge(fixture));
  if (complaints.length === 0) complaints.push(...(await again(fixture, scene, setting, hasHappened)));
  return { complaints: [...complaints, ...fixture.deaths], commits: watch.commits, wasAnswered: answered, hasHappened };
}

function faultsOf(watch: Watch, { through }: HaltScene, place: CrashPlace | undefined): Partial<MemoryFaults> {
  return {
    commit(name) {
      if (!watch.armed || watch.struck || !ofHalts.test(name)) return "committed";
      const index = watch.commits.push(name) - 1;
      if (place === undefined || index !== place.commit) return "committed";
      const committer = ofEngine.test(name) ? "riskengine" : ofManager.test(name) ? "operations" : through;
      if (place.when === "before it is heard") {
        watch.isDue = true;
        return "committed";
      }
      watch.strike();
      return place.victims.includes(committer) ? "lost, not committed" : "committed";
    },
    answerDelayMs() {
      if (watch.isDue) watch.strike();
      watch.isDue = false;
      return 0;
    },
  };
}

interface Setting {
  readonly request: () => [method: string, request: object, by: typeof duty];
  hasHappened(): boolean;
  /** What happened by half. */
  torn(): readonly string[];
}

async function setScene(fixture: HaltFixture, { asked, through }: HaltScene): Promise<Setting> {
  if (asked === "halt") return haltSetting(fixture);
  for (const [index, scope] of scopes.entries()) {
    const request = { ...scope, halt_id: before[index], reason: "", requested_by: "", confirmation: "HALT" };
    await fixture.ask(through, "RequestHalt", request, duty);
  }
  await fixture.pass(5_000);
  const resume = { reason: "over", confirmation: "RESUME", halt_ids: [] };
  const all = () => ({ ...resume, one_time_code: fixture.codeOf("duty") });
  if (asked === "resume a scope") {
    return liftSetting(fixture, ["h-alpha-1", "h-alpha-2"], () => [
      "ResumeHalt",
      { ...resume, fund_id: "alpha" },
      duty,
    ]);
  }
  if (asked === "ask to lift all") return askSetting(fixture, () => ["ResumeHalt", all(), duty]);
  const { request_id: id } = (await fixture.ask(through, "ResumeHalt", all(), duty)) as { readonly request_id: string };
  return liftSetting(fixture, before, () => [
    "ResumeHalt",
    { confirmation: "RESUME", request_id: id, one_time_code: fixture.codeOf("relief"), halt_ids: [] },
    relief,
  ]);
}

function haltSetting(fixture: HaltFixture): Setting {
  const scope = { severity: "FUND_HALT", fund_id: "beta" };
  return {
    request: () => [
      "RequestHalt",
      { ...scope, halt_id: "h-new", reason: "", requested_by: "", confirmation: "HALT" },
      duty,
    ],
    hasHappened: () => fixture.tables.risk.halts.some(({ halt_id: id }) => id === "h-new"),
    torn: () => [],
  };
}

function askSetting(fixture: HaltFixture, request: Setting["request"]): Setting {
  const recorded = () => [...fixture.tables.halts.resumes.values()].filter(({ ended }) => ended === undefined);
  return {
    request,
    hasHappened: () => recorded().length === 1,
    torn: () => [
      ...(fixture.tables.risk.liftedHalts.size > 0 ? ["a request alone lifted something"] : []),
      ...(fixture.published(subjects.resumeRequested).length === recorded().length
        ? []
        : ["a request was reported more or less often than it is recorded"]),
    ],
  };
}

/** All of these, in one epoch, each reported once with who asked and who signed; or none of them, and nothing reported. */
function liftSetting(fixture: HaltFixture, ids: readonly string[], request: Setting["request"]): Setting {
  const lifted = () => ids.filter((id) => fixture.tables.risk.liftedHalts.has(id));
  return {
    request,
    hasHappened: () => lifted().length === ids.length,
    torn() {
      const reported = fixture.published(subjects.haltLifted);
      const gone = lifted();
      const signers = ids.length === before.length ? "operator:duty operator:relief" : "operator:duty operator:duty";
      return [
        ...(gone.length === 0 || gone.length === ids.length ? [] : [`lifted by half: ${gone}`]),
        ...(String(reported.map(({ halt_id: id }) => id).sort()) === String([...gone].sort())
          ? []
          : ["lifts are not as reported"]),
        ...(new Set(reported.map(({ epoch }) => epoch)).size > 1 ? ["one lift has two epochs"] : []),
        ...reported
          .filter((one) => `${one.requested_by} ${one.cosigned_by}` !== signers)
          .map((one) => `lifted by ${one.requested_by} and ${one.cosigned_by}`),
        ...before
          .filter((id) => !ids.includes(id) && !fixture.tables.risk.halts.some((one) => one.halt_id === id))
          .map((id) => `${id} is gone, and nobody lifted it`),
      ];
    },
  };
}

/** Whoever is down comes back, in any order and with any pause. */
async function getUp(fixture: HaltFixture, throws: Prng): Promise<void> {
  const order = throws.chance(0.5) ? both : [...both].reverse();
  for (const service of order) {
    await fixture.pass(throws.below(7_000));
    if (!fixture.isUp(service)) await fixture.start(service);
  }
  await fixture.pass(20_000);
}

/** What is true whatever was killed: the engine knows what is in force, and what follows each halt was reported and proven exactly once. */
function judge(fixture: HaltFixture): readonly string[] {
  const wrong: string[] = [];
  const ids = fixture.tables.risk.halts.map(({ halt_id: id }) => id).sort();
  const believed = fixture.believed();
  const known = believed?.active.map(({ halt_id: id }) => id).sort();
  if (believed?.known !== true || String(known) !== String(ids)) {
    wrong.push(`${ids} are in force, and the engine believes ${known}`);
  }
  const steps = fixture.published(subjects.haltStep).map(({ halt_id: id, step }) => `${step} ${id}`);
  const reported = fixture.published(subjects.haltRequested).map(({ halt_id: id }) => id);
  for (const id of ids) {
    for (const step of ["BLOCKED", "CANCELLED", "NOTIFIED"]) {
      const times = steps.filter((one) => one === `${step} ${id}`).length;
      if (times !== 1) wrong.push(`${step} of ${id} was reported ${times} times`);
    }
    const times = reported.filter((one) => one === id).length;
    if (times !== 1) wrong.push(`the manager reported ${id} ${times} times`);
  }
  return wrong;
}

/** A caller that asks again is told the truth, and then it has happened, once. */
async function again(
  fixture: HaltFixture,
  { asked, through }: HaltScene,
  setting: Setting,
  hadHappened: boolean,
): Promise<readonly string[]> {
  // The next code: the one that was shown is used up.
  await fixture.pass(60_000);
  const answer = (await fixture.ask(through, ...setting.request())) as { readonly denial?: { readonly code: string } };
  const code = answer.denial?.code ?? "done";
  const expected = {
    halt: "done",
    "resume a scope": hadHappened ? "HALT_NOT_ACTIVE" : "done",
    // A second request replaces the first.
    "ask to lift all": "done",
    sign: hadHappened ? "RESUME_REQUEST_UNKNOWN" : "done",
  }[asked];
  await fixture.pass(20_000);
  return [
    ...(code === expected ? [] : [`asked again, it was ${code} instead of ${expected}`]),
    ...(setting.hasHappened() ? [] : ["asked again, it did not happen"]),
    ...(asked === "ask to lift all" ? [] : setting.torn()),
    ...judge(fixture),
  ];
}

/** Every commit, before and after it is durable; what only looks changes nothing, so there it is all one. */
export function crashPlaces(
  commits: readonly string[],
  victimsAt: (turn: number) => readonly (readonly HaltService[])[],
): readonly CrashPlace[] {
  const whens = ["before it is heard", "before it is durable"] as const;
  return commits.flatMap((name, commit) =>
    whens
      .slice(0, name === "halts.look" ? 1 : 2)
      .flatMap((when, turn) => victimsAt(commit + turn).map((victims) => ({ commit, when, victims }))),
  );
}
