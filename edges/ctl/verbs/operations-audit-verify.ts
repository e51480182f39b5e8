// `ctl operations audit verify`: whether the chain is whole; a broken one is shown with its place and exit code 10.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { closedLine, entries, logOf, logOption, orBrokenChain, verdictLines } from "../audit/audit-pages.ts";
import { watched } from "../audit/audit-runs.ts";
import { Refusal } from "../failure.ts";
import { countOf } from "../text/numbers.ts";
import { pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditVerify: Verb = {
  name: "operations audit verify",
  heading: "Verifying",
  sentence: "Verify the audit chain on the server.",
  about:
    "Exit 10 when it is broken, with the sequence, what is wrong, what was expected and what is there. A long log takes minutes; how far it is, is said on stderr, and Ctrl-C ends it. Who does not trust the server verifies an export.",
  arguments: [],
  options: [{ name: "from-sequence", value: "N", standard: "0", sentence: "Begin with this entry." }, logOption],
  examples: [
    { command: "ctl operations audit verify", sentence: "All of it." },
    {
      command: "ctl operations audit verify --from-sequence 1000000 --json",
      sentence: "The newer part, for a script.",
    },
    { command: "ctl operations audit verify --log 1", sentence: "A log that was closed." },
  ],
  operation: "BeginAuditVerification",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fromSequence = countOf("from-sequence", context.option("from-sequence") ?? "");
  const log = logOf(context);
  const client = await context.client();
  return orBrokenChain(async () => {
    const { verification: found } = await watched(
      context,
      client,
      await client.beginAuditVerification({ fromSequence, ...log }),
    );
    if (found === undefined) throw new Refusal(exitCodes.failed, "INTERNAL", "The server gave no verdict.");
    const lead = `The audit chain is whole: ${entries(found.entry_count)} from sequence ${fromSequence} on, no gaps.`;
    const { closed_logs: closed = [] } = await client.getAuditStatus();
    const before = log.log === undefined ? closed.map(closedLine) : [];
    return {
      data: { verified: true, ...found, ...(before.length > 0 && { closed_logs: closed }) },
      text: [lead, pairs([...verdictLines(found), ...before])].join("\n"),
    };
  });
}
