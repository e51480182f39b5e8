// `ctl operations watchdog judge`: has a watchdog judge now.
import { needsReason, reasonOption } from "../reason.ts";
import { watchdogListing } from "../text/watchdog-text.ts";
import { fundOf, watchdogOption, watchedFundOption } from "../watchdog-options.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const answerMsMax = 40_000;

export const operationsWatchdogJudge: Verb = {
  name: "operations watchdog judge",
  heading: "Watchdogs",
  sentence: "Have a watchdog judge now, and see how it stands then.",
  about: "The same observation judged again counts once: this opens nothing that its own time would not.",
  arguments: [],
  options: [watchdogOption, watchedFundOption, reasonOption],
  examples: [
    {
      command: "ctl operations watchdog judge --watchdog vpin --reason look",
      sentence: "Without waiting for its time.",
    },
  ],
  operation: "JudgeWatchdog",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const watchdog = context.option("watchdog") ?? "";
  const asked = { watchdog, ...fundOf(context), reason: needsReason(context) };
  return watchdogListing(context, await (await context.client(answerMsMax)).judgeWatchdog(asked));
}
