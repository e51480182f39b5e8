// `ctl operations drills list`: what drills measured.

import { tookText } from "../../words/times.ts";
import { followPages } from "../follow-pages.ts";
import type { Drill } from "../text/drill-text.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsDrillsList: Verb = {
  name: "operations drills list",
  heading: "Halts",
  sentence: "See what drills measured.",
  arguments: [],
  options: [{ name: "limit", value: "N", sentence: "At most this many.", standard: "20" }, ...listOptions],
  examples: [{ command: "ctl operations drills list", sentence: "The newest first." }],
  operation: "ListDrills",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Drill) => one.drill_id,
    (page) => client.listDrills(page),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  const took = (name: string, of: (one: Drill) => number | undefined): Column<Drill> => ({
    name,
    of,
    shown: (one) => tookText(of(one)),
    number: true,
  });
  const columns: readonly Column<Drill>[] = [
    { name: "at", of: (one) => one.at, time: true },
    { name: "passed", always: true, of: (one) => one.passed, shown: (one) => (one.passed ? "yes" : "NO") },
    took("latched_ms", (one) => one.latched_ms),
    took("blocked_ms", (one) => one.blocked_ms),
    took("cancelled_ms", (one) => one.cancelled_ms),
    took("notified_ms", (one) => one.notified_ms),
    { name: "requested_by", head: "by", minor: 2, of: (one) => one.requested_by },
    { name: "reason", text: true, minor: 2, of: (one) => one.reason },
    { name: "complaint", text: true, of: (one) => one.complaint },
    { name: "drill_id", minor: 3, of: (one) => one.drill_id },
  ];
  return listing(context, { columns, rows, none: "There was no drill yet." });
}
