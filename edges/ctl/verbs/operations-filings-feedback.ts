// `ctl operations filings feedback`: what a regulator says is read, from its folder or from a file here.
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { AnswerOf } from "../../client/src/types.ts";
import { regimeOf, regimes } from "../filings/filing-day.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { type Column, listing } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsFilingsFeedback: Verb = {
  name: "operations filings feedback",
  heading: "Filings",
  sentence: "Read what a regulator says of submission files.",
  about:
    "Without --file whatever lies in the regulator's folder and was not read yet. A file keeps the name that the regulator gave it, which says what it is about. What is unreadable or about nothing of ours changes nothing.",
  arguments: [],
  options: [
    { name: "regime", value: "REGIME", sentence: "Of this regime.", values: regimes, closed: true, required: true },
    { name: "file", value: "PATH", sentence: "A feedback file here." },
    reasonOption,
  ],
  examples: [
    { command: "ctl operations filings feedback --regime CAT --reason asked", sentence: "What lies there." },
    {
      command:
        "ctl operations filings feedback --regime CAT --file 1234_ABCD_20261113_alpha_OrderEvents_000001.ack.json --reason portal",
      sentence: "One that came by the portal.",
    },
  ],
  operation: "TakeFilingFeedback",
  changesState: true,
  run,
};

type Taken = AnswerOf<"takeFilingFeedback">["feedback"][number];

const columns: readonly Column<Taken>[] = [
  { name: "name", key: true, of: (one) => one.name },
  { name: "outcome", of: (one) => one.outcome },
  { name: "filing_id", of: (one) => one.filing_id ?? "" },
  { name: "rejected", of: (one) => one.rejected },
  { name: "problem", text: true, of: (one) => one.problem ?? "" },
];

async function run(context: Context): Promise<Answer> {
  const path = context.option("file");
  const file =
    path === undefined
      ? {}
      : { name: basename(path), content: (await readFile(resolve(context.folder, path))).toString("base64") };
  const client = await context.client();
  const { feedback } = await client.takeFilingFeedback({ regime: regimeOf(context), ...file, ...reasonOf(context) });
  return listing(context, { columns, rows: feedback, none: "Nothing new was said." });
}
