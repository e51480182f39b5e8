// `ctl operations audit proof`: one entry as a file that verifies without us.
import { resolve } from "node:path";
import { writeWhole } from "../audit/audit-file.ts";
import { countOf } from "../text/numbers.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditProof: Verb = {
  name: "operations audit proof",
  heading: "Handing out",
  sentence: "Get the proof that an entry is in the audit chain, to be verified offline.",
  about: "It is a C2SP tlog-proof file: the entry, its path to the root, and the signed checkpoint.",
  arguments: [],
  options: [
    { name: "sequence", value: "N", required: true, sentence: "The entry's number." },
    { name: "out", value: "PATH", sentence: "Write it to this file instead of stdout; one that is there is replaced." },
  ],
  examples: [
    { command: "ctl operations audit proof --sequence 1042", sentence: "To see it." },
    { command: "ctl operations audit proof --sequence 1042 --out 1042.tlog-proof", sentence: "To hand it on." },
  ],
  operation: "GetAuditProof",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const sequence = countOf("sequence", context.option("sequence") ?? "");
  const file = await (await context.client()).getAuditProof({ sequence });
  const out = context.option("out");
  if (out === undefined) {
    // Byte for byte, unless somebody put in what a terminal would obey.
    const text = file.replace(/\n$/, "").split("\n").map(clean).join("\n");
    return { data: { sequence, file }, text };
  }
  const path = resolve(context.folder, out);
  await writeWhole(path, (write) => write(file));
  return { data: { sequence, path }, text: `The proof of entry ${sequence} is in ${clean(path)}.` };
}
