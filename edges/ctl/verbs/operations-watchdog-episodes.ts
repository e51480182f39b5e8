// `ctl operations watchdog episodes`: when a watchdog left its ordinary state, what it did, and when that was over.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import { fundOf, watchdogOption, watchedFundOption } from "../watchdog-options.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsWatchdogEpisodes: Verb = {
  name: "operations watchdog episodes",
  heading: "Watchdogs",
  sentence: "List a watchdog's episodes, newest first.",
  arguments: [],
  options: [
    watchdogOption,
    watchedFundOption,
    { name: "open", sentence: "Only those that are not over." },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl operations watchdog episodes --watchdog vpin --open", sentence: "What throttles orders now." },
  ],
  operation: "ListEpisodes",
  changesState: false,
  run,
};

type Episode = AnswerOf<"listEpisodes">[number];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const watchdog = context.option("watchdog") ?? "";
  const asked = { watchdog, ...fundOf(context), open: context.switched("open") };
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Episode) => one.episode_id,
    (page) => client.listEpisodes({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const columns: readonly Column<Episode>[] = [
    { name: "opened_at", head: "OPENED", of: (one) => one.opened_at, time: true },
    {
      name: "cleared_at",
      head: "CLEARED",
      of: (one) => one.cleared_at ?? "",
      time: "open",
    },
    { name: "fund_id", head: "FUND", of: (one) => one.fund_id ?? "" },
    { name: "strategy_id", head: "STRATEGY", of: (one) => one.strategy_id ?? "" },
    { name: "symbol", of: (one) => one.symbol ?? "" },
    { name: "state", always: true, of: (one) => one.state },
    { name: "value", of: (one) => one.value ?? "", number: true },
    { name: "threshold", of: (one) => one.threshold, number: true },
    { name: "events", text: true, minor: 2, of: (one) => one.events.join(" ") },
    { name: "action", minor: 2, of: (one) => one.action },
    { name: "episode_id", key: true, of: (one) => one.episode_id },
  ];
  return listing(context, { columns, rows, none: "There are no episodes.", data: rows });
}
