// `ctl operations filings list`: the submission files of regulatory reporting, by fund and day.
import type { AnswerOf } from "../../client/src/types.ts";
import { filingOptions, filterOf } from "../filings/filing-options.ts";
import { followPages, limitOption } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsList: Verb = {
  name: "operations filings list",
  heading: "Filings",
  sentence: "See the submission files for regulators.",
  group: { heading: "Filings", sentence: "What is reported to regulators: submission files and their records." },
  about:
    "One for each fund and day on which something was recorded. Records that the regulator would refuse are put aside and counted as quarantined.",
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

const columns: readonly Column<Filing>[] = [
  { name: "filing_id", key: true, of: (one) => one.filing_id },
  { name: "regime", minor: 3, of: (one) => one.regime },
  { name: "fund_id", minor: 2, of: (one) => one.fund_id },
  { name: "mode", minor: 4, of: (one) => one.mode },
  { name: "submission_date", minor: 1, of: (one) => one.submission_date },
  { name: "state", of: (one) => one.state },
  { name: "records", of: (one) => one.records },
  { name: "quarantined", of: (one) => one.quarantined },
  { name: "late", of: (one) => one.late },
  { name: "deadline", of: (one) => one.deadline, time: true },
  { name: "repair_by", of: (one) => one.repair_by, onlyCsv: true },
];

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
  return listing(context, { columns, rows, none: "Nothing was recorded for a regulator." });
}
