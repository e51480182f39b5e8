// `ctl operations audit key rotate`: a new key that signs the audit log's checkpoints. Everybody who verifies must hear of it.

import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditKeyRotate: Verb = {
  name: "operations audit key rotate",
  heading: "The key",
  sentence: "Give the audit log a new key that signs its checkpoints.",
  about:
    "The server makes the key and keeps it among its secrets. The change is an entry, and a checkpoint that the old and the new key sign together; what the old key signed stays good. It asks for your second factor, and is refused without a reason.",
  arguments: [],
  options: [reasonOption, ...factorOptions],
  examples: [
    { command: "ctl operations audit key rotate --reason yearly", sentence: "The yearly change." },
    { command: "ctl operations audit key rotate --reason yearly --totp 123456", sentence: "The same from a script." },
  ],
  operation: "RotateAuditKey",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const reason = needsReason(context);
  const client = await context.client();
  const named = { action: "RotateAuditKey", parameters: {} } as const;
  const proof = await permittedStepUpProof(context, client, named, () => client.rotateAuditKey({ reason }));
  const done = await client.rotateAuditKey({ reason, stepUpProof: proof });
  const lines = pairs([
    ["New key", clean(done.key)],
    ["Old key", clean(done.old_key)],
    ["Entry", String(done.sequence)],
    ["Handover", `the checkpoint of size ${done.trusted_size}, signed by both`],
  ]);
  return { data: done, text: `The audit log has a new key.\n${lines}`, next: tellWitnesses(done.key) };
}

/** A witness does not read entries, so it cannot learn of a key by itself. */
export function tellWitnesses(vkey: string): readonly string[] {
  return [
    "Send the new key to everybody who verifies, and have every witness started with it in place of the old one:",
    `ctl operations audit witness --log '${clean(vkey)}' --name …`,
  ];
}
