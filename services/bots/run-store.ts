// What a run remembers of its writes, in the store: the intent before each, the one comment of its thread, and whether it may still write.
import { everyRepository } from "../../contracts/src/records/githubbot.ts";
import type { BotRun, BotThread } from "../../ports/bot-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { BotPorts } from "./bot-ports.ts";
import type { RunStore, Stopped } from "./job.ts";

export function runStoreOf(
  ports: BotPorts,
  run: Pick<BotRun, "runId" | "repository" | "number" | "persona">,
): RunStore {
  const { store } = ports;
  const { runId, repository, number } = run;
  const threadOf = async ({ bots }: UnitOfWork): Promise<BotThread> =>
    (await bots.thread(repository, number)) ?? { repository, number };
  return {
    intend: (name, marker) =>
      store.transact("bots.work", async ({ bots }) => {
        const known = (await bots.intents(runId)).find((intent) => intent.name === name);
        if (known === undefined) await bots.putIntent(runId, { name, marker });
        return { name, marker: known?.marker ?? marker, result: known?.result };
      }),
    done: (name, result) =>
      store.transact("bots.work", async ({ bots }) => {
        const known = (await bots.intents(runId)).find((intent) => intent.name === name);
        await bots.putIntent(runId, { name, marker: known?.marker ?? "", result });
      }),
    sticky: () =>
      store.transact("bots.look", async (unit) => {
        const { commentId, isGone = false } = await threadOf(unit);
        return commentId === undefined ? undefined : { commentId, isGone };
      }),
    keepSticky: ({ commentId, isGone }) =>
      store.transact("bots.work", async (unit) =>
        unit.bots.putThread({ ...(await threadOf(unit)), commentId, isGone }),
      ),
    mayWrite: () => mayWrite(ports, run),
    pauseThread: (isPaused) =>
      store.transact("bots.work", async (unit) => unit.bots.putThread({ ...(await threadOf(unit)), isPaused })),
    skipNoticeOnce: () =>
      store.transact("bots.work", async (unit) => {
        const thread = await threadOf(unit);
        if (thread.isBudgetReported === true) return false;
        await unit.bots.putThread({ ...thread, isBudgetReported: true });
        return true;
      }),
  };
}

const stopped = (reason: string): Stopped => ({ code: "BOT_PAUSED", reason });

async function mayWrite(
  { store, holder }: BotPorts,
  { repository, number, persona }: Pick<BotRun, "repository" | "number" | "persona">,
): Promise<true | Stopped> {
  if (holder() === undefined) return stopped("The lease of the bot's process ran out.");
  return store.transact("bots.look", async ({ bots }) => {
    if ((await bots.installation())?.isInstalled !== true) return stopped("The bot was taken away.");
    const paused = (await bots.pauses()).find(
      (one) => one.repository === everyRepository || isSame(one.repository, repository),
    );
    if (paused !== undefined)
      return stopped(`Paused by ${paused.by}${paused.reason === "" ? "" : `: ${paused.reason}`}.`);
    const thread = await bots.thread(repository, number);
    // Whoever answers `resume` must be able to.
    if (thread?.isPaused === true && persona !== "keeper") return stopped("Paused in this thread.");
    return true;
  });
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
