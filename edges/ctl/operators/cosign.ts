// What two admins do together from the command line: one asks and gets a request (exit 8), the other one sees what they sign and signs it.
import type { Operation } from "../../../contracts/src/authority.ts";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { onlyOne } from "../id-prefix.ts";
import { permittedStepUpProof } from "../login/one-time-code.ts";
import { clean, moment, pairs } from "../text/text.ts";
import type { Answer, Context, VerbOption } from "../verbs/verb.ts";

export const cosignOption: VerbOption = {
  name: "cosign",
  value: "REQUEST_ID",
  sentence: "Sign another admin's request, instead of making one.",
};

/** The argument that only a signature does without. */
export function nameOf(context: Context, argument: string, what: string): string {
  const [given] = context.argumentsOf(argument);
  if (given !== undefined && given.trim() !== "") return given;
  throw usageRefusal(`The name of ${what} is missing.`, `Name it, or sign a request with --cosign REQUEST_ID.`);
}

type Request = AnswerOf<"listIdentityRequests">[number];

/** How each is done and signed. */
const commands: Partial<Readonly<Record<Operation, string>>> = {
  AddOperator: "ctl auth operators add",
  ChangeOperatorRoles: "ctl auth operators roles",
  ResetOperatorFactor: "ctl auth operators reset-factor",
  IssueServiceToken: "ctl auth tokens issue",
  RotateServiceToken: "ctl auth tokens rotate",
  AcceptUnauditedChange: "ctl operations unaudited accept",
};

export function commandOf(operation: Operation): string {
  return commands[operation] ?? "ctl auth requests list";
}

/** What is asked for, for whoever shall sign. */
function requestLines(request: Request, now: Parameters<typeof moment>[1]): string {
  const parameters = Object.entries(request.parameters).map(([name, value]) => {
    const text = Array.isArray(value) ? value.map(String).join(", ") : String(value);
    return `${name.replaceAll("_", " ")} ${clean(text)}`;
  });
  return pairs([
    ["Request", request.request_id],
    ["What", request.operation],
    ["About", clean(request.target)],
    ["Exactly", parameters.join("; ")],
    ["By", clean(request.requested_by)],
    ["Reason", clean(request.reason)],
    ["Good until", moment(request.expires_at, now)],
  ]);
}

/** Nothing is done yet. */
export function requested(
  context: Context,
  asked: Request & { readonly password_half?: string },
  command: string,
): Answer {
  const half =
    asked.password_half === undefined
      ? []
      : [
          "The first half of the password, shown now and never again; hand it to the person yourself:",
          asked.password_half,
        ];
  const next = `Another admin: ${command} --cosign ${clean(asked.request_id)} --totp CODE`;
  return {
    data: asked,
    text: [
      "Nothing is done yet: another admin must sign.",
      requestLines(asked, context.clock.now()),
      ...half.map((line) => clean(line)),
    ].join("\n"),
    exit: exitCodes.pending,
    next: [next],
  };
}

/** Shows what is signed, then signs it. */
export async function sign(context: Context, typed: string, operation: Operation): Promise<Answer> {
  const client = await context.client();
  const waiting = await client.listIdentityRequests().catch(() => [] as Request[]);
  const requestId = onlyOne(
    typed,
    waiting.map((request) => request.request_id),
  );
  const request = waiting.find((one) => one.request_id === requestId);
  if (request !== undefined && request.operation !== operation) {
    const command = `${commandOf(request.operation)} --cosign ${clean(requestId)}`;
    throw usageRefusal(`This request is for ${request.operation}.`, `Sign it with \`${command}\`.`);
  }
  if (request !== undefined && !context.json) context.terminal.say(requestLines(request, context.clock.now()));
  const named = { action: "CosignIdentityRequest", parameters: { request_id: requestId } } as const;
  const withoutProof = () => client.cosignIdentityRequest({ requestId });
  // Whoever cannot sign hears it from the server, and on record, before a code is used up.
  const isOwn = request !== undefined && request.requested_by === (await client.getIdentity()).actor;
  if (request === undefined || isOwn) await withoutProof();
  const proof = await permittedStepUpProof(context, client, named, withoutProof);
  return reportSigned(context, await client.cosignIdentityRequest({ requestId, stepUpProof: proof }));
}

function reportSigned(context: Context, done: AnswerOf<"cosignIdentityRequest">): Answer {
  const by = `asked for by ${clean(done.requested_by)}, signed by ${clean(done.cosigned_by)}`;
  if (done.token !== undefined) {
    const until = moment(done.token.expires_at, context.clock.now());
    context.terminal.say(`Token ${clean(done.token.id)} for service:${clean(done.token.name)}, until ${until}; ${by}.`);
    context.terminal.say("It is shown now and never again:");
    return { data: done, text: clean(done.token.token) };
  }
  if (done.password_half !== undefined) {
    context.terminal.say(`${clean(done.target)} may log in; ${by}.`);
    context.terminal.say("The second half of the password, shown now and never again; hand it to the person yourself.");
    context.terminal.say("They type the first half, a hyphen, and this:");
    return { data: done, text: clean(done.password_half) };
  }
  return { data: done, text: `${done.operation} of ${clean(done.target)} is done; ${by}.` };
}
