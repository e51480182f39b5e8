// `ctl report list`: the reports that the platform made, and those that it is at.
import type { AnswerOf } from "../../client/src/types.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const reportList: Verb = {
  name: "report list",
  heading: "Reports",
  sentence: "List the reports that the platform was asked for, newest first.",
  about:
    "Those that `ctl report nav` and its like make here are not among them: the platform makes what POST /v1/reports asks for.",
  arguments: [],
  options: [limitOption, ...listOptions],
  examples: [{ command: "ctl report list --limit 10", sentence: "The newest ten." }],
  operation: "ReadReports",
  changesState: false,
  run,
};

type Row = AnswerOf<"listReports">[number];

const columns: readonly Column<Row>[] = [
  { name: "requested_at", head: "requested", key: true, of: (one) => one.requested_at, time: true },
  { name: "report_id", head: "id", id: true, of: (one) => one.report_id },
  { name: "report", always: true, of: (one) => one.report },
  { name: "status", always: true, of: (one) => one.status },
  { name: "reconciled", of: (one) => (one.reconciled === null ? undefined : one.reconciled ? "yes" : "NO") },
  { name: "documents", of: (one) => Object.keys(one.documents).join(" ") },
  { name: "parameters", text: true, of: (one) => JSON.stringify(one.parameters) },
  { name: "requested_by", minor: 2, of: (one) => one.requested_by },
  { name: "detail", of: (one) => one.detail ?? undefined, onlyCsv: true },
  { name: "facts_sha256", of: (one) => one.facts_sha256 ?? undefined, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Row) => one.report_id,
    (page) => client.listReports({ ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: "No report was asked for yet." });
}
