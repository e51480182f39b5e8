// Makes an event's payload fit for an entry, which takes less than JSON does (docs/audit-format.md). The same payload always becomes the same data,
// and what is changed stays recognisable:
//  - a number that is not a whole one up to 2^53 - 1 becomes its shortest decimal text; negative zero becomes zero;
//  - a member without a value is left out, an element without one becomes null;
//  - half of a surrogate pair becomes its escape as text, `\ud800`; in the name of a subject or an actor so does every character that cannot be seen;
//  - a text of more than 8,192 units, whatever lies deeper than 24 levels, and a payload that would make the entry longer than allowed, are cut:
//    `{"cut": the first part, "length": bytes, "sha256": hex}` over the UTF-8 of the text, or of the JSON of what was cut.
import { canonicalJson } from "../../../../core/audit/canonical/canonical-json.ts";
import { actorCharactersMax, subjectCharactersMax } from "../../../../core/audit/entry-layout.ts";
import { asHash, hexOfHash, type Sha256OfBytes } from "../../../../core/audit/hash.ts";
import { unseenCharacters } from "./reserved.ts";

const textUnitsMax = 8_192;
const levelsMax = 24;
const cutUnits = 256;
const cutUnitsOfPayload = 4_096;
/** What is left for the payload when everything around it is as long as it may be. */
const payloadBytesMax = 56_000;
const unknownSubject = "unknown";

interface Fitting {
  readonly sha256: Sha256OfBytes;
  /** What the JSON can be at most, in bytes: counted along the way, so that most payloads need not be written to be measured. */
  bytesMax: number;
}

const encoder = new TextEncoder();

/** The payload as an entry can hold it. */
export function fitPayload(payload: unknown, sha256: Sha256OfBytes): unknown {
  const fitting: Fitting = { sha256, bytesMax: 0 };
  const value = fitValue(payload, levelsMax, fitting);
  if (fitting.bytesMax <= payloadBytesMax) return value;
  const text = canonicalJson(value, { lengthMax: Number.MAX_SAFE_INTEGER });
  return encoder.encode(text).length <= payloadBytesMax ? value : cut(text, cutUnitsOfPayload, sha256);
}

/** A subject's id as an entry can hold it: never empty, never too long, and no two look alike only because of what cannot be seen. */
export function fitSubjectId(id: string, sha256: Sha256OfBytes): string {
  return fitField(seen(id === "" ? unknownSubject : id), subjectCharactersMax, sha256);
}

export function fitActor(actor: string, sha256: Sha256OfBytes): string {
  return fitField(seen(actor === "" ? unknownSubject : actor), actorCharactersMax, sha256);
}

/** Too long a field keeps its beginning and ends in the digest of the whole, so that two of them are never taken for one. */
function fitField(text: string, charactersMax: number, sha256: Sha256OfBytes): string {
  const whole = wellFormed(text);
  if (whole.length <= charactersMax) return whole;
  return `${wellFormed(whole.slice(0, charactersMax / 2))} sha256:${digestOf(whole, sha256)}`;
}

function fitValue(value: unknown, levels: number, fitting: Fitting): unknown {
  switch (typeof value) {
    case "string":
      return fitText(value, fitting);
    case "number":
      return fitNumber(value, fitting);
    case "object":
      if (value === null) break;
      if (levels === 0) return spendCut(cut(jsonOf(value), cutUnits, fitting.sha256), fitting);
      return Array.isArray(value) ? fitArray(value, levels - 1, fitting) : fitObject(value, levels - 1, fitting);
    case "boolean":
      break;
    default:
      // Nothing that came as JSON is of another kind; if it ever is, it is said to be nothing.
      fitting.bytesMax += 5;
      return null;
  }
  fitting.bytesMax += 6;
  return value;
}

function fitText(text: string, fitting: Fitting): unknown {
  if (text.length > textUnitsMax) return spendCut(cut(text, cutUnits, fitting.sha256), fitting);
  const whole = wellFormed(text);
  // No unit takes more than an escape of six bytes.
  fitting.bytesMax += 6 * whole.length + 3;
  return whole;
}

function fitNumber(value: number, fitting: Fitting): unknown {
  fitting.bytesMax += 32;
  if (value === 0) return 0;
  return Number.isSafeInteger(value) ? value : String(value);
}

function fitArray(array: readonly unknown[], levels: number, fitting: Fitting): unknown[] {
  fitting.bytesMax += 3;
  return array.map((element) => fitValue(element, levels, fitting));
}

function fitObject(object: object, levels: number, fitting: Fitting): Record<string, unknown> {
  fitting.bytesMax += 3;
  // Without a prototype, so that a member named __proto__ is one like any other.
  const fitted: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const name = fitField(key, textUnitsMax, fitting.sha256);
    fitting.bytesMax += 6 * name.length + 4;
    fitted[name] = fitValue(value, levels, fitting);
  }
  return fitted;
}

interface Cut {
  readonly cut: string;
  readonly length: number;
  readonly sha256: string;
}

function cut(text: string, units: number, sha256: Sha256OfBytes): Cut {
  const whole = wellFormed(text);
  const bytes = encoder.encode(whole);
  return { cut: wellFormed(whole.slice(0, units)), length: bytes.length, sha256: hexOfHash(asHash(sha256(bytes))) };
}

function spendCut(value: Cut, fitting: Fitting): Cut {
  fitting.bytesMax += 6 * value.cut.length + 128;
  return value;
}

function digestOf(text: string, sha256: Sha256OfBytes): string {
  return hexOfHash(asHash(sha256(encoder.encode(text))));
}

function jsonOf(value: object): string {
  return JSON.stringify(value) ?? "null";
}

function seen(text: string): string {
  return text.replaceAll(unseenCharacters, escapeOf);
}

function escapeOf(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
  return digits.length === 4 ? `\\u${digits}` : `\\u{${digits}}`;
}

function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, escapeOf);
}
