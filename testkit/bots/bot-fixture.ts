// A repository bot without a database, sockets or processes: the product's runner and its adapter of GitHub, a GitHub of our own in memory, a mind that thinks in
// this process, and a store whose rows outlive a run that was killed.
import { createHash, randomUUID } from "node:crypto";
import { openGithub } from "../../adapters/github/open-github.ts";
import { similarTexts } from "../../adapters/search/similar-texts.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { type BudgetStanding, judgeReservation, nanoOf } from "../../core/bots/budget.ts";
import type { Material } from "../../core/bots/material.ts";
import { think } from "../../core/bots/mind/think.ts";
import type { Mind } from "../../ports/mind.ts";
import type { BotModel } from "../../services/bots/ask-model.ts";
import type { Budget, Intent, Job, JobEnd, RunStore, Sticky } from "../../services/bots/job.ts";
import { openRunJob } from "../../services/bots/run-job.ts";
import { githubFetch } from "../github/github-server.ts";
import { addRepository, createHub, type HubRepository, type HubState } from "../github/github-state.ts";

export const memoryMind: Mind = {
  isolation: "process",
  async think({ material, ask }) {
    const thinking = think(material as Material, similarTexts);
    let step = thinking.next();
    while (step.done !== true) step = thinking.next(await ask(step.value));
    return { kind: "said", said: step.value };
  },
};

/** A mind that says this, whatever it was given. */
export function mindOf(said: unknown): Mind {
  return { isolation: "process", think: async () => ({ kind: "said", said }) };
}

interface Rows {
  readonly intents: Map<string, Intent[]>;
  readonly sticky: Map<number, Sticky>;
  readonly noticed: Set<number>;
  readonly pausedThreads: Set<number>;
  readonly budget: { dayNano: bigint; repositoryNano: bigint; strangersNano: bigint; personRuns: Map<string, number> };
  isPaused: boolean;
}

export interface BotFixture {
  readonly hub: HubState;
  readonly repository: HubRepository;
  readonly rows: Rows;
  /** Runs before each call of the store and of GitHub; one that throws kills the run there. */
  before: (what: string) => void;
  job(more?: Partial<Job>): Job;
  run(job: Job): Promise<JobEnd>;
}

interface Options {
  readonly files?: Readonly<Record<string, string>>;
  readonly mind?: Mind;
  readonly model?: BotModel;
  readonly caps?: { readonly daily: string; readonly perRepository: string };
}

export function botFixture({
  files = {},
  mind = memoryMind,
  model,
  caps = { daily: "5", perRepository: "1" },
}: Options = {}): BotFixture {
  const hub = createHub();
  const repository = addRepository(hub, "acme/widgets", { "README.md": "# Widgets\n", ...files });
  const rows: Rows = {
    intents: new Map(),
    sticky: new Map(),
    noticed: new Set(),
    pausedThreads: new Set(),
    budget: { dayNano: 0n, repositoryNano: 0n, strangersNano: 0n, personRuns: new Map() },
    isPaused: false,
  };
  const net = githubFetch(hub);
  const fixture: BotFixture = {
    hub,
    repository,
    rows,
    before: () => undefined,
    job: (more = {}) => ({
      runId: randomUUID(),
      deliveryId: randomUUID(),
      installationId: hub.installation.id,
      appId: hub.app.id,
      appSlug: hub.app.slug,
      repository: repository.name,
      number: 1,
      persona: "triager",
      trigger: "opened",
      command: undefined,
      requestedBy: "stranger",
      commentId: undefined,
      headSha: undefined,
      attempt: 1,
      byWriter: undefined,
      intents: [],
      ...more,
    }),
    run: (job) =>
      runJob(job, {
        runs: storeOf(fixture, job),
        budget: budgetOf(fixture, job, caps),
        signal: new AbortController().signal,
      }),
  };
  const forge = openGithub({
    apiUrl: "http://hub.test",
    appId: hub.app.id,
    privateKey: hub.app.privateKey,
    clock: systemClock(),
    isPaced: false,
    fetch: async (url, init) => {
      fixture.before(`ask ${init.method}`);
      const answer = await net(url, init);
      fixture.before(`answered ${init.method}`);
      return answer;
    },
  });
  const sha256 = (content: string | Uint8Array): Uint8Array => createHash("sha256").update(content).digest();
  const settings = { expensiveNano: { bug_fixer: nanoOf("0.20") } };
  const runJob = openRunJob({ forge, mind, model, sha256, settings });
  return fixture;
}

function storeOf(fixture: BotFixture, job: Job): RunStore {
  const { rows } = fixture;
  const intents = rows.intents.get(job.runId) ?? [];
  rows.intents.set(job.runId, intents);
  return {
    async intend(name, marker) {
      fixture.before(`intend ${name}`);
      const stored = intents.find((each) => each.name === name);
      if (stored !== undefined) return stored;
      const made = { name, marker, result: undefined };
      intents.push(made);
      return made;
    },
    async done(name, result) {
      fixture.before(`done ${name}`);
      const at = intents.findIndex((each) => each.name === name);
      const found = intents[at];
      if (found !== undefined) intents[at] = { ...found, result };
    },
    async sticky() {
      fixture.before("sticky");
      return rows.sticky.get(job.number);
    },
    async keepSticky(sticky) {
      fixture.before("keepSticky");
      rows.sticky.set(job.number, sticky);
    },
    async mayWrite() {
      fixture.before("mayWrite");
      return rows.isPaused || rows.pausedThreads.has(job.number)
        ? { code: "BOT_PAUSED", reason: "Paused by ops." }
        : true;
    },
    async pauseThread(isPaused) {
      fixture.before("pauseThread");
      if (isPaused) rows.pausedThreads.add(job.number);
      else rows.pausedThreads.delete(job.number);
    },
    async skipNoticeOnce() {
      fixture.before("skipNoticeOnce");
      const isFirst = !rows.noticed.has(job.number);
      rows.noticed.add(job.number);
      return isFirst;
    },
  };
}

function budgetOf(
  fixture: BotFixture,
  job: Job,
  caps: { readonly daily: string; readonly perRepository: string },
): Budget {
  const { budget } = fixture.rows;
  let held = 0n;
  return {
    async reserve({ byWriter, nano }) {
      fixture.before("reserve");
      const standing: BudgetStanding = {
        dayNano: budget.dayNano,
        repositoryNano: budget.repositoryNano,
        dayStrangersNano: budget.strangersNano,
        repositoryStrangersNano: budget.strangersNano,
        personRuns: budget.personRuns.get(job.requestedBy) ?? 0,
      };
      const no = judgeReservation(
        standing,
        { dailyNano: nanoOf(caps.daily), perRepositoryNano: nanoOf(caps.perRepository) },
        { byWriter, nano },
      );
      if (no !== undefined) return { kind: "refused", code: "BOT_BUDGET_USED_UP", ...no };
      held = nano;
      budget.dayNano += nano;
      budget.repositoryNano += nano;
      if (!byWriter) budget.strangersNano += nano;
      budget.personRuns.set(job.requestedBy, standing.personRuns + 1);
      return { kind: "reserved" };
    },
    async settle({ nano }) {
      fixture.before("settle");
      budget.dayNano += nano - held;
      budget.repositoryNano += nano - held;
      held = nano;
    },
  };
}

/** What was written at GitHub, in order, without tokens that come and go. */
export function writesAt(hub: HubState): readonly string[] {
  return hub.requests
    .filter(({ method, path }) => method !== "GET" && !/access_tokens$|^\/installation\/token$/.test(path))
    .map(({ method, path }) => `${method} ${path}`);
}
