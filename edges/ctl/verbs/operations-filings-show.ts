// `ctl operations filings show`: one record for a regulator, with its line and why it was put aside.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { Refusal } from "../failure.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsShow: Verb = {
  name: "operations filings show",
  heading: "Filings",
  sentence: "Show one record for a regulator, as it stands in its file.",
  arguments: [{ name: "record", sentence: "Its record_id, as `ctl operations filings records` lists it." }],
  options: [],
  examples: [
    { command: "ctl operations filings show cat.alpha.2026-11-13.000000000", sentence: "The first line of a file." },
  ],
  operation: "ListFilingRecords",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const recordId = context.argument("record");
  const client = await context.client();
  const [record] = await client.listFilingRecords({ recordId });
  if (record === undefined) {
    throw new Refusal(exitCodes.failed, "NOT_FOUND", `There is no record ${clean(recordId)}.`);
  }
  const when = `happened ${record.event_at}, recorded ${record.recorded_at}${record.late ? " (late)" : ""}, due ${record.deadline}`;
  const lines = [
    `${record.type} of order ${record.order_id}, ${record.status}, in ${record.filing_id}`,
    `${when}, reported by ${record.source}`,
    ...record.errors.map(({ code, field, sentence }) =>
      [code, field, sentence].filter((word) => word !== "").join(" "),
    ),
    record.record,
  ];
  return { data: record, text: lines.map((line) => clean(line)).join("\n") };
}
