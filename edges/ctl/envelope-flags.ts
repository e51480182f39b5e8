// The flags of a fund's limits, one for each field, and what typing them makes of the limits that are in force: everything that was not typed
// stays as it is.

import { exitCodes } from "../../contracts/src/codes/shape.ts";
import type { Client } from "../client/src/types.ts";
import { type EnvelopeField, envelopeFields } from "../words/envelope-fields.ts";
import { type Envelope, type Proposed, proposedEnvelope } from "../words/envelope-proposal.ts";
import { isApiError, Refusal, usageRefusal } from "./failure.ts";
import { numberRefusal } from "./text/numbers.ts";
import type { Context, VerbOption } from "./verbs/verb.ts";

const fields: readonly EnvelopeField[] = envelopeFields;

export const fundOption: VerbOption = { name: "fund-id", value: "FUND", required: true, sentence: "Which fund." };

const placeholders: Readonly<Record<EnvelopeField["kind"], string>> = {
  fraction: "FRACTION",
  amount: "AMOUNT",
  count: "COUNT",
  switch: "BOOLEAN",
  words: "WORD",
  word: "WORD",
  fractions: "NAME=FRACTION",
};

function flagOf({ name, kind }: EnvelopeField): string {
  return kind === "fractions" ? "sector-limit" : name.replaceAll("_", "-");
}

function explained(field: EnvelopeField): string {
  if (field.kind === "fractions") return `${field.sentence} NAME=off takes one away. Repeatable.`;
  if (field.kind === "words") return `${field.sentence} Repeat it, or use commas; none empties the list.`;
  if (field.absent === undefined || field.kind === "switch" || field.kind === "word") return field.sentence;
  return `${field.sentence} The word off takes it away.`;
}

export const envelopeOptions: readonly VerbOption[] = fields.map((field) => ({
  name: flagOf(field),
  value: placeholders[field.kind],
  sentence: explained(field),
  ...(field.kind === "words" || field.kind === "fractions" ? { repeats: true } : {}),
  ...(field.values === undefined ? {} : { values: field.values }),
  ...(field.kind === "switch" ? { values: ["true", "false"] } : {}),
  ...(field.kind === "switch" || field.kind === "word" ? { closed: true } : {}),
}));

/** The limits in force; undefined when the fund has none yet. */
export async function currentEnvelope(client: Client, fundId: string): Promise<Envelope | undefined> {
  try {
    return await client.getEnvelope({ fundId });
  } catch (thrown) {
    if (isApiError(thrown) && thrown.code === "NOT_FOUND") return undefined;
    throw thrown;
  }
}

/** A fund without limits may be one that does not exist: then that is said, and not which of its limits are missing. */
export async function assertFundExists(client: Client, fundId: string): Promise<void> {
  const funds = await knownFunds(client);
  if (funds === undefined || funds.includes(fundId)) return;
  const hint = "`ctl treasury funds list` shows the funds there are.";
  throw new Refusal(exitCodes.failed, "NOT_FOUND", `There is no fund ${JSON.stringify(fundId)}.`, hint);
}

/** Undefined when the server does not tell: then the engine, which knows as well, has the last word. */
async function knownFunds(client: Client): Promise<readonly string[] | undefined> {
  try {
    return (await client.listFunds()).map((fund) => fund.fund_id);
  } catch (thrown) {
    if (isApiError(thrown)) return undefined;
    throw thrown;
  }
}

/** The next version: the current one with what was typed. */
export function flaggedEnvelope(
  context: Pick<Context, "optionsOf">,
  current: Envelope | undefined,
): Proposed & { version: number } {
  const proposed = proposedEnvelope(
    {
      valuesOf: (field) => context.optionsOf(flagOf(field)),
      refusal: (field, typed, wrong) => numberRefusal(flagOf(field), typed, wrong),
    },
    current,
  );
  if (proposed !== undefined) return proposed;
  throw usageRefusal("There is no limit to change: add at least one, for example --max-position-pct 0.05.");
}
