// `ctl operations audit show`: everything that was done to one subject, in the order in which it happened.
import type { AnswerOf } from "../../client/src/types.ts";
import { shortData } from "../audit-pages.ts";
import type { Context } from "../context.ts";
import { type Column, formatOption, listing } from "../listing.ts";
import type { Answer, Verb } from "./verb.ts";

export const operationsAuditShow: Verb = {
  name: "operations audit show",
  heading: "Reading",
  sentence: "Show everything that was done to one subject, oldest first.",
  about: "A table cuts long data; CSV and JSON have all of it, and the hashes.",
  arguments: [],
  options: [
    {
      name: "subject-id",
      value: "ID",
      required: true,
      sentence: "What it was done to: an order id, a fund id, a path.",
    },
    formatOption,
  ],
  examples: [
    { command: "ctl operations audit show --subject-id o-1042", sentence: "The life of an order." },
    { command: "ctl operations audit show --subject-id alpha --format csv", sentence: "Of a fund, for a spreadsheet." },
  ],
  operation: "GetAuditTrail",
  changesState: false,
  run,
};

type Entry = AnswerOf<"getAuditTrail">[number];

const columns: readonly Column<Entry>[] = [
  { name: "sequence", of: (one) => one.sequence },
  { name: "timestamp", of: (one) => one.timestamp },
  { name: "actor", of: (one) => one.actor },
  { name: "action", of: (one) => one.action },
  { name: "subject_id", of: (one) => one.subject_id, onlyCsv: true },
  { name: "data", of: (one) => JSON.stringify(one.data), shown: (one) => shortData(one.data) },
  { name: "prev_hash", of: (one) => one.prev_hash, onlyCsv: true },
  { name: "hash", of: (one) => one.hash, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const subjectId = context.option("subject-id") ?? "";
  const rows = await (await context.client()).getAuditTrail({ subjectId });
  return listing(context, { columns, rows, none: "Nothing is on record about it." });
}
