// `ctl signals rotate-secret`: a fund's webhook secret, the first and every next one, printed once.
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean, moment } from "../text/text.ts";
import { duration } from "./auth-tokens-issue.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const signalsRotateSecret: Verb = {
  name: "signals rotate-secret",
  heading: "Signals",
  sentence: "Make a new webhook secret for a fund; the one before works a while longer.",
  about:
    "The secret is printed on stdout, once. It asks for your second factor, and is refused without a reason. Without an overlap (0s) every earlier secret ends at once: do that when one has leaked.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", required: true, sentence: "The fund whose secret it is." },
    {
      name: "overlap",
      value: "TIME",
      standard: "15m",
      sentence: "How long the one before still works: 0s, 30m, 12h, 7d.",
    },
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl signals rotate-secret --fund-id alpha --reason first",
      sentence: "The fund takes alerts from now on.",
    },
    {
      command: "ctl signals rotate-secret --fund-id alpha --reason leaked --overlap 0s --totp 123456 --json",
      sentence: "Without a terminal, and the earlier one ends at once.",
    },
  ],
  operation: "RotateWebhookSecret",
  changesState: true,
  run,
};

function overlapOf(given: string | undefined): number {
  return given === "0s" ? 0 : duration(given, "overlap");
}

async function run(context: Context): Promise<Answer> {
  const reason = needsReason(context);
  const fundId = context.option("fund-id") ?? "";
  const overlapS = overlapOf(context.option("overlap"));
  const client = await context.client();
  const named = { action: "RotateWebhookSecret", parameters: { fund_id: fundId, overlap_s: overlapS } } as const;
  const request = { fundId, overlapS, reason };
  const stepUpProof = await permittedStepUpProof(context, client, named, () => client.rotateWebhookSecret(request));
  const rotated = await client.rotateWebhookSecret({ ...request, stepUpProof });
  const until = rotated.previous_valid_until;
  context.terminal.say(
    until === undefined
      ? `Secret ${rotated.version} of ${clean(rotated.fund_id)}; no earlier one works.`
      : `Secret ${rotated.version} of ${clean(rotated.fund_id)}; the one before works until ${moment(until, context.clock.now())}.`,
  );
  context.terminal.say("It is shown now and never again:");
  return { data: rotated, text: clean(rotated.secret) };
}
