// `ctl operations audit erase`: what the audit log holds sealed about a person can never be read again. There is no way back, so a person types it out.
import { confirmed, confirmOption } from "../confirm.ts";
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

const confirmationWord = "ERASE";

export const operationsAuditErase: Verb = {
  name: "operations audit erase",
  heading: "Personal data",
  sentence: "Destroy the key of what the audit log holds sealed about a person.",
  about:
    "Every entry stays and the log still verifies; sealed fields about the person show as [erased] for good. That the key is gone is an entry. It asks for your second factor, and is refused without a reason.",
  arguments: [],
  options: [
    { name: "subject-id", value: "ID", required: true, sentence: "The person, as entries name them: operator:ada." },
    confirmOption(confirmationWord),
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl operations audit erase --subject-id operator:ada --reason leaver --confirm ERASE",
      sentence: "What is sealed about somebody who left.",
    },
  ],
  operation: "EraseAuditSubject",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const subjectId = context.option("subject-id") ?? "";
  const reason = needsReason(context);
  const consequence = `This erases what is sealed about ${clean(subjectId)}, for good.`;
  const confirmation = await confirmed(context, confirmationWord, () => [consequence]);
  const client = await context.client();
  const named = { action: "EraseAuditSubject", parameters: { subject_id: subjectId } } as const;
  const withoutProof = () => client.eraseAuditSubject({ subjectId, reason, confirmation });
  // The server refuses a wrong word and records it; nobody is asked for a code for that.
  if (confirmation !== confirmationWord) await withoutProof();
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  const done = await client.eraseAuditSubject({ subjectId, reason, confirmation, stepUpProof: proof });
  const [first] = done.sequences;
  const text =
    first === undefined
      ? `Nothing is sealed about ${clean(subjectId)}.`
      : `What was sealed about ${clean(subjectId)} is erased; entry ${done.sequences.join(", ")} says so.`;
  return { data: done, text };
}
