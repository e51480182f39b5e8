// One run of the repository bot: reader, mind, writer. Whoever reads, thinks and writes are apart: the reader's token may only read, the mind has no token and
// no network, and the writer makes what follows from a plan that was held against the thread as it is at that moment.
//
// What a run keeps:
//  1. Nothing is written that core/bots/check-plan.ts did not make of the plan, and nothing without asking about pause right before.
//  2. Whoever commands or labels is asked about at GitHub when it acts: only a person with write counts, and no answer is a no.
//  3. Money is reserved before a question is asked and settled at every end; a run that asked nothing and wrote nothing costs nothing.
//  4. A run that is tried again looks before it repeats.
//  5. Every end has a reason, also why it did not act.
import { Fault } from "../../contracts/src/fault.ts";
import { runCost } from "../../core/bots/budget.ts";
import { keeperPermissions, type Persona, personaOf, readerPermissions } from "../../core/bots/personas.ts";
import { renderKeeper, renderUnprotected, skippedForBudget } from "../../core/bots/render.ts";
import { readSettings, settingsBytesMax, settingsPath } from "../../core/bots/repository-settings.ts";
import type { ForgeApp, ForgeCall, ForgeIssue, Permissions, RepositoryForge } from "../../ports/forge.ts";
import type { Sha256 } from "../../ports/hashing.ts";
import type { Mind } from "../../ports/mind.ts";
import { type BotModel, costMost, createAsking, nothingSpent, promptBytes, type Spent } from "./ask-model.ts";
import { type Gathered, gather, mayWrite } from "./gather.ts";
import type { Job, JobEnd, JobPorts, JobStatus, RunJob } from "./job.ts";
import { planWrites } from "./plan-writes.ts";
import { Paused, writeAll, writeSection } from "./write-plan.ts";

interface RunnerParts {
  readonly forge: ForgeApp;
  readonly mind: Mind;
  /** Undefined where none is configured, or one without prices. */
  readonly model: BotModel | undefined;
  readonly sha256: Sha256;
  readonly settings: { readonly expensiveNano: Readonly<Record<string, bigint>> };
}

interface Run {
  readonly job: Job;
  readonly ports: JobPorts;
  readonly parts: RunnerParts;
  readonly calls: ForgeCall[];
  readonly open: RepositoryForge[];
  byWriter: boolean | undefined;
  spent: Spent;
  /** What it costs once it asked or wrote. */
  isReserved: boolean;
  hasWritten: boolean;
  plan: unknown;
}

/** An end before the last line: why it does not act, or did not. */
class Ended extends Error {
  readonly status: JobStatus;
  readonly code: string | undefined;

  constructor(status: JobStatus, code: string | undefined, reason: string) {
    super(reason);
    this.status = status;
    this.code = code;
  }
}

const callsMax = 200;

export function openRunJob(parts: RunnerParts): RunJob {
  return async (job, ports) => {
    const run: Run = {
      job,
      ports,
      parts,
      calls: [],
      open: [],
      byWriter: job.byWriter,
      spent: nothingSpent(),
      isReserved: false,
      hasWritten: false,
      plan: undefined,
    };
    try {
      const reason = await (job.persona === "keeper" ? keep(run) : act(run, personaOf(job.persona)));
      return await ended(run, "DONE", undefined, reason);
    } catch (thrown) {
      return await endedBy(run, thrown);
    } finally {
      for (const forge of run.open) await forge.close();
    }
  };
}

async function openForge(run: Run, permissions: Permissions): Promise<RepositoryForge> {
  const { installationId, repository } = run.job;
  const forge = await run.parts.forge.repository(installationId, repository, permissions, (call) => {
    if (run.calls.length < callsMax) run.calls.push(call);
  });
  run.open.push(forge);
  return forge;
}

async function endedBy(run: Run, thrown: unknown): Promise<JobEnd> {
  if (thrown instanceof Paused) return ended(run, "SKIPPED", "BOT_PAUSED", thrown.message);
  if (thrown instanceof Ended) return ended(run, thrown.status, thrown.code, thrown.message);
  if (!(thrown instanceof Fault)) throw thrown;
  if (thrown.code === "GITHUB_REFUSED") return ended(run, "FAILED", thrown.code, thrown.message);
  if (thrown.code !== "GITHUB_UNAVAILABLE") throw thrown;
  const waitMs = thrown.facts["retryAfterMs"];
  const end = await ended(run, "LATER", thrown.code, thrown.message);
  return typeof waitMs === "number" ? { ...end, retryAfterMs: waitMs } : end;
}

