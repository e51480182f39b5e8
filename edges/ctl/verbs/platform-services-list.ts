// `ctl platform services list`: every service with its process, since when it runs, and what it complains about.
import type { AnswerOf } from "../../client/src/types.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const platformServicesList: Verb = {
  name: "platform services list",
  heading: "Reading",
  sentence: "List the services: whether each works, its process, and since when it runs.",
  about: "What does not report is listed as failing. `ctl logs SERVICE` has its last words.",
  arguments: [],
  options: [...listOptions],
  examples: [{ command: "ctl platform services list --watch", sentence: "While something is being restarted." }],
  operation: "ListServices",
  changesState: false,
  run,
};

type Service = AnswerOf<"listServices">[number];

const columns: readonly Column<Service>[] = [
  { name: "service", key: true, of: (one) => one.service },
  { name: "status", always: true, of: (one) => one.status },
  { name: "pid", of: (one) => one.pid, number: true },
  { name: "host", minor: 2, of: (one) => one.host },
  { name: "started_at", head: "started", of: (one) => one.started_at, time: "not running" },
  { name: "version", minor: 3, of: (one) => one.version },
  { name: "complaint", text: true, of: (one) => one.complaint },
];

async function run(context: Context): Promise<Answer> {
  const rows = await (await context.client()).listServices();
  return listing(context, { columns, rows, none: "No service is known." });
}
