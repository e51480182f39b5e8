// `ctl auth tokens rotate`: a successor for a machine's token; both work for a while, so that the machine can change over.

import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { cosignOption, nameOf, requested, sign } from "../operators/cosign.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { duration, shownOnce } from "./auth-tokens-issue.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authTokensRotate: Verb = {
  name: "auth tokens rotate",
  heading: "Tokens of machines",
  sentence: "Replace a machine's token by a new one; the old one works a while longer.",
  about:
    "The new token speaks of the same funds, for the same logins of NATS, and is printed on stdout, once. It asks for your second factor. In production a token that may change something is only requested (exit 8): another admin signs with --cosign and is shown the token.",
  arguments: [{ name: "token-id", sentence: "The token's id, as `ctl auth tokens list` shows it.", optional: true }],
  options: [
    {
      name: "overlap",
      value: "TIME",
      standard: "1h",
      sentence: "How long the old one still works: 45s, 30m, 12h, 90d.",
    },
    { name: "expires-in", value: "TIME", standard: "90d", sentence: "How long the new one works." },
    cosignOption,
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl auth tokens rotate 9f86d081884c7d659a2feaa0 --overlap 30m",
      sentence: "A successor, with half an hour to change over.",
    },
  ],
  operation: "RotateServiceToken",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const requestId = context.option("cosign");
  if (requestId !== undefined) return sign(context, requestId, "RotateServiceToken");
  const id = nameOf(context, "token-id", "the token");
  const overlapS = duration(context.option("overlap"), "overlap");
  const expiresInS = duration(context.option("expires-in"), "expires-in");
  const client = await context.client();
  const parameters = { id, overlap_s: overlapS, expires_in_s: expiresInS };
  const proof = await stepUpProof(context, client, { action: "RotateServiceToken", parameters });
  const request = { tokenId: id, overlapS, expiresInS, ...reasonOf(context), stepUpProof: proof };
  const issued = await client.rotateServiceToken(request);
  return "request_id" in issued ? requested(context, issued, "ctl auth tokens rotate") : shownOnce(context, issued);
}
