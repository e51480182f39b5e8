// `ctl operations audit consistency`: the proof that the log only grew between two sizes, for whoever kept the smaller checkpoint.
import type { AnswerOf } from "../../client/src/types.ts";
import { entries } from "../audit/audit-pages.ts";
import { usageRefusal } from "../failure.ts";
import { countOf } from "../text/numbers.ts";
import { clean, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditConsistency: Verb = {
  name: "operations audit consistency",
  heading: "Handing out",
  sentence: "Get the proof that the audit chain of one size is the beginning of that of another.",
  about:
    "It is the proof of RFC 6962 and the signed checkpoint of the second size, to be verified by whoever kept a checkpoint of the first size: with the first root of that one and not with the one printed here.",
  arguments: [],
  options: [
    { name: "first-size", value: "N", required: true, sentence: "The size of the checkpoint that was kept." },
    { name: "second-size", value: "N", sentence: "The larger size; else that of the newest checkpoint." },
  ],
  examples: [
    { command: "ctl operations audit consistency --first-size 1042", sentence: "From there to the newest." },
    {
      command: "ctl operations audit consistency --first-size 1042 --second-size 2000 --json",
      sentence: "Between two checkpoints, for a program.",
    },
  ],
  operation: "GetAuditConsistency",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const firstSize = countOf("first-size", context.option("first-size") ?? "");
  const typed = context.option("second-size");
  const asked = typed === undefined ? {} : { secondSize: countOf("second-size", typed, 1) };
  if (asked.secondSize !== undefined && asked.secondSize < firstSize) {
    throw usageRefusal(`--second-size ${asked.secondSize} is less than --first-size ${firstSize}.`);
  }
  const data = await (await context.client()).getAuditConsistency({ firstSize, ...asked });
  return { data, text: textOf(data) };
}

function textOf(proved: AnswerOf<"getAuditConsistency">): string {
  const { first_root: firstRoot, second_root: secondRoot, proof, checkpoint } = proved;
  const facts = pairs([
    ["First", `${entries(proved.first_size)}, root ${clean(firstRoot)}`],
    ["Second", `${entries(proved.second_size)}, root ${clean(secondRoot)}`],
    ...proof.map((hash) => ["Proof", clean(hash)] as const),
  ]);
  if (checkpoint === undefined) return `${facts}\n\nNo checkpoint was signed at the second size.`;
  const note = checkpoint.replace(/\n$/, "").split("\n").map(clean).join("\n");
  return `${facts}\n\n${note}`;
}
