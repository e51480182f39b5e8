// `ctl operations filings list`: the submission files of regulatory reporting, by fund and day.
import type { AnswerOf } from "../../client/src/types.ts";
import { filingColumns } from "../filings/filing-day.ts";
import { filingOptions, filterOf } from "../filings/filing-options.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsList: Verb = {
  name: "operations filings list",
  heading: "Filings",
  sentence: "See the submission files for regulators.",
  group: { heading: "Filings", sentence: "What is reported to regulators: submission files and their records." },
  about:
    "Of each fund and day on which something was recorded: one that is OPEN, and those that were sealed before. Records that the regulator would refuse are put aside and counted as quarantined.",
  arguments: [],
  options: [...filingOptions, limitOption, ...listOptions],
  examples: [
    { command: "ctl operations filings list", sentence: "All of them." },
    { command: "ctl operations filings list --fund-id alpha --date 2026-11-13", sentence: "A fund's of one day." },
  ],
  operation: "ListFilings",
  changesState: false,
  run,
};

type Filing = AnswerOf<"listFilings">[number];

async function run(context: Context): Promise<Answer> {
  const limit = countOf("limit", context.option("limit") ?? "", 1);
  const asked = filterOf(context);
  const client = await context.client();
  const { rows, more } = await followPages(
    limit,
    (one: Filing) => one.filing_id,
    (page) => client.listFilings({ ...asked, ...page }),
  );
  if (more) context.terminal.say(`There are more than ${limit}; --limit raises it.`);
  return listing(context, { columns: filingColumns, rows, none: "Nothing was recorded for a regulator." });
}
