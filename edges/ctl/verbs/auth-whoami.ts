// `ctl auth whoami`: who the server takes you for, until when, and where the token and the server's address came from, because a
// forgotten variable in a shell is how people act as somebody else.

import { isApiError } from "../failure.ts";
import { hintFor, tokenVariable } from "../settings.ts";
import { leftMs, moment, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authWhoami: Verb = {
  name: "auth whoami",
  heading: "Your login",
  sentence: "Show who you are, what you may do, until when, and where the token came from.",
  arguments: [],
  options: [],
  examples: [
    { command: "ctl auth whoami", sentence: "Who the server takes you for." },
    { command: "ctl auth whoami --json --profile desk", sentence: "The same of another login, for a program." },
  ],
  operation: "ReadIdentity",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const settings = context.settings();
  const tokenFrom = settings.token === undefined ? settings.profilePath : tokenVariable;
  const client = await context.client();
  const identity = await client.getIdentity().catch((error: unknown) => {
    // A token that is refused is when one wants to know most where it came from.
    if (isApiError(error) && error.status === 401) context.terminal.say(`The token came from ${tokenFrom}.`);
    throw error;
  });
  const now = context.clock.now();
  const factor = identity.second_factor;
  const profile = settings.token === undefined ? { name: settings.profile.value, from: settings.profile.from } : null;
  const data = {
    ...identity,
    expires_in_s: Math.floor(leftMs(identity.expires_at, now) / 1_000),
    token_from: tokenFrom,
    profile,
    server: { url: settings.server.value, from: settings.server.from },
  };
  const renews = settings.token === undefined && settings.stored?.refresh_token !== undefined;
  const said = profile === null || profile.from === "default" ? "" : `, from ${profile.from}`;
  const text = pairs([
    ["You are", identity.actor],
    ["Roles", identity.roles.join(", ") || "none"],
    ["Operations", identity.operations?.join(", ")],
    ["Issuer", identity.issuer],
    ["Until", `${moment(identity.expires_at, now)}${renews ? ", renewed by itself" : ""}`],
    [
      "Second factor",
      factor === null ? "none (a machine has none)" : hintFor(factorText(factor, now), settings.profile.value),
    ],
    ["Token from", profile === null ? tokenFrom : `${tokenFrom} (profile ${profile.name}${said})`],
    ["Server", `${settings.server.value} (from ${settings.server.from})`],
  ]);
  return { data, text };
}

type Factor = NonNullable<Awaited<ReturnType<Awaited<ReturnType<Context["client"]>>["getIdentity"]>>["second_factor"]>;

function factorText(factor: Factor, now: Parameters<typeof moment>[1]): string {
  if (factor.enrolled_at === null) return "not set up; `ctl auth enrol-totp` does it";
  const locked = factor.locked_until === null ? "" : `; locked until ${moment(factor.locked_until, now)}`;
  return `set up, ${factor.recovery_codes_left} recovery codes left${locked}`;
}
