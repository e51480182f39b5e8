// `ctl treasury reference show`: one kind of reference data, in the form that `reference set` takes back.

import { kindOf, kindOption } from "../reference-kinds.ts";
import { clean, jsonText, moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryReferenceShow: Verb = {
  name: "treasury reference show",
  heading: "Reference data",
  sentence: "Show one kind of reference data as JSON.",
  about:
    "stdout is the content alone, ready to be changed and handed to `reference set`; with --json it is the document with version, author and hash.",
  arguments: [],
  options: [kindOption],
  examples: [
    { command: "ctl treasury reference show --kind restricted", sentence: "What may not be bought." },
    { command: "ctl treasury reference show --kind borrow --json", sentence: "With its version and who set it." },
  ],
  operation: "GetReferenceData",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const document = await (await context.client()).getReferenceData({ kind: kindOf(context) });
  const { kind, version, set_by, set_at, reason } = document;
  const by = set_by === undefined ? "" : `, set by ${set_by}`;
  const at = set_at === undefined ? "" : ` at ${moment(set_at, context.clock.now())}`;
  if (!context.json)
    context.terminal.say(clean(`${kind}, version ${version}${by}${at}${reason === "" ? "" : `: ${reason}`}`));
  return { data: document, text: jsonText(document.content) };
}
