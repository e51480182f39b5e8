// `ctl operations filings correct`: a record for a regulator is repaired, corrected, withdrawn, or judged again.
import { usageRefusal } from "../failure.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const actions = ["NEW", "RPR", "COR", "DEL"] as const;

export const operationsFilingsCorrect: Verb = {
  name: "operations filings correct",
  heading: "Filings",
  sentence: "Correct a record for a regulator.",
  about:
    "NEW judges again what was put aside; RPR repairs what the regulator rejected; COR corrects what it has; DEL withdraws it, and dismisses what was put aside. The correction is a record of its own in the day's next file. What identifies the record and its order is never changed.",
  arguments: [],
  options: [
    {
      name: "record-id",
      value: "RECORD",
      required: true,
      sentence: "The record, as `ctl operations filings records` lists it.",
    },
    { name: "action", value: "ACTION", required: true, sentence: "What is done.", values: actions, closed: true },
    {
      name: "set",
      value: "FIELD=VALUE",
      repeats: true,
      sentence: "A field as the regime names it; an empty value takes it away.",
    },
    reasonOption,
  ],
  examples: [
    {
      command:
        "ctl operations filings correct --record-id cat.alpha.2026-11-13.000000000 --action RPR --set price=190.25 --reason typo",
      sentence: "Repair what was rejected.",
    },
    {
      command:
        "ctl operations filings correct --record-id cat.alpha.2026-11-13.q000000000 --action NEW --reason mended",
      sentence: "Judge again what was put aside.",
    },
  ],
  operation: "CorrectFilingRecord",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const recordId = context.option("record-id") ?? "";
  const action = actions.find((one) => one === context.option("action")) ?? "NEW";
  const set = Object.fromEntries(context.optionsOf("set").map(pairOf));
  const client = await context.client();
  const answer = await client.correctFilingRecord({ recordId, action, set, ...reasonOf(context) });
  const { correction } = answer;
  const lines =
    correction === undefined
      ? [`${recordId} is dismissed.`]
      : [`${correction.record_id} says it anew, in ${correction.filing_id}:`, correction.record];
  return { data: answer, text: lines.map((each) => clean(each)).join("\n") };
}

function pairOf(typed: string): readonly [string, string] {
  const at = typed.indexOf("=");
  if (at < 1) throw usageRefusal(`--set ${typed}: expected FIELD=VALUE.`);
  return [typed.slice(0, at), typed.slice(at + 1)];
}
