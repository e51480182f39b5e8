// `ctl operations filings records`: the records of regulatory reporting, and those that were put aside.
import type { AnswerOf } from "../../client/src/types.ts";
import { filingOptions, filterOf } from "../filings/filing-options.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const statuses = ["WRITTEN", "QUARANTINED"] as const;

export const operationsFilingsRecords: Verb = {
  name: "operations filings records",
  heading: "Filings",
  sentence: "See the records for regulators, and why some were put aside.",
  about: "In the order of their lines. CSV and JSON have the line itself as well.",
  arguments: [],
  options: [
    ...filingOptions,
    { name: "order-id", value: "ORDER", sentence: "Only of this order." },
    { name: "status", value: "STATUS", sentence: "Only those with this status.", values: statuses, closed: true },
    limitOption,
    ...listOptions,
  ],
  examples: [
    { command: "ctl operations filings records --order-id o-1042", sentence: "What was reported of an order." },
    {
      command: "ctl operations filings records --fund-id alpha --status QUARANTINED",
      sentence: "What a regulator would refuse.",
    },
  ],
  operation: "ListFilingRecords",
  changesState: false,
  run,
};

type FiledRecord = AnswerOf<"listFilingRecords">[number];

const columns: readonly Column<FiledRecord>[] = [
  { name: "record_id", key: true, of: (one) => one.record_id },
  { name: "type", of: (one) => one.type },
  { name: "status", of: (one) => one.status },
  { name: "order_id", of: (one) => one.order_id },
  { name: "event_at", of: (one) => one.event_at, time: true },
  { name: "late", minor: 1, of: (one) => (one.late ? "late" : "") },
  { name: "source", minor: 2, of: (one) => one.source },
  { name: "errors", text: true, of: (one) => one.errors.map(({ code, sentence }) => `${code} ${sentence}`).join(" ") },
  { name: "filing_id", of: (one) => one.filing_id, onlyCsv: true },
  { name: "event_type", of: (one) => one.event_type, onlyCsv: true },
  { name: "recorded_at", of: (one) => one.recorded_at, onlyCsv: true },
  { name: "deadline", of: (one) => one.deadline, onlyCsv: true },
  { name: "record", of: (one) => one.record, onlyCsv: true },
];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const orderId = context.option("order-id");
  const status = statuses.find((one) => one === context.option("status"));
  const asked = {
    ...filterOf(context),
    ...(orderId !== undefined && { orderId }),
    ...(status !== undefined && { status }),
  };
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: FiledRecord) => one.record_id,
    (page) => client.listFilingRecords({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns, rows, none: "Nothing of that was recorded for a regulator." });
}
