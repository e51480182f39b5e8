// `ctl operations filings seal`: a day's submission files get the bytes that they are handed in with.
import { dayOf, dayOptions, filingColumns } from "../filings/filing-day.ts";
import { reasonOf } from "../reason.ts";
import { listing } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsSeal: Verb = {
  name: "operations filings seal",
  heading: "Filings",
  sentence: "Seal a fund's submission files of a day.",
  about:
    "What is not sealed yet is compressed and keeps its bytes for good; what comes later goes into the next file. The sealed file lies in the folder of filings, with what goes with it.",
  arguments: [],
  options: dayOptions,
  examples: [
    {
      command: "ctl operations filings seal --regime CAT --fund-id alpha --date 2026-11-13 --reason portal",
      sentence: "To hand it in by the portal.",
    },
  ],
  operation: "SealFilings",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const { filings } = await client.sealFilings({ ...dayOf(context), ...reasonOf(context) });
  return listing(context, { columns: filingColumns, rows: filings, none: "Nothing was sealed." });
}
