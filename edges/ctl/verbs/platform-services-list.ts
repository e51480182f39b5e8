// `ctl platform services list`: every part of the platform, how it is, which process it is, and since when.
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, formatOption, listing } from "../text/listing.ts";
import { moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const platformServicesList: Verb = {
  name: "platform services list",
  heading: "Reading",
  sentence: "See which processes run, since when, and how they are.",
  about: "What does not report is listed as failing. `ctl logs SERVICE` has its last words.",
  arguments: [],
  options: [formatOption],
  examples: [{ command: "ctl platform services list", sentence: "All of them." }],
  operation: "ListServices",
  changesState: false,
  run,
};

type Part = AnswerOf<"listServices">[number];

async function run(context: Context): Promise<Answer> {
  const rows = await (await context.client()).listServices();
  const now = context.clock.now();
  const columns: readonly Column<Part>[] = [
    { name: "service", of: (one) => one.service },
    { name: "status", of: (one) => one.status },
    { name: "pid", of: (one) => one.pid },
    { name: "host", of: (one) => one.host },
    {
      name: "started_at",
      of: (one) => one.started_at,
      shown: (one) => (one.started_at === undefined ? "" : moment(one.started_at, now)),
    },
    { name: "version", of: (one) => one.version },
    { name: "complaint", of: (one) => one.complaint },
  ];
  return listing(context, { columns, rows, none: "No service is known here." });
}
