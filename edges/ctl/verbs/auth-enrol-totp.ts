// `ctl auth enrol-totp`: sets up an authenticator. The secret goes to the terminal as a QR code and as text, the recovery codes go to stdout,
// once. Without a terminal it takes two calls: the first answers with the secret, the second confirms with --code.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import { isApiError } from "../failure.ts";
import { factorOptions, type ShownCode, shownCode, sixDigits } from "../login/one-time-code.ts";
import { wantsColour } from "../terminal.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authEnrolTotp: Verb = {
  name: "auth enrol-totp",
  heading: "Second factor",
  sentence: "Set up an authenticator as your second factor, and get recovery codes.",
  about:
    "Shows a QR code and its secret, asks for the first code, and prints the recovery codes: keep them, they are shown once. Whoever has a " +
    "second factor already shows it with --totp or --recovery-code; it stays in force until the new one is confirmed.",
  arguments: [],
  options: [
    {
      name: "code",
      value: "CODE",
      sentence: "Confirm the enrolment that was begun, with the new authenticator's code.",
    },
    ...factorOptions,
  ],
  examples: [
    { command: "ctl auth enrol-totp", sentence: "Set it up on a terminal." },
    { command: "ctl auth enrol-totp --json", sentence: "Begin without a terminal: answers with the secret, exit 8." },
    { command: "ctl auth enrol-totp --code 123456", sentence: "Confirm what was begun." },
  ],
  operation: "EnrolSecondFactor",
  changesState: true,
  run,
};

const triesMax = 3;

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const given = context.option("code");
  if (given !== undefined) return confirmed(await client.confirmSecondFactor({ code: sixDigits(given) }));
  const begun = await client.beginSecondFactor(await present(context, client));
  const { terminal } = context;
  if (!terminal.interactive) {
    return {
      data: { status: "pending", secret: begun.secret, uri: begun.uri },
      text: `Secret  ${clean(begun.secret)}\nURI     ${clean(begun.uri)}`,
      exit: exitCodes.pending,
      next: ["ctl auth enrol-totp --code CODE   confirm with the first code"],
    };
  }
  const [{ encode }, { qrLines }] = await Promise.all([import("uqr"), import("../text/qr-code.ts")]);
  // The secret first: on a small screen it is the code that must be in sight when the question stands.
  terminal.say(`Scan this with your authenticator, or type its secret:\n${terminal.paint.bold(clean(begun.secret))}`);
  terminal.say(qrLines(encode(begun.uri), wantsColour(context.environment, true)));
  return confirmed(await askUntilRight(context, client));
}

/** The factor in force, when there is one: replacing it needs it. */
async function present(context: Context, client: Client): Promise<ShownCode> {
  const identity = await client.getIdentity();
  const given = context.option("totp") ?? context.option("recovery-code");
  const enrolled = identity.second_factor?.enrolled_at ?? null;
  if (enrolled === null && given === undefined) return {};
  return shownCode(context, "You have a second factor already. Code of the present authenticator: ");
}

async function askUntilRight(context: Context, client: Client): Promise<{ recovery_codes: string[] }> {
  for (let left = triesMax - 1; ; left -= 1) {
    const code = await context.terminal.ask("First code of the new authenticator: ", "--code CODE", context.signal);
    try {
      return await client.confirmSecondFactor({ code: code.replaceAll(/[\s-]/g, "") });
    } catch (error) {
      const again = isApiError(error) && ["SECOND_FACTOR_WRONG", "INVALID_ARGUMENT"].includes(error.code);
      if (!again || left === 0) throw error;
      context.terminal.say("That was not the code. Wait for the next one and try again.");
    }
  }
}

function confirmed(answer: { readonly recovery_codes: readonly string[] }): Answer {
  return {
    data: { status: "enrolled", recovery_codes: answer.recovery_codes },
    text: answer.recovery_codes.map(clean).join("\n"),
    next: ["Keep these recovery codes safe: each works once; they are not shown again."],
  };
}
