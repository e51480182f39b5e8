// The composition of the repository bot's process: its own login at the database, no bus, no secrets store, and no listener. What it needs to act as the App the
// gateway hands it.
import { hostname } from "node:os";
import { openGithub } from "../adapters/github/open-github.ts";
import { askForKey, handOverSocket } from "../adapters/githubbot/hand-over.ts";
import { openStore } from "../adapters/records/open-store.ts";
import { Fault } from "../contracts/src/fault.ts";
import { nanoOf } from "../core/bots/budget.ts";
import type { Log } from "../ports/log.ts";
import { startBots as startBotWork } from "../services/bots/bots.ts";
import { takeLease } from "../services/shared/lease.ts";
import { botWork } from "./bot-work.ts";
import { basePorts, type PartInput, type Stops } from "./shared.ts";

export async function startBots(input: PartInput, log: Log, stops: Stops): Promise<void> {
  const { configuration, handOver, hasOwnLogin, runtimeFolder, database } = input;
  if (!hasOwnLogin || handOver === undefined) {
    throw new Fault("SERVICE_START_FAILED", "the bots have no database login of their own", { retry: "never" });
  }
  const base = await basePorts("bots", input, log.with({ service: "bots" }));
  stops.push(base.close);
  const { ports } = base;
  const opened = openStore({ ...ports, database, hasOwnLogin, source: "bots", services: ["bots"] });
  stops.push(opened.close);
  const lease = await takeLease("bots", { host: hostname(), pid: process.pid }, { ...ports, store: opened.leaseStore });
  stops.push(() => lease.retire());
  const { daily_usd: daily, per_repo_daily_cap: perRepository, api_url: apiUrl } = configuration.github_bot;
  const work = botWork(input, ports);
  stops.push(() => work.close());
  const bots = startBotWork({
    ...ports,
    store: opened.store,
    holder: () => (lease.heldSince() === undefined ? undefined : lease.incarnation),
    caps: { dailyNano: nanoOf(daily), perRepositoryNano: nanoOf(perRepository) },
    askForKey: () => askForKey(handOverSocket(runtimeFolder), handOver),
    open: async ({ appId }, privateKey) => {
      const forge = openGithub({ apiUrl, appId, privateKey, clock: ports.clock });
      return { hook: forge, runJob: work.open(forge) };
    },
  });
  stops.push(() => bots.stop());
  ports.log.info("ready", {});
}
