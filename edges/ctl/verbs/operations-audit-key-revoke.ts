// `ctl operations audit key revoke`: a key of the audit log that may have leaked counts no further than what it has signed.

import { usageRefusal } from "../failure.ts";
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean, pairs } from "../text/text.ts";
import { tellWitnesses } from "./operations-audit-key-rotate.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditKeyRevoke: Verb = {
  name: "operations audit key revoke",
  heading: "The key",
  sentence: "Take a key of the audit log out of force for good, for example because it leaked.",
  about:
    "A checkpoint of that key that is larger than its last one counts for nothing from now on. The key that signs now is rotated away first. It asks for your second factor, and is refused without a reason.",
  arguments: [],
  options: [
    {
      name: "key-id",
      value: "ID",
      required: true,
      sentence: "Its eight hex digits: between the plus signs of the key that `ctl operations audit status` shows.",
    },
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl operations audit key revoke --key-id 1a2b3c4d --reason leaked",
      sentence: "It was seen where it should not be.",
    },
  ],
  operation: "RevokeAuditKey",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const keyId = (context.option("key-id") ?? "").toLowerCase();
  if (!/^[0-9a-f]{8}$/.test(keyId)) {
    throw usageRefusal("--key-id has eight hex digits.", "`ctl operations audit status` shows the keys.");
  }
  const reason = needsReason(context);
  const client = await context.client();
  const named = { action: "RevokeAuditKey", parameters: { key_id: keyId } } as const;
  const proof = await permittedStepUpProof(context, client, named, () => client.revokeAuditKey({ keyId, reason }));
  const done = await client.revokeAuditKey({ keyId, reason, stepUpProof: proof });
  const lines = pairs([
    ["Revoked", clean(done.old_key)],
    ["Counts", `up to size ${done.trusted_size}`],
    ["Entry", String(done.sequence)],
    ["Signs now", clean(done.key)],
  ]);
  return { data: done, text: `The key ${keyId} is revoked.\n${lines}`, next: tellWitnesses(done.key) };
}
