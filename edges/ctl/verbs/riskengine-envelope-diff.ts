// `ctl riskengine envelope diff`: what changed between two versions of a fund's limits, and what it did to risk.

import { fundOption } from "../envelope-flags.ts";
import { changeColumns } from "../text/envelope-text.ts";
import { listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineEnvelopeDiff: Verb = {
  name: "riskengine envelope diff",
  heading: "Limits",
  sentence: "Compare two versions of a fund's limits, field by field.",
  about: "Without --to it is the version in force, without --from the one before that.",
  arguments: [],
  options: [
    fundOption,
    { name: "from", value: "N", sentence: "The version before." },
    { name: "to", value: "N", sentence: "The version after." },
    ...listOptions,
  ],
  examples: [
    { command: "ctl riskengine envelope diff --fund-id alpha", sentence: "What the newest version changed." },
    { command: "ctl riskengine envelope diff --fund-id alpha --from 3 --to 7 --format csv", sentence: "Two others." },
  ],
  operation: "DiffEnvelopes",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const [from, to] = [versionOf(context, "from"), versionOf(context, "to")];
  const client = await context.client();
  const toVersion = to ?? (await client.getEnvelope({ fundId })).version;
  // The version before a fund's first one is that one: nothing changed.
  const fromVersion = from ?? Math.max(1, toVersion - 1);
  const diff = await client.diffEnvelopes({ fundId, fromVersion, toVersion });
  return listing(context, {
    columns: changeColumns,
    rows: diff.changes,
    none: "Nothing changed.",
    data: diff,
    lead: `${fundId}, from version ${fromVersion} to ${toVersion}${diff.loosens ? "; it loosens" : ""}:`,
  });
}

function versionOf(context: Context, option: "from" | "to"): number | undefined {
  const typed = context.option(option);
  return typed === undefined ? undefined : countOf(option, typed, 1);
}
