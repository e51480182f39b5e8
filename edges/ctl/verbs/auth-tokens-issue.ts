// `ctl auth tokens issue`: a token for a machine, narrowed to named operations and to a time. Its value goes to stdout, once.
import type { Client } from "../../client/src/types.ts";
import { usageRefusal } from "../failure.ts";
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { cosignOption, nameOf, requested, sign } from "../operators/cosign.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean, moment, secondsOf } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const authTokensIssue: Verb = {
  name: "auth tokens issue",
  heading: "Tokens of machines",
  sentence: "Give a machine a token for named operations, for a limited time.",
  about:
    "The token is printed on stdout, once. It asks for your second factor. In production one that may change something (trade, halt, adjust, append) is only requested (exit 8): another admin signs it with --cosign and is shown the token. A token lives for 90 days at most. It speaks of the funds that --fund names and of no other; without --fund, of every fund. What a login of NATS publishes that it names with --nats-login is its own, as if it had come under the token; from the first that is named on, no login is believed of what is not its own.",
  arguments: [{ name: "name", sentence: "How the machine stands in records: service:<name>.", optional: true }],
  options: [
    {
      name: "operation",
      value: "NAME",
      repeats: true,
      sentence: "What the token may do, by the names in docs/authority.md; repeat it, or use commas.",
    },
    {
      name: "fund",
      value: "FUND_ID",
      repeats: true,
      sentence: "A fund that the token may speak of; repeat it, or use commas. Without it: every fund.",
    },
    { name: "every-fund", sentence: "Say that it is every fund, those that are still to come included." },
    {
      name: "nats-login",
      value: "LOGIN",
      repeats: true,
      sentence: "A login of NATS that speaks for the token; repeat it, or use commas.",
    },
    { name: "expires-in", value: "TIME", standard: "90d", sentence: "How long it works: 45s, 30m, 12h, 90d." },
    cosignOption,
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl auth tokens issue acme-oms --operation CheckOrder,GetEnvelope --fund alpha --expires-in 30d",
      sentence: "A token for an order-management system of one fund.",
    },
    {
      command: "ctl auth tokens issue probe --operation ReadMetrics --every-fund --totp 123456 --json",
      sentence: "Without a terminal.",
    },
  ],
  operation: "IssueServiceToken",
  changesState: true,
  run,
};

type Operations = Parameters<Client["issueServiceToken"]>[0]["operations"];

async function run(context: Context): Promise<Answer> {
  const requestId = context.option("cosign");
  if (requestId !== undefined) return sign(context, requestId, "IssueServiceToken");
  const machine = nameOf(context, "name", "the machine");
  if (context.optionsOf("operation").length === 0) {
    throw usageRefusal("What the token may do is missing.", "Add --operation NAME, by the names in docs/authority.md.");
  }
  const { serviceOperations } = await import("../../../contracts/src/authority.ts");
  const operations = context.optionsOf("operation");
  // Before a code is asked for: the server would say the same, and the code would be used up.
  const unknown = operations.find((name) => !(serviceOperations as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw usageRefusal(
      `There is no operation "${unknown}" for machines.`,
      `A machine may be given: ${serviceOperations.join(", ")}.`,
    );
  }
  const request = {
    name: machine,
    operations: operations as Operations,
    ...fundsOf(context),
    ...loginsOf(context),
    expires_in_s: duration(context.option("expires-in"), "expires-in"),
  };
  const client = await context.client();
  const stepUp = await stepUpProof(context, client, { action: "IssueServiceToken", parameters: request });
  const { name, operations: named, funds, nats_logins: natsLogins, expires_in_s: expiresInS } = request;
  const issued = await client.issueServiceToken({
    name,
    operations: named,
    ...(funds === undefined ? {} : { funds }),
    ...(natsLogins === undefined ? {} : { natsLogins }),
    expiresInS,
    ...reasonOf(context),
    stepUpProof: stepUp,
  });
  return "request_id" in issued ? requested(context, issued, "ctl auth tokens issue") : shownOnce(context, issued);
}

function fundsOf(context: Context): { readonly funds?: string[] } {
  const funds = [...context.optionsOf("fund")];
  if (funds.length > 0 && context.switched("every-fund"))
    throw usageRefusal("--fund and --every-fund exclude each other.", "Name the funds, or say that it is every fund.");
  return funds.length === 0 ? {} : { funds };
}

function loginsOf(context: Context): { readonly nats_logins?: string[] } {
  const logins = [...context.optionsOf("nats-login")];
  return logins.length === 0 ? {} : { nats_logins: logins };
}

/** What a token may speak of. */
export function fundsText({ funds }: { readonly funds?: readonly string[] | undefined }): string {
  return funds === undefined ? "every fund" : funds.join(", ");
}

/** How issue and rotate answer alike. */
export function shownOnce(
  context: Context,
  issued: {
    readonly id: string;
    readonly name: string;
    readonly funds?: readonly string[] | undefined;
    readonly nats_logins?: readonly string[] | undefined;
    readonly expires_at: string;
    readonly token: string;
  },
): Answer {
  context.terminal.say(
    `Token ${clean(issued.id)} for service:${clean(issued.name)}, of ${clean(fundsText(issued))}, until ${moment(issued.expires_at, context.clock.now())}.`,
  );
  if (issued.nats_logins !== undefined)
    context.terminal.say(`These logins of NATS speak for it: ${clean(issued.nats_logins.join(", "))}.`);
  context.terminal.say("It is shown now and never again:");
  return { data: issued, text: clean(issued.token) };
}

export function duration(text: string | undefined, option: string): number {
  const seconds = secondsOf(text ?? "");
  if (seconds === undefined) throw usageRefusal(`--${option} is a number with its unit: 45s, 30m, 12h, 90d.`);
  return seconds;
}
