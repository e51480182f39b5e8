// `ctl auth tokens list`: the tokens of machines, never their values.
import type { Context } from "../context.ts";
import { moment, table } from "../text.ts";
import type { Answer, Verb } from "./verb.ts";

export const authTokensList: Verb = {
  name: "auth tokens list",
  heading: "Tokens of machines",
  sentence: "List the tokens of machines, newest first; never their values.",
  arguments: [],
  options: [{ name: "all", sentence: "Also those that were revoked or ran out." }],
  examples: [
    { command: "ctl auth tokens list", sentence: "Those that work." },
    { command: "ctl auth tokens list --all --json", sentence: "All of them, for a program." },
  ],
  operation: "ListServiceTokens",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const now = context.clock.now();
  const everything = await (await context.client()).listServiceTokens();
  const stateOf = (token: (typeof everything)[number]): string => {
    if (token.revoked_at !== undefined) return "revoked";
    if (moment(token.expires_at, now).endsWith("ago)")) return "ran out";
    return token.rotated_to === undefined ? "works" : "rotated, works until it runs out";
  };
  const tokens = everything.filter((token) => context.switched("all") || stateOf(token).includes("works"));
  if (tokens.length === 0) return { data: [], text: "There are none." };
  const rows = tokens.map((token) => [
    token.id,
    token.name,
    stateOf(token),
    moment(token.expires_at, now),
    token.created_by,
    token.operations.join(", "),
  ]);
  return { data: tokens, text: await table(["ID", "NAME", "STATE", "UNTIL", "BY", "OPERATIONS"], rows) };
}