async function ended(run: Run, status: JobStatus, code: string | undefined, reason: string): Promise<JobEnd> {
  const { spent, job, ports, parts } = run;
  const isFree = !run.hasWritten && spent.promptSha256 === undefined;
  const costNano = isFree ? 0n : runCost(parts.settings.expensiveNano[job.persona], spent.nano);
  if (run.isReserved) await ports.budget.settle({ nano: costNano });
  return {
    status,
    code,
    reason,
    byWriter: run.byWriter,
    model: spent.model,
    promptSha256: spent.promptSha256,
    inputTokens: spent.inputTokens,
    outputTokens: spent.outputTokens,
    costNano,
    isolation: parts.mind.isolation,
    plan: run.plan,
    calls: run.calls,
  };
}

/** `pause`, `resume` and `help`. */
async function keep(run: Run): Promise<string> {
  const { job, ports } = run;
  const reader = await openForge(run, readerPermissions);
  await mustBePermitted(run, reader);
  const { defaultBranch } = await reader.facts();
  // Pausing stops what writes, so it is said before it stands; resuming, after.
  if (job.command === "resume") await ports.runs.pauseThread(false);
  const forge = await openForge(run, keeperPermissions);
  const writing = { job, runs: ports.runs, forge, persona: "keeper", defaultBranch } as const;
  try {
    await writeSection(writing, renderKeeper(job.command, job.appSlug));
  } finally {
    if (job.command === "pause") await ports.runs.pauseThread(true);
  }
  return `${job.requestedBy} asked for ${job.command ?? "help"}.`;
}

async function act(run: Run, persona: Persona): Promise<string> {
  const reader = await openForge(run, readerPermissions);
  await mustBePermitted(run, reader);
  const may = await run.ports.runs.mayWrite();
  if (may !== true) throw new Ended("SKIPPED", "BOT_PAUSED", may.reason);
  const { defaultBranch, htmlUrl } = await reader.facts();
  const settings = readSettings(await settingsOf(reader, defaultBranch));
  if (settings.off.has(persona.name)) {
    throw new Ended("SKIPPED", undefined, `${settingsPath} of the default branch turns ${persona.name} off.`);
  }
  const issue = await reader.issue(run.job.number);
  await mustFit(run, persona, issue, reader);
  if (persona.name === "bug_fixer" && !(await reader.isProtected(defaultBranch))) {
    await sayUnprotected(run, defaultBranch);
    throw new Ended("SKIPPED", "BOT_BRANCH_UNPROTECTED", `The default branch ${defaultBranch} is not protected.`);
  }
  const { model } = run.parts;
  const gathered = await gather(persona.name, {
    forge: reader,
    issue,
    settings,
    defaultBranch,
    hasModel: model !== undefined,
  });
  const bytes = promptBytes(persona, gathered.material);
  await reserve(run, persona, costMost(persona, model, bytes), defaultBranch);
  const said = await thought(run, persona, gathered, bytes);
  // Again, and with everything that may have changed while the mind was at work.
  await mustBePermitted(run, reader);
  const how = { repositoryUrl: htmlUrl, by: said.by, model: run.spent.model };
  const checked = await planWrites({ reader, job: run.job, persona, settings, gathered, said, how });
  run.plan = checked.plan;
  if ("refused" in checked) throw new Ended("FAILED", "BOT_PLAN_REFUSED", checked.refused);
  if (checked.writes.length === 0) return "There was nothing to say.";
  const forge = await openForge(run, persona.permissions);
  run.hasWritten = true;
  const made = await writeAll(
    { job: run.job, runs: run.ports.runs, forge, persona: persona.name, defaultBranch },
    checked.writes,
  );
  return made === 0
    ? "The comment of the thread was deleted by a person; a command brings it back."
    : `${persona.name} wrote ${checked.writes.map(({ kind }) => kind).join(" and ")}.`;
}

