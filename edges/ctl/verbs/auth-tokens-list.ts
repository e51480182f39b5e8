// `ctl auth tokens list`: the tokens of machines, never their values.

import type { AnswerOf } from "../../client/src/types.ts";
import { followPages } from "../follow-pages.ts";
import { type Column, listing, listOptions } from "../text/listing.ts";
import { leftMs } from "../text/text.ts";
import { fundsText } from "./auth-tokens-issue.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authTokensList: Verb = {
  name: "auth tokens list",
  heading: "Tokens of machines",
  sentence: "List the tokens of machines, newest first; never their values.",
  arguments: [],
  options: [{ name: "all", sentence: "Also those that were revoked or ran out." }, ...listOptions],
  examples: [
    { command: "ctl auth tokens list", sentence: "Those that work." },
    { command: "ctl auth tokens list --all --json", sentence: "All of them, for a program." },
  ],
  operation: "ListServiceTokens",
  changesState: false,
  run,
};

type Token = AnswerOf<"listServiceTokens">[number];

async function run(context: Context): Promise<Answer> {
  const now = context.clock.now();
  const client = await context.client();
  const { rows: everything } = await followPages(
    Number.MAX_SAFE_INTEGER - 1,
    (token: Token) => token.id,
    (page) => client.listServiceTokens(page),
  );
  const stateOf = (token: Token): string => {
    if (token.revoked_at !== undefined) return "revoked";
    if (leftMs(token.expires_at, now) === 0) return "ran out";
    return token.rotated_to === undefined ? "works" : "rotated, works until it runs out";
  };
  const columns: readonly Column<Token>[] = [
    { name: "id", key: true, of: (token) => token.id },
    { name: "name", of: (token) => token.name },
    { name: "state", always: true, of: stateOf },
    { name: "until", of: (token) => token.expires_at, time: true },
    { name: "last_used", head: "last use", of: (token) => token.last_used_at, time: "never" },
    { name: "by", of: (token) => token.created_by },
    { name: "cosigned_by", head: "signed by", of: (token) => token.cosigned_by },
    { name: "funds", of: fundsText },
    { name: "nats_logins", head: "NATS logins", of: (token) => token.nats_logins?.join(", ") },
    { name: "operations", text: true, of: (token) => token.operations.join(", ") },
  ];
  const rows = everything.filter((token) => context.switched("all") || stateOf(token).includes("works"));
  return listing(context, { columns, rows, none: "There are none." });
}
