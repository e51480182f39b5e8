// Takes up runs and brings each to its end. Runs of one thread come one after another, because they share a comment; a run whose process died is taken up again
// with what it had intended, so that it looks before it writes.
import { messageOf } from "../../contracts/src/fault.ts";
import { format, plusMilliseconds } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { textOf } from "../../core/bots/budget.ts";
import type { BotInstallation, BotRun } from "../../ports/bot-records.ts";
import type { AtGithub, BotPorts } from "./bot-ports.ts";
import { budgetOf } from "./budget.ts";
import type { JobEnd } from "./job.ts";
import { runStoreOf } from "./run-store.ts";

const atOnceMax = 4;
const looksMax = 200;
const attemptsMax = 20;
const retryMsMin = 5_000;
const retryMsMax = 15 * 60_000;
const planBytesMax = 65_536;

interface RunQueue {
  /** Begins what is due and answers how many runs are open. */
  look(installation: BotInstallation, github: AtGithub): Promise<number>;
  /** Ends the runs that have not begun. */
  skipAll(reason: string): Promise<void>;
  stop(): Promise<void>;
}

export function runQueue(ports: BotPorts, wake: () => void): RunQueue {
  const working = new Map<string, Promise<void>>();
  const ending = new AbortController();
  const threadOf = ({ repository, number }: BotRun): string => `${repository.toLowerCase()} ${number}`;

  return {
    async look(installation, github) {
      const { open, alive } = await ports.store.transact("bots.look", async ({ bots, instances }) => ({
        open: await bots.openRuns(looksMax),
        alive: new Set((await instances.alive(ports.clock.now())).map(({ incarnation }) => incarnation)),
      }));
      const busy = new Set(working.keys());
      for (const run of open) {
        const thread = threadOf(run);
        const isFree = !busy.has(thread);
        busy.add(thread);
        if (!isFree || working.size >= atOnceMax || !isTakeable(run, alive, ports)) continue;
        const work = workOn(ports, run, installation, github, ending.signal)
          .catch((thrown: unknown) =>
            ports.log.warn("a run of the bot is left for later", { run_id: run.runId, error: messageOf(thrown) }),
          )
          .finally(() => {
            working.delete(thread);
            wake();
          });
        working.set(thread, work);
      }
      return open.length;
    },
    async skipAll(reason) {
      const open = await ports.store.transact("bots.look", ({ bots }) => bots.openRuns(looksMax));
      for (const run of open)
        await endRun(ports, run, { ...nothing, status: "SKIPPED", code: "BOT_NOT_INSTALLED", reason });
    },
    async stop() {
      ending.abort();
      await Promise.all(working.values());
    },
  };
}

const nothing = {
  byWriter: undefined,
  model: undefined,
  promptSha256: undefined,
  inputTokens: undefined,
  outputTokens: undefined,
  costNano: 0n,
  isolation: undefined,
  plan: undefined,
  calls: [],
} as const;

/** Due, and not in the hands of a process that lives. */
function isTakeable(run: BotRun, alive: ReadonlySet<string>, { clock, holder }: BotPorts): boolean {
  if (run.nextAt > clock.now()) return false;
  if (run.status === "QUEUED") return true;
  return run.holder === undefined || run.holder === holder() || !alive.has(run.holder);
}

async function workOn(
  ports: BotPorts,
  queued: BotRun,
  installation: BotInstallation,
  github: AtGithub,
  signal: AbortSignal,
): Promise<void> {
  const holder = ports.holder();
  if (holder === undefined) return;
  const begun = await ports.store.transact("bots.take", async ({ bots }) => {
    const run = await bots.updateRun({ ...queued, status: "RUNNING", holder, attempts: queued.attempts + 1 });
    return run === undefined ? undefined : { run, intents: await bots.intents(run.runId) };
  });
  // Somebody else has it.
  if (begun === undefined) return;
  const { run, intents } = begun;
  const job = {
    runId: run.runId,
    deliveryId: run.deliveryId,
    installationId: installation.installationId,
    appId: installation.appId,
    appSlug: installation.appSlug,
    repository: run.repository,
    number: run.number,
    persona: run.persona,
    trigger: run.trigger,
    command: run.command,
    requestedBy: run.requestedBy,
    commentId: run.commentId,
    headSha: run.headSha,
    attempt: run.attempts,
    byWriter: run.byWriter,
    intents: intents.map(({ name, marker, result }) => ({ name, marker, result })),
  };
  const end = await github
    .runJob(job, { runs: runStoreOf(ports, run), budget: budgetOf(ports, run), signal })
    .catch((thrown: unknown): JobEnd => ({ ...nothing, status: "LATER", code: undefined, reason: messageOf(thrown) }));
  // What is cut short by the end is taken up by the next process.
  if (signal.aborted && end.status !== "DONE") return;
  await settleRun(ports, run, end);
}

async function settleRun(ports: BotPorts, run: BotRun, end: JobEnd): Promise<void> {
  if (end.status !== "LATER") return endRun(ports, run, end);
  if (run.attempts >= attemptsMax) {
    return endRun(ports, run, {
      ...end,
      status: "FAILED",
      reason: `Given up after ${run.attempts} attempts: ${end.reason}`,
    });
  }
  const backoffMs = Math.min(retryMsMin * 2 ** Math.min(run.attempts - 1, 10), retryMsMax);
  const waitMs = Math.min(Math.max(end.retryAfterMs ?? 0, backoffMs), retryMsMax * 4);
  const { holder: _, ...left } = run;
  await ports.store.transact("bots.take", ({ bots }) =>
    bots.updateRun({
      ...left,
      status: "QUEUED",
      nextAt: plusMilliseconds(ports.clock.now(), waitMs),
      reason: oneLine(end.reason),
      ...(end.byWriter === undefined ? {} : { byWriter: end.byWriter }),
    }),
  );
}

/** In one transaction with what is told of it. */
async function endRun(
  { store, clock }: BotPorts,
  run: BotRun,
  end: Omit<JobEnd, "status"> & { readonly status: JobEnd["status"] },
): Promise<void> {
  const at = clock.now();
  const status = end.status === "LATER" ? "FAILED" : end.status;
  const reason = oneLine(end.reason);
  const plan = JSON.stringify(end.plan ?? null).length > planBytesMax ? "left out: too long" : end.plan;
  const { holder: _, ...left } = run;
  const ended: BotRun = {
    ...left,
    status,
    reason,
    endedAt: at,
    costNano: String(end.costNano),
    calls: end.calls.slice(0, looksMax),
    ...defined({
      code: end.code,
      byWriter: end.byWriter,
      model: end.model,
      promptSha256: end.promptSha256,
      inputTokens: end.inputTokens,
      outputTokens: end.outputTokens,
      isolation: end.isolation,
      plan,
    }),
  };
  await store.transact("bots.end", async (unit) => {
    if ((await unit.bots.updateRun(ended)) === undefined) return;
    await unit.events.publish(subjects.botRunEnded, {
      run_id: run.runId,
      delivery_id: run.deliveryId,
      repository: run.repository,
      number: run.number,
      persona: run.persona,
      trigger: run.trigger,
      requested_by: run.requestedBy,
      status,
      ...defined({ code: end.code, model: end.model, prompt_sha256: end.promptSha256 }),
      reason,
      cost_usd: textOf(end.costNano),
      at: format(at),
    });
  });
}

const reasonLengthMax = 1_900;

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").slice(0, reasonLengthMax);
}

type Defined<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

function defined<Values extends object>(values: Values): Defined<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<Values>;
}
