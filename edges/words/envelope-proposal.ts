// What typing limits makes of those in force: everything that was not typed stays as it is.
import { camelCase } from "../client/src/operation.ts";
import type { AnswerOf, Client } from "../client/src/types.ts";
import { type EnvelopeField, envelopeFields } from "./envelope-fields.ts";
import { NotThat, typedAmount, typedCount, typedFraction } from "./typed-numbers.ts";

export type Envelope = AnswerOf<"getEnvelope">;
export type Proposed = NonNullable<Parameters<Client["diffEnvelopes"]>[0]["proposed"]>;

const fields: readonly EnvelopeField[] = envelopeFields;

interface TypedEnvelope {
  /** None for a field that was not typed; several for a list. */
  valuesOf(field: EnvelopeField): readonly string[];
  /** What is thrown for a value that is not what the field takes. */
  refusal(field: EnvelopeField, typed: string, wrong: NotThat): Error;
}

/** The next version: the current one with what was typed; undefined when nothing was. What the engine writes itself is left out. */
export function proposedEnvelope(
  { valuesOf, refusal }: TypedEnvelope,
  current: Envelope | undefined,
): (Proposed & { version: number }) | undefined {
  const typed = fields.filter((field) => valuesOf(field).length > 0);
  if (typed.length === 0) return undefined;
  const next: Record<string, unknown> = { ...withoutRecord(current ?? empty), version: (current?.version ?? 0) + 1 };
  for (const field of typed) {
    const values = valuesOf(field);
    const value = refusing(
      () => typedValue(field, values, next[field.name]),
      (wrong) => refusal(field, values.at(-1) ?? "", wrong),
    );
    if (value === undefined) delete next[field.name];
    else next[field.name] = value;
  }
  // Every field that was put in is of the kind that the list of fields gives it.
  return next as Proposed & { version: number };
}

/** The limits alone, as a next version begins with them. */
export function withoutRecord(envelope: Partial<Envelope>): Record<string, unknown> {
  const {
    updated_by: _by,
    updated_at: _at,
    loosening: _loosening,
    hash: _hash,
    reason: _reason,
    fund_id: _fund,
    version: _version,
    ...limits
  } = envelope;
  return limits;
}

function refusing(read: () => unknown, refusal: (wrong: NotThat) => Error): unknown {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof NotThat ? refusal(thrown) : thrown;
  }
}

/** A fund without limits begins with nothing allowed; the engine names what is missing. */
export const empty: Partial<Envelope> & Pick<Proposed, "sector_limits_pct"> = {
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
  const last = typed.at(-1) ?? "";
  if (last === "off" && field.absent !== undefined) return undefined;
  switch (field.kind) {
    case "fraction":
      return typedFraction(last);
    case "amount":
      return typedAmount(last);
    case "count":
      return typedCount(last);
    case "switch":
      return last === "true";
    case "word":
      return last;
    case "words":
      return typed.length === 1 && last === "none" ? [] : typed;
    case "fractions":
      return sectorsOf(typed, before as Readonly<Record<string, number>>);
  }
}

function sectorsOf(typed: readonly string[], before: Readonly<Record<string, number>>): object {
  const sectors = new Map(Object.entries(before));
  for (const one of typed) {
    const at = one.lastIndexOf("=");
    const [name, share] = [one.slice(0, at), one.slice(at + 1)];
    if (at < 1) throw new NotThat("a sector and its share, such as technology=0.3");
    if (share === "off") sectors.delete(name);
    else sectors.set(name, typedFraction(share));
  }
  return Object.fromEntries(sectors);
}
