// `ctl auth logout`: ends the login on the server and at its issuer, then forgets it here. It says truthfully which of these happened: a
// token that only this machine forgot still works for whoever copied it.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf, Refusal } from "../failure.ts";
import { ownProfile } from "../login/bearer.ts";
import { type Profile, readProfile, removeProfile } from "../login/profile.ts";
import { lockPathOf, underLock } from "../login/profile-lock.ts";
import { tokenVariable } from "../settings.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authLogout: Verb = {
  name: "auth logout",
  heading: "Your login",
  sentence: "End the login on the server and at the issuer, and forget it here.",
  about:
    "When the server cannot be reached, the login is forgotten here, and you are told that it still works elsewhere until it runs out.",
  arguments: [],
  options: [],
  examples: [
    { command: "ctl auth logout", sentence: "End this login." },
    { command: "ctl auth logout --profile desk", sentence: "End another one." },
  ],
  operation: "LogOut",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const settings = context.settings();
  if (settings.token !== undefined) {
    throw new Refusal(
      exitCodes.usage,
      "INVALID_ARGUMENT",
      `${tokenVariable} is set: a token from the environment is not a login of ctl.`,
      `Unset ${tokenVariable}; a service token is taken away with \`ctl auth tokens revoke\`.`,
    );
  }
  if (settings.damaged !== undefined) {
    removeProfile(settings.profilePath);
    context.terminal.say(
      `${clean(settings.damaged.message)} It is removed; if it was a login, an administrator ends it with \`ctl auth revoke-sessions\`.`,
    );
  }
  if (settings.stored === undefined) {
    return {
      data: { logged_out: false, profile: settings.profile.value },
      text: `Nobody was logged in under the profile "${settings.profile.value}".`,
    };
  }
  const profile = ownProfile(settings);
  const server = await attempt(context, async () => {
    const answer = await (await context.client()).logOut();
    return { done: true, said: `ended, refused everywhere within ${answer.effective_within_ms / 1_000} s` };
  });
  // Under the lock, so that no other ctl writes a renewed login back afterwards.
  const issuer = await underLock(lockPathOf(settings.profilePath), context, async () => {
    const ended = await attempt(context, () => atIssuer(settings.profilePath, profile));
    removeProfile(settings.profilePath);
    return ended;
  });
  const everywhere = server.done && issuer.done;
  const outOfReach = server.outOfReach === true || issuer.outOfReach === true;
  const reported = [
    `The login at ${settings.server.value}: ${server.said}.`,
    `At its issuer: ${issuer.said}.`,
    `Forgotten here: ${settings.profilePath}.`,
  ];
  if (!everywhere)
    reported.push(
      `What could not be ended works until it runs out; an administrator can end it with \`ctl auth revoke-sessions ${profile.name}\`.`,
    );
  return {
    data: {
      logged_out: true,
      ended_on_server: server.done,
      ended_at_issuer: issuer.done,
      profile: settings.profile.value,
    },
    text: reported.join("\n"),
    exit: outOfReach ? exitCodes.unavailable : exitCodes.ok,
  };
}

interface Attempt {
  readonly done: boolean;
  readonly said: string;
  readonly outOfReach?: boolean;
}

async function attempt(context: Context, step: () => Promise<Attempt>): Promise<Attempt> {
  try {
    return await step();
  } catch (error) {
    if (context.signal.aborted) throw error;
    const { exit, detail } = await failureOf(error);
    // A login that is over already needs no ending.
    if (exit === exitCodes.notLoggedIn) return { done: true, said: "it had ended already" };
    return { done: false, said: `NOT ended: ${clean(detail).replace(/\.$/, "")}`, outOfReach: true };
  }
}

async function atIssuer(path: string, before: Profile): Promise<Attempt> {
  const { refresh_token, ...facts } = readProfile(path) ?? before;
  if (refresh_token === undefined) return { done: true, said: "there was nothing to end" };
  const { revoke } = await import("../login/issuer.ts");
  const outcome = await revoke(facts, refresh_token);
  if (outcome === "revoked") return { done: true, said: "the refresh token is revoked" };
  return { done: false, said: "NOT ended: it has no way to revoke a refresh token" };
}
