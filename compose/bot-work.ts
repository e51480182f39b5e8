// Who does the runs of the repository bot: the runner with its mind and its language model. What a mind may not reach is tried while the process starts, and the first
// run waits for the answer.
import { fileURLToPath } from "node:url";
import { openMind } from "../adapters/bot-mind/open-mind.ts";
import type { Configuration } from "../adapters/configuration/schema.ts";
import { openLanguageModel } from "../adapters/language-model/open-language-model.ts";
import { systemSha256 } from "../adapters/system/hashing.ts";
import { nanoOf } from "../core/bots/budget.ts";
import type { ForgeApp } from "../ports/forge.ts";
import type { Log } from "../ports/log.ts";
import type { Timers } from "../ports/timers.ts";
import type { BotModel } from "../services/bots/ask-model.ts";
import type { RunJob } from "../services/bots/job.ts";
import { openRunJob } from "../services/bots/run-job.ts";
import type { PartInput } from "./shared.ts";

interface BotWork {
  open(forge: ForgeApp): RunJob;
  close(): Promise<void>;
}

/** Beside the platform's bundle; a file of its own, because it is all that a mind may read. */
const entry = fileURLToPath(new URL("../mind/bot-mind.js", import.meta.url));

export function botWork(
  { configuration, dataFolder, runtimeFolder, databaseFolders }: PartInput,
  { log, timers }: { readonly log: Log; readonly timers: Timers },
): BotWork {
  const policy = configuration.bots.isolation;
  const mind = openMind({ entry, dataFolder, hidden: [runtimeFolder, ...databaseFolders], policy });
  const model = modelOf(configuration, timers, log);
  const told = mind.then(({ note, isolation }) =>
    log.info("how a mind is kept apart", { note, isolation: isolation ?? "none" }),
  );
  const settings = { expensiveNano: expensiveOf(configuration) };
  return {
    open: (forge) => async (job, ports) => {
      const parts = { forge, mind: await mind, model: await model, sha256: systemSha256, settings };
      return openRunJob(parts)(job, ports);
    },
    close: () => told,
  };
}

/** Without prices nothing could be held to a budget, so such a model is not asked. */
async function modelOf(
  { language_model: configured }: Configuration,
  timers: Timers,
  log: Log,
): Promise<BotModel | undefined> {
  const { input_usd_per_million: input, output_usd_per_million: output } = configured;
  if (configured.provider === "none") return undefined;
  if (input === undefined || output === undefined) {
    log.warn("the repository bot asks no language model, because language_model has no prices", {});
    return undefined;
  }
  const model = await openLanguageModel(configured, timers);
  return model === undefined
    ? undefined
    : { model, inputNanoPerMillion: nanoOf(input), outputNanoPerMillion: nanoOf(output) };
}

function expensiveOf({ github_bot: { expensive_actions: actions } }: Configuration): Readonly<Record<string, bigint>> {
  const named = Object.entries(actions).flatMap(([persona, usd]) =>
    usd === undefined ? [] : [[persona, nanoOf(usd)] as const],
  );
  return Object.fromEntries(named);
}
