// `ctl operations filings upload`: a day's sealed submission files go to the regulator, or a person says that they did.
import { dayOf, dayOptions, filingColumns } from "../filings/filing-day.ts";
import { reasonOf } from "../reason.ts";
import { listing } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsUpload: Verb = {
  name: "operations filings upload",
  heading: "Filings",
  sentence: "Send a fund's sealed submission files of a day to the regulator.",
  about:
    "By `filings.cat.transport` of the configuration. What arrived is not sent again. With --by-hand nothing is sent: it is written down that they went another way, such as by the portal.",
  arguments: [],
  options: [...dayOptions, { name: "by-hand", sentence: "They went another way." }],
  examples: [
    {
      command: "ctl operations filings upload --regime CAT --fund-id alpha --date 2026-11-13 --reason late",
      sentence: "Send what is sealed now.",
    },
    {
      command: "ctl operations filings upload --regime CAT --fund-id alpha --date 2026-11-13 --by-hand --reason portal",
      sentence: "They went by the portal.",
    },
  ],
  operation: "UploadFilings",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const asked = { ...dayOf(context), byHand: context.switched("by-hand"), ...reasonOf(context) };
  const { filings } = await client.uploadFilings(asked);
  return listing(context, { columns: filingColumns, rows: filings, none: "Nothing was sent." });
}
