// `ctl operations watchdog pause`: has a watchdog judge on and do nothing, for a while.
import { usageRefusal } from "../failure.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { secondsOf } from "../text/text.ts";
import { watchdogListing } from "../text/watchdog-text.ts";
import { fundOf, watchdogOption, watchedFundOption } from "../watchdog-options.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsWatchdogPause: Verb = {
  name: "operations watchdog pause",
  heading: "Watchdogs",
  sentence: "Have a watchdog judge on and do nothing, for an hour or as long as --for says.",
  about:
    "It shows in every list and in the health of the platform, and ends by itself. What it restricts already stays.",
  arguments: [],
  options: [
    watchdogOption,
    watchedFundOption,
    { name: "for", value: "TIME", standard: "1h", sentence: "Such as 30m or 2h; a week at most." },
    reasonOption,
  ],
  examples: [
    {
      command: "ctl operations watchdog pause --watchdog news_spike --for 2h --reason earnings",
      sentence: "Over a day of known news.",
    },
  ],
  operation: "PauseWatchdog",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const typed = context.option("for") ?? "1h";
  const forS = secondsOf(typed);
  if (forS === undefined || forS <= 0) throw usageRefusal(`--for is a time such as 30m or 2h; "${typed}" is not.`);
  const watchdog = context.option("watchdog") ?? "";
  const asked = { watchdog, forS, ...fundOf(context), ...reasonOf(context) };
  return watchdogListing(context, await (await context.client()).pauseWatchdog(asked));
}
