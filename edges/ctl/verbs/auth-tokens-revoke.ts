// `ctl auth tokens revoke`: takes a machine's token away. It is the safe direction, so it asks for nothing more.

import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authTokensRevoke: Verb = {
  name: "auth tokens revoke",
  heading: "Tokens of machines",
  sentence: "Take a machine's token away, at once.",
  arguments: [{ name: "token-id", sentence: "The token's id, as `ctl auth tokens list` shows it." }],
  options: [reasonOption],
  examples: [
    { command: "ctl auth tokens revoke 9f86d081884c7d659a2feaa0", sentence: "The machine is refused from now on." },
  ],
  operation: "RevokeServiceToken",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const revoked = await client.revokeServiceToken({ tokenId: context.argument("token-id"), ...reasonOf(context) });
  const said = `Token ${clean(revoked.id)} of service:${clean(revoked.name)} is revoked.`;
  return {
    data: revoked,
    text: revoked.nats_logins === undefined ? said : `${said}\n${loginsText(revoked.nats_logins)}`,
  };
}

/** Only the server can end a connection. */
const loginsText = (logins: readonly string[]): string =>
  `What these logins of NATS publish is refused from now on, unless another token of that name works: ${clean(logins.join(", "))}. Take them away at the server.`;
