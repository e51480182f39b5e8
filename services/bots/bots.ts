// The repository bot's process: it takes up deliveries, brings runs to their end, and asks GitHub again for what failed. It holds nothing that is not in the store
// but the App's key, which the gateway hands it at each start of either and every ten minutes.
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import type { BotInstallation } from "../../ports/bot-records.ts";
import { startLoop } from "../shared/loop.ts";
import type { AtGithub, BotPorts } from "./bot-ports.ts";
import { runQueue } from "./run-queue.ts";
import { sweep } from "./sweep.ts";
import { takeDeliveries } from "./take-deliveries.ts";

const lookEveryMs = 1_000;
const keyEveryMs = 10 * 60_000;
const sweepEveryMs = 10 * 60_000;
const forgetEveryMs = 60 * 60_000;
const keptMs = 30 * 86_400_000;
const forgottenAtOnce = 1_000;

interface Opened {
  readonly installation: BotInstallation;
  readonly github: AtGithub;
  readonly at: number;
}

export function startBots(ports: BotPorts): { stop(): Promise<void> } {
  const { store, clock } = ports;
  let opened: Opened | undefined;
  const queue = runQueue(ports, () => working.wake());
  const standing = async (): Promise<BotInstallation | undefined> => {
    const newest = await store.transact("bots.look", ({ bots }) => bots.installation());
    return newest?.isInstalled === true ? newest : undefined;
  };

  /** Anew when the installation changed, and when the key is ten minutes old. */
  async function atGithub(): Promise<Opened | undefined> {
    const installation = await standing();
    if (installation === undefined) return undefined;
    const isFresh = opened !== undefined && clock.now() - opened.at < keyEveryMs * 1_000;
    if (opened !== undefined && isFresh && opened.installation.at === installation.at) return opened;
    const key = await ports.askForKey();
    if (key === undefined) return undefined;
    opened = { installation, github: await ports.open(installation, key), at: clock.now() };
    return opened;
  }

  const working = startLoop({
    ports,
    what: "the repository bot",
    firstAfterMs: 0,
    apartMsMin: 100,
    run: async () => {
      const now = await atGithub();
      if (now === undefined) return lookEveryMs;
      await takeDeliveries(ports, now.installation);
      await queue.look(now.installation, now.github);
      return lookEveryMs;
    },
  });
  const sweeping = startLoop({
    ports,
    what: "the sweep of GitHub's deliveries",
    firstAfterMs: 0,
    run: async () => {
      const now = await atGithub();
      if (now === undefined) return lookEveryMs * 5;
      await sweep(ports, now.installation, now.github.hook);
      return sweepEveryMs;
    },
  });
  const forgetting = startLoop({
    ports,
    what: "forgetting old deliveries of GitHub's",
    firstAfterMs: forgetEveryMs,
    run: async () => {
      const before = minusMilliseconds(clock.now(), keptMs);
      const count = await store.transact("bots.forget", ({ bots }) => bots.forgetDeliveries(before, forgottenAtOnce));
      return count === forgottenAtOnce ? lookEveryMs : forgetEveryMs;
    },
  });
  return {
    async stop() {
      await Promise.all([working.stop(), sweeping.stop(), forgetting.stop()]);
      await queue.stop();
      if ((await standing()) === undefined) await queue.skipAll("The bot was taken away before the run began.");
    },
  };
}
