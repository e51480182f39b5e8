// `ctl riskengine envelope show`: a fund's limits, now or as they were in a version.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { fundOption } from "../envelope-flags.ts";
import { Refusal, usageRefusal } from "../failure.ts";
import { envelopeText } from "../text/envelope-text.ts";
import { countOf } from "../text/numbers.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineEnvelopeShow: Verb = {
  name: "riskengine envelope show",
  heading: "Limits",
  sentence: "Show a fund's limits.",
  about: "Every _pct is a fraction: 0.07 is 7 %.",
  arguments: [{ name: "fund", sentence: "Which fund, instead of --fund-id.", optional: true }],
  options: [
    { ...fundOption, required: false },
    { name: "version", value: "N", sentence: "An older version instead of the one in force." },
  ],
  examples: [
    { command: "ctl riskengine envelope show --fund-id alpha", sentence: "The limits in force." },
    { command: "ctl riskengine envelope show --fund-id alpha --version 3 --json", sentence: "As they once were." },
  ],
  operation: "GetEnvelope",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? context.argument("fund");
  if (fundId === "") throw usageRefusal("Which fund? Add --fund-id FUND.");
  const typed = context.option("version");
  const version = typed === undefined ? undefined : countOf("version", typed, 1);
  const client = await context.client();
  if (version === undefined) {
    const envelope = await client.getEnvelope({ fundId });
    return { data: envelope, text: envelopeText(envelope, context) };
  }
  const found = (await client.listEnvelopes({ fundId, countMax: 1, after: version + 1 })).find(
    (one) => one.version === version,
  );
  if (found === undefined) {
    throw new Refusal(
      exitCodes.failed,
      "NOT_FOUND",
      `The fund ${fundId} has no version ${version} of its limits.`,
      `\`ctl riskengine envelope history --fund-id ${fundId}\` lists those it has.`,
    );
  }
  return { data: found, text: envelopeText(found, context) };
}
