// The flags of a fund's limits, one for each field, and what typing them makes of the limits that are in force: everything that was not typed
// stays as it is.

import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { camelCase } from "../client/src/operation.ts";
import type { AnswerOf, Client } from "../client/src/types.ts";
import { type EnvelopeField, envelopeFields } from "../envelope-fields.ts";
import { isApiError, Refusal, usageRefusal } from "./failure.ts";
import { amountOf, countOf, fractionOf } from "./text/numbers.ts";
import type { Context, VerbOption } from "./verbs/verb.ts";

export type Envelope = AnswerOf<"getEnvelope">;
export type Proposed = NonNullable<Parameters<Client["diffEnvelopes"]>[0]["proposed"]>;

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

export function flagOf({ name, kind }: EnvelopeField): string {
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

/** The next version: the current one with what was typed. What the engine writes itself is left out. */
export function proposedEnvelope(
  context: Pick<Context, "optionsOf">,
  current: Envelope | undefined,
): Proposed & { version: number } {
  const typed = fields.filter((field) => context.optionsOf(flagOf(field)).length > 0);
  if (typed.length === 0) {
    throw usageRefusal("There is no limit to change: add at least one, for example --max-position-pct 0.05.");
  }
  const {
    updated_by: _by,
    updated_at: _at,
    loosening: _loosening,
    hash: _hash,
    reason: _reason,
    fund_id: _fund,
    ...limits
  } = current ?? empty;
  const next: Record<string, unknown> = { ...limits, version: (current?.version ?? 0) + 1 };
  for (const field of typed) {
    const value = typedValue(field, context.optionsOf(flagOf(field)), next[field.name]);
    if (value === undefined) delete next[field.name];
    else next[field.name] = value;
  }
  // Every field that was put in is of the kind that the list of fields gives it.
  return next as Proposed & { version: number };
}

/** A fund without limits begins with nothing allowed; the engine names what is missing. */
const empty: Partial<Envelope> & Pick<Proposed, "sector_limits_pct"> = {
  sector_limits_pct: {},
  allowed_brokers: [],
  allowed_order_types: [],
  allowed_asset_classes: [],
};

export function asArguments(fundId: string, envelope: object): Parameters<Client["updateEnvelope"]>[0] {
  const entries = Object.entries(envelope).map(([name, value]) => [camelCase(name), value]);
  return { fundId, ...Object.fromEntries(entries) } as Parameters<Client["updateEnvelope"]>[0];
}

/** Undefined takes the field away. */
function typedValue(field: EnvelopeField, typed: readonly string[], before: unknown): unknown {
  const option = flagOf(field);
  const last = typed.at(-1) ?? "";
  if (last === "off" && field.absent !== undefined) return undefined;
  switch (field.kind) {
    case "fraction":
      return fractionOf(option, last);
    case "amount":
      return amountOf(option, last);
    case "count":
      return countOf(option, last);
    case "switch":
      return last === "true";
    case "word":
      return last;
    case "words":
      return typed.length === 1 && last === "none" ? [] : typed;
    case "fractions":
      return sectorsOf(option, typed, before as Readonly<Record<string, number>>);
  }
}

function sectorsOf(option: string, typed: readonly string[], before: Readonly<Record<string, number>>): object {
  const sectors = new Map(Object.entries(before));
  for (const one of typed) {
    const at = one.lastIndexOf("=");
    const [name, share] = [one.slice(0, at), one.slice(at + 1)];
    if (at < 1) throw usageRefusal(`--${option} is a sector and its share, such as technology=0.3; "${one}" is not.`);
    if (share === "off") sectors.delete(name);
    else sectors.set(name, fractionOf(option, share));
  }
  return Object.fromEntries(sectors);
}
