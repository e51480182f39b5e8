// `ctl operations watchdog resume`: ends a pause before its time.
import { needsReason, reasonOption } from "../reason.ts";
import { watchdogListing } from "../text/watchdog-text.ts";
import { fundOf, watchdogOption, watchedFundOption } from "../watchdog-options.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsWatchdogResume: Verb = {
  name: "operations watchdog resume",
  heading: "Watchdogs",
  sentence: "End the pause of a watchdog: what it held back is done if it still holds.",
  arguments: [],
  options: [watchdogOption, watchedFundOption, reasonOption],
  examples: [
    { command: "ctl operations watchdog resume --watchdog news_spike --reason over", sentence: "Before its time." },
  ],
  operation: "ResumeWatchdog",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const watchdog = context.option("watchdog") ?? "";
  const asked = { watchdog, ...fundOf(context), reason: needsReason(context) };
  return watchdogListing(context, await (await context.client()).resumeWatchdog(asked));
}