/** Also of whoever opened, because what nobody with write asked for has a budget of its own. */
async function mustBePermitted(run: Run, reader: RepositoryForge): Promise<void> {
  const { requestedBy, trigger } = run.job;
  const isPerson = !requestedBy.endsWith("[bot]") && requestedBy !== "";
  const permission = isPerson ? await permissionOf(reader, requestedBy) : "none";
  run.byWriter = mayWrite(permission);
  if (run.byWriter || trigger === "opened" || trigger === "ready") return;
  const reason = `${requestedBy} has the permission ${permission} and may not command the bot; write is needed.`;
  throw new Ended("SKIPPED", "BOT_NOT_PERMITTED", reason);
}

async function permissionOf(reader: RepositoryForge, user: string): Promise<string> {
  try {
    return await reader.permission(user);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.retry === "never") return "unknown";
    throw thrown;
  }
}

async function settingsOf(reader: RepositoryForge, defaultBranch: string): Promise<string | undefined> {
  const head = await reader.headOf(defaultBranch);
  if (head === undefined) return undefined;
  const entry = (await reader.tree(head)).find(
    ({ path, type, size }) => path === settingsPath && type === "blob" && size <= settingsBytesMax,
  );
  return entry === undefined ? undefined : reader.blob(entry.sha);
}

async function mustFit({ job }: Run, persona: Persona, issue: ForgeIssue, reader: RepositoryForge): Promise<void> {
  if (!issue.isOpen || issue.isLocked) {
    throw new Ended("SKIPPED", undefined, `Number ${issue.number} is ${issue.isOpen ? "locked" : "closed"}.`);
  }
  const kind = issue.isPull ? "pull_request" : "issue";
  if (kind === persona.worksOn) {
    if (job.trigger === "labelled" && !issue.labels.includes("bot:fix"))
      throw new Ended("SKIPPED", undefined, "The label is gone.");
    return;
  }
  if (issue.isPull) {
    const { headRepository } = await reader.pull(issue.number);
    if (headRepository?.toLowerCase() !== job.repository.toLowerCase()) {
      throw new Ended("SKIPPED", "BOT_FORK", "The pull request comes from a fork, which is only reviewed.");
    }
  }
  throw new Ended(
    "SKIPPED",
    undefined,
    `${persona.name} works on ${persona.worksOn === "issue" ? "issues" : "pull requests"} alone.`,
  );
}

async function reserve(run: Run, persona: Persona, asking: bigint, defaultBranch: string): Promise<void> {
  const { job, ports, parts } = run;
  const nano = runCost(parts.settings.expensiveNano[persona.name], asking);
  const answer = await ports.budget.reserve({ byWriter: run.byWriter === true, nano });
  if (answer.kind === "reserved") {
    run.isReserved = true;
    return;
  }
  const isSilent = answer.which === "person" || (answer.which === "strangers" && run.byWriter !== true);
  if (!isSilent && (await ports.runs.skipNoticeOnce())) {
    await say(run, persona.name, skippedForBudget, defaultBranch);
  }
  throw new Ended("SKIPPED", answer.code, `${answer.reason} Run ${job.runId} was skipped.`);
}

async function sayUnprotected(run: Run, defaultBranch: string): Promise<void> {
  await say(run, "bug_fixer", renderUnprotected(defaultBranch), defaultBranch);
}

/** A skip and its comment cost nothing. */
async function say(run: Run, persona: Persona["name"], markdown: string, defaultBranch: string): Promise<void> {
  const forge = await openForge(run, keeperPermissions);
  await writeSection({ job: run.job, runs: run.ports.runs, forge, persona, defaultBranch }, markdown);
}

async function thought(
  run: Run,
  persona: Persona,
  gathered: Gathered,
  bytes: readonly number[],
): Promise<{ readonly by: "rules" | "model"; readonly plan: unknown }> {
  const { parts, ports } = run;
  const asking = createAsking(persona, { model: parts.model, bytes }, parts.sha256, ports.signal);
  run.spent = asking.spent;
  const end = await parts.mind.think({
    material: gathered.material,
    deadlineMs: persona.deadlineMs,
    signal: ports.signal,
    ask: (text) => asking.ask(text),
  });
  if (end.kind === "failed") throw new Ended("FAILED", "BOT_PLAN_REFUSED", `No plan was made: ${end.why}.`);
  const said = end.said as { readonly by?: unknown; readonly plan?: unknown } | null;
  // A mind that says that a model spoke where none did is not believed.
  const by = said?.by === "model" && run.spent.model !== undefined ? "model" : "rules";
  return { by, plan: said?.plan };
}
