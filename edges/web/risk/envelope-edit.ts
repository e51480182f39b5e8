// What somebody typed into the editor of a fund's limits becomes a proposal in the way that ctl's flags do: the same fields, the same exact numbers. What was
// not touched stays as it is.
import type { EnvelopeField } from "../../words/envelope-fields.ts";
import { type Envelope, type Proposed, proposedEnvelope } from "../../words/envelope-proposal.ts";
import { typedRefusal } from "../model/typed-refusal.ts";

/** By the field's name; a field that was not touched is not in it. */
export type TypedLimits = Readonly<Record<string, string>>;

/** As it stands in a field of the form. */
export function limitText(field: EnvelopeField, envelope: Envelope): string {
  const value = (envelope as unknown as Readonly<Record<string, unknown>>)[field.name];
  if (value === undefined) return "";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, share]) => `${name}=${String(share)}`)
      .join(", ");
  }
  return String(value);
}

/** Throws a sentence for what cannot be read. */
export function proposalOf(
  fields: readonly EnvelopeField[],
  typed: TypedLimits,
  current: Envelope,
): Proposed & { version: number } {
  const byName = new Map<string, readonly string[]>();
  for (const field of fields) {
    const text = typed[field.name];
    if (text === undefined || text.trim() === limitText(field, current)) continue;
    byName.set(field.name, valuesOf(field, text.trim(), current));
  }
  const proposed = proposedEnvelope(
    {
      valuesOf: ({ name }) => byName.get(name) ?? [],
      refusal: ({ name }, text, wrong) => typedRefusal(name, text, wrong),
    },
    current,
  );
  if (proposed === undefined) throw new Error("Nothing is changed yet: type another value into one of the fields.");
  return proposed;
}

function valuesOf(field: EnvelopeField, text: string, current: Envelope): readonly string[] {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (field.kind === "words") return parts.length === 0 ? ["none"] : parts;
  if (field.kind !== "fractions" && text === "" && field.absent === undefined) {
    throw new Error(`${field.name} cannot be taken away: every fund has it. Type a value.`);
  }
  if (field.kind !== "fractions") return [text === "" ? "off" : text];
  const named = new Set(parts.map((part) => part.slice(0, part.lastIndexOf("="))));
  const gone = Object.keys(current.sector_limits_pct).filter((name) => !named.has(name));
  return [...parts, ...gone.map((name) => `${name}=off`)];
}
