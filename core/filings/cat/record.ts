// One CAT record: held against the table of its event, and written as one line of JSON.
//
//  1. The fields stand in the order of the table, and an absent one is left out.
//  2. A number is the text of its decimal, never of a binary fraction, and has no exponent.
//  3. What a table does not know is a mistake like any other.
import * as decimal from "../../../contracts/src/decimal.ts";
import { catDate, catTime } from "../eastern-time.ts";
import type { FilingMistake } from "../mistake.ts";
import { catChoices, catPairs } from "./choices.ts";
import { crossMistakes } from "./cross-rules.ts";
import type { CatFields, CatTime, CatValue, PairValue } from "./fields.ts";
import { type CatField, layoutOf } from "./layouts.ts";

/** A line of JSON without its end, or why there is none. */
type CatRecord = { readonly line: string } | { readonly mistakes: readonly FilingMistake[] };

const lineBytesMax = 8_190;
const textLengths = { text64: 64, text40: 40, text20: 20, text4: 4, alnum40: 40, member: 16, party: 16, symbol: 22 };
const priceDigits = { before: 10, after: 8 };
const quantityDigits = { before: 12, after: 6 };
const wholeDigits = { before: 12, after: 0 };
const unsignedDigits = { before: 20, after: 0 };

/** `eventDate` is YYYY-MM-DD, Eastern. */
export function catRecord(fields: CatFields, eventDate: string): CatRecord {
  const type = fields["type"];
  const layout = typeof type === "string" ? layoutOf(type, eventDate) : undefined;
  if (layout === undefined) return { mistakes: [invalid("type", `${String(type)} is no event that is made`)] };
  const mistakes: FilingMistake[] = [];
  const members: string[] = [];
  for (const field of layout) {
    const value = fields[field.name];
    if (value === undefined) {
      if (field.isRequired) mistakes.push(missing(field.name));
      continue;
    }
    const written = writeField(field, value);
    if ("text" in written) members.push(`${JSON.stringify(field.name)}:${written.text}`);
    else mistakes.push(written);
  }
  const known = new Set(layout.map(({ name }) => name));
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && !known.has(name)) mistakes.push(invalid(name, `${String(type)} has no such field`));
  }
  mistakes.push(...crossMistakes(fields, eventDate));
  const line = `{${members.join(",")}}`;
  if (line.length > lineBytesMax) mistakes.push({ code: "2132", sentence: `A line has ${line.length} bytes.` });
  return mistakes.length === 0 ? { line } : { mistakes };
}

type Written = { readonly text: string } | FilingMistake;

function writeField({ name, type }: CatField, value: CatValue): Written {
  switch (type) {
    case "flag":
      return typeof value === "boolean" ? { text: String(value) } : invalid(name, "expected true or false");
    case "time":
      return isTime(value) ? { text: catTime(value.time) } : invalid(name, "expected a time");
    case "price":
      return writeNumber(name, value, priceDigits);
    case "quantity":
      return writeNumber(name, value, quantityDigits);
    case "whole":
      return writeNumber(name, value, wholeDigits);
    case "unsigned":
      return writeNumber(name, value, unsignedDigits);
    case "pairs":
      return writePairs(name, value);
    case "choice": {
      const isKnown = typeof value === "string" && (catChoices[name] ?? []).includes(value);
      return isKnown ? { text: JSON.stringify(value) } : invalid(name, `${JSON.stringify(value)} is none of its words`);
    }
    case "type":
      return { text: JSON.stringify(value) };
    case "imid":
      return writeText(name, value, /^[A-Z0-9]{1,7}$/, "1 to 7 capitals or digits");
    default:
      return writeText(name, value, undefined, `at most ${textLengths[type]} characters`, textLengths[type]);
  }
}

/** Printable ASCII without what separates fields in CAT's other form. */
export function isCatText(text: string, lengthMax: number): boolean {
  return text.length > 0 && text.length <= lengthMax && /^[\x20-\x7e]+$/.test(text) && !/[,|"@]/.test(text);
}

function writeText(
  name: string,
  value: CatValue,
  form: RegExp | undefined,
  expected: string,
  lengthMax = Number.MAX_SAFE_INTEGER,
): Written {
  if (typeof value !== "string") return invalid(name, "expected a text");
  if (value === "" || value.length > lengthMax || form?.test(value) === false) {
    return invalid(name, `expected ${expected}`);
  }
  if (!isCatText(value, lengthMax)) {
    return { code: "2136", field: name, sentence: `${name} holds a character that CAT does not take.` };
  }
  return { text: JSON.stringify(value) };
}

function writeNumber(
  name: string,
  value: CatValue,
  digits: { readonly before: number; readonly after: number },
): Written {
  const isNumber = typeof value === "object" && "number" in value;
  const parsed = isNumber ? decimal.tryParse(value.number) : undefined;
  if (parsed === undefined) return invalid(name, "expected a number");
  const text = decimal.format(parsed);
  const [whole = "", fraction = ""] = text.split(".");
  if (parsed < 0n) return invalid(name, `${text} is below zero`);
  if (whole.length > digits.before || fraction.length > digits.after) {
    return invalid(name, `${text} has more than ${digits.before} digits before the point or ${digits.after} after it`);
  }
  return { text };
}

function writePairs(name: string, value: CatValue): Written {
  if (typeof value !== "object" || !("pairs" in value)) return invalid(name, "expected pairs of names and values");
  const entries = Object.entries(value.pairs);
  if (entries.length === 0) return invalid(name, "expected at least one pair");
  const members: string[] = [];
  for (const [pair, held] of entries) {
    const form = catPairs[name]?.[pair];
    const text = writePair(form, held);
    if (text === undefined) return invalid(name, `${pair} does not hold what it must`);
    members.push(`${JSON.stringify(pair)}:${text}`);
  }
  return { text: `{${members.join(",")}}` };
}

function writePair(form: string | undefined, held: PairValue): string | undefined {
  if (held === true) return form === "flag" ? "true" : undefined;
  if ("time" in held) return form === "time" ? catTime(held.time) : undefined;
  if ("date" in held) return form === "date" ? catDate(held.date) : undefined;
  const written = form === "price" ? writeNumber("", held, priceDigits) : undefined;
  return written !== undefined && "text" in written ? written.text : undefined;
}

function isTime(value: CatValue): value is CatTime {
  return typeof value === "object" && "time" in value;
}

function missing(field: string): FilingMistake {
  return { code: "FILING_FIELD_MISSING", field, sentence: `${field} is missing.` };
}

function invalid(field: string, what: string): FilingMistake {
  return { code: "FILING_FIELD_INVALID", field, sentence: `${field}: ${what}.` };
}
