// `ctl operations watchdog config`: a watchdog's configuration, shown or changed.
import type { AnswerOf } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { type Column, listing } from "../text/listing.ts";
import { fundOf, watchdogOption, watchedFundOption } from "../watchdog-options.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsWatchdogConfig: Verb = {
  name: "operations watchdog config",
  heading: "Watchdogs",
  sentence: "Show a watchdog's configuration, or change it with --threshold and --set.",
  about:
    "Without --fund-id a change is for every fund and the firm, and what is shown is the firm's. It lies in the secrets store and is in force within 15 seconds. A value out of its range is exit 2, and changes nothing.",
  arguments: [],
  options: [
    watchdogOption,
    watchedFundOption,
    { name: "threshold", value: "NUMBER", sentence: "What the value is held against." },
    { name: "set", value: "KEY=VALUE", repeats: true, sentence: "Any key; an empty value gives it its default again." },
    reasonOption,
  ],
  examples: [
    { command: "ctl operations watchdog config --watchdog vpin", sentence: "Its keys, values, defaults and ranges." },
    {
      command: "ctl operations watchdog config --watchdog vpin --threshold 0.45 --set mode=dry_run --reason trial",
      sentence: "For every fund.",
    },
  ],
  operation: "SetWatchdogConfig",
  changesState: true,
  run,
};

type Key = AnswerOf<"getWatchdogConfig">["keys"][number];

async function run(context: Context): Promise<Answer> {
  const watchdog = context.option("watchdog") ?? "";
  const typed = context.option("threshold");
  const threshold = typed === undefined ? {} : { threshold: numberOf(typed) };
  const pairs = context.optionsOf("set").map(pairOf);
  const isChange = typed !== undefined || pairs.length > 0;
  const client = await context.client();
  const asked = { watchdog, ...fundOf(context) };
  const set = pairs.length === 0 ? {} : { set: Object.fromEntries(pairs) };
  const shown = isChange
    ? await client.setWatchdogConfig({ ...asked, ...threshold, ...set, ...reasonOf(context) })
    : await client.getWatchdogConfig(asked);
  if (shown.problem !== undefined) context.terminal.say(`Not in force: ${shown.problem}`);
  const columns: readonly Column<Key>[] = [
    { name: "key", of: (one) => one.key },
    { name: "value", of: (one) => one.value },
    { name: "default", of: (one) => one.default },
    { name: "range", of: (one) => one.range },
    { name: "sentence", of: (one) => one.sentence },
  ];
  return listing(context, { columns, rows: shown.keys, none: "", data: shown });
}

function numberOf(typed: string): number {
  const value = Number(typed);
  if (typed.trim() === "" || !Number.isFinite(value)) throw usageRefusal(`--threshold is a number; "${typed}" is not.`);
  return value;
}

function pairOf(typed: string): readonly [string, string | null] {
  const at = typed.indexOf("=");
  if (at < 1) throw usageRefusal(`--set is a key and a value, such as mode=dry_run; "${typed}" is not.`);
  const value = typed.slice(at + 1);
  return [typed.slice(0, at), value === "" ? null : value];
}
