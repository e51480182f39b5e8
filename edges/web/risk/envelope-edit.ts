// What somebody typed into the editor of a fund's limits becomes a proposal in the way that ctl's flags do: the same fields, the same exact numbers, the same
// sentences when one is no number. What was not touched stays as it is.
import { type Envelope, flagOf, type Proposed, proposedEnvelope } from "../../ctl/envelope-flags.ts";
import type { EnvelopeField } from "../../envelope-fields.ts";

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
  const byFlag = new Map<string, readonly string[]>();
  for (const field of fields) {
    const text = typed[field.name];
    if (text === undefined || text.trim() === limitText(field, current)) continue;
    byFlag.set(flagOf(field), valuesOf(field, text.trim(), current));
  }
  return proposedEnvelope({ optionsOf: (name) => [...(byFlag.get(name) ?? [])] }, current);
}

function valuesOf(field: EnvelopeField, text: string, current: Envelope): readonly string[] {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (field.kind === "words") return parts.length === 0 ? ["none"] : parts;
  if (field.kind !== "fractions") return [text === "" ? "off" : text];
  const named = new Set(parts.map((part) => part.slice(0, part.lastIndexOf("="))));
  const gone = Object.keys(current.sector_limits_pct).filter((name) => !named.has(name));
  return [...parts, ...gone.map((name) => `${name}=off`)];
}
