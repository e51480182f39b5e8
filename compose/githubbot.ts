// What the gateway is handed of the repository bot: its store, its secrets, GitHub, and whoever runs the process; and the socket over which that gets its key.
import { openGithub } from "../adapters/github/open-github.ts";
import { githubbot } from "../adapters/githubbot/githubbot.ts";
import { handOverSocket, serveHandOver } from "../adapters/githubbot/hand-over.ts";
import { hookSecrets } from "../adapters/githubbot/hook-secrets.ts";
import type { Clock } from "../ports/clock.ts";
import type { Crash } from "../ports/crash.ts";
import type { Githubbot } from "../ports/githubbot.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { Store } from "../ports/store.ts";
import type { Timers } from "../ports/timers.ts";
import { startLoop } from "../services/shared/loop.ts";
import type { AskRunner, PartInput, Stops } from "./shared.ts";

interface GithubbotParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly crash: Crash;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly ask: AskRunner | undefined;
}

const lookEveryMs = 5_000;
/** Where it is not installed, which is asked of nobody. */
const restMs = 60_000;
const aloneSentence =
  "the repository bot does not run, because this platform runs in one process: start it without --single-process";

/** `begin` once the listeners stand. */
export async function openGithubbot(
  input: PartInput,
  parts: GithubbotParts,
  stops: Stops,
): Promise<{ readonly bot: Githubbot; begin(): void }> {
  const { configuration, handOver, runtimeFolder } = input;
  const { clock, log, ask } = parts;
  const secrets = hookSecrets({ ...parts, folder: `secret/${configuration.secrets.prefix}` });
  const { daily_usd: dailyUsd, per_repo_daily_cap: perRepositoryUsd, api_url: apiUrl } = configuration.github_bot;
  const bot = githubbot({
    ...parts,
    secrets,
    openApp: (key) => openGithub({ ...key, apiUrl, clock }),
    publicUrl: configuration.http.public_url,
    caps: { dailyUsd, perRepositoryUsd },
    lack: ask === undefined ? aloneSentence : input.botsLack,
    isLackReported: ask !== undefined,
    keepProcess: async (wanted) => {
      await ask?.({ request: "keep", part: "bots", wanted });
    },
  });
  if (handOver !== undefined) {
    const served = await serveHandOver(handOverSocket(runtimeFolder), handOver, async () => {
      const kept = await secrets.read();
      return kept === undefined ? undefined : { privateKey: kept.privateKey };
    });
    stops.push(() => served.close());
  }
  const begin = (): void => {
    let isKept = false;
    const looking = startLoop({
      ports: parts,
      what: "the look at the repository bot",
      firstAfterMs: 0,
      run: async () => {
        // The process was asked for by the gateway before this one, or is asked for now.
        if (!isKept) await bot.begin();
        isKept = true;
        return (await bot.look()) ? lookEveryMs : restMs;
      },
    });
    stops.push(() => looking.stop());
    log.debug("the repository bot is looked at");
  };
  return { bot, begin };
}
