// `ctl auth revoke-sessions`: ends every login of a person, for example when a laptop is lost. It is the safe direction.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authRevokeSessions: Verb = {
  name: "auth revoke-sessions",
  heading: "Administration",
  sentence: "End every login of a person, everywhere.",
  arguments: [{ name: "operator", sentence: "Who, as records name them: duty, or operator:duty." }],
  options: [reasonOption],
  examples: [{ command: "ctl auth revoke-sessions relief", sentence: "A lost laptop: every login of relief ends." }],
  operation: "RevokeSessions",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const named = context.argument("operator");
  const actor = named.includes(":") ? named : `operator:${named}`;
  const answer = await (await context.client()).revokeSessions({ actor, ...reasonOf(context) });
  // Whether anybody has that name is not known of another's issuer, nor by an older server: only a plain no is one.
  if ((answer as { readonly known?: boolean | null }).known === false) {
    return {
      data: { actor, ...answer },
      text: "Nobody of that name is known here; the revocation is kept in case they log in.",
      exit: exitCodes.failed,
    };
  }
  const withinS = answer.effective_within_ms / 1_000;
  return {
    data: { actor, ...answer },
    text: `Every login of ${actor} is ended; it is refused everywhere within ${withinS} s.`,
  };
}
