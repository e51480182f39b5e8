// `ctl operations filings fetch`: a submission file as it stands, into a file here.
import { resolve } from "node:path";
import { writeWhole } from "../audit/audit-file.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

/** Lines of one answer. */
const page = 200;

export const operationsFilingsFetch: Verb = {
  name: "operations filings fetch",
  heading: "Filings",
  sentence: "Write a submission file to a file here.",
  about: "The file appears when it is whole; one that is there is replaced.",
  arguments: [{ name: "filing", sentence: "Its filing_id, as `ctl operations filings list` lists it." }],
  options: [
    { name: "output", value: "PATH", required: true, sentence: "The file to write." },
    { name: "quarantined", sentence: "What was put aside that day, instead of what is in the file." },
  ],
  examples: [
    {
      command: "ctl operations filings fetch cat.alpha.2026-11-13.000001 --output alpha.ndjson",
      sentence: "A day's records.",
    },
  ],
  operation: "ReadFiling",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const filingId = context.argument("filing");
  const path = resolve(context.folder, context.option("output") ?? "");
  const client = await context.client();
  let count = 0;
  await writeWhole(path, async (write) => {
    for (let isLast = false; !isLast; ) {
      const asked = { filingId, fromLine: count, quarantined: context.switched("quarantined"), countMax: page };
      const { lines } = await client.readFiling(asked);
      if (lines.length > 0) await write(`${lines.join("\n")}\n`);
      count += lines.length;
      isLast = lines.length < page;
    }
  });
  const data = { filing_id: filingId, path, records: count };
  return { data, text: `${count} ${count === 1 ? "record is" : "records are"} in ${clean(path)}.` };
}
