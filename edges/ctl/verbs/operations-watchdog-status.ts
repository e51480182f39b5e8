// `ctl operations watchdog status`: how every watchdog stands about everything that it watches.
import { listOptions } from "../text/listing.ts";
import { watchdogListing } from "../text/watchdog-text.ts";
import { fundOf, watchdogOption, watchedFundOption } from "../watchdog-options.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsWatchdogStatus: Verb = {
  name: "operations watchdog status",
  heading: "Watchdogs",
  sentence: "See how every watchdog stands: state, value, threshold, and what it did.",
  about:
    "WARMUP has too little to judge by, STALE gets no fresh input: neither is OK. WARN alerts, ACTION also acts. docs/watchdogs.md explains each.",
  arguments: [],
  options: [{ ...watchdogOption, required: false }, watchedFundOption, ...listOptions],
  examples: [{ command: "ctl operations watchdog status --fund-id alpha", sentence: "Of one fund, and the firm's." }],
  operation: "ListWatchdogs",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const watchdog = context.option("watchdog");
  const asked = { ...(watchdog === undefined ? {} : { watchdog }), ...fundOf(context) };
  return watchdogListing(context, await (await context.client()).listWatchdogs(asked));
}
