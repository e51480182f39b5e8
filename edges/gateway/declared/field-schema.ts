// One declared field as a schema: in JSON, or as it stands in a path or a query, where everything comes as text.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import type { FieldShape } from "../../../contracts/src/declared.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import { tryParse, tryParseDate } from "../../../contracts/src/instant.ts";
import {
  currencyText,
  dateText,
  decimalText,
  factsRecord,
  hashText,
  idText,
  lineText,
  nonNegativeDecimalText,
  positiveDecimalText,
  symbolText,
} from "../../../contracts/src/records/fields.ts";
import { booleanAsked } from "../schemas/asked-boolean.ts";
import { decimalAsked, wholeAsked } from "../schemas/asked-numbers.ts";
import { timeText } from "../schemas/fields.ts";
import { proofText } from "../schemas/second-factor.ts";

/** Longer than any text that a field bounds itself. */
const lineLengthMax = 10_000;

const momentText = atMost(
  z.string().refine((text) => tryParse(text) !== undefined || tryParseDate(text) !== undefined, {
    message: "expected a date such as 2026-11-15, or a time such as 2026-11-15T13:30:00Z",
  }),
  { characters: 256 },
);

/** In JSON. `bounded` is false where lengths are only about what is asked. */
export function jsonSchema(field: FieldShape, bounded = true): z.ZodType {
  switch (field.type) {
    case "text":
    case "word":
      return textSchema(field, bounded);
    case "whole":
      return numberSchema(z.int().min(field.min ?? 0), field);
    case "number":
      return numberSchema(z.number(), field);
    case "boolean":
      return z.boolean();
    case "struct":
      return freeSchema(field);
    case "map":
      return mapSchema(field);
    default:
      throw new Defect(`${field.name} is of the type ${field.type}, which has no form in JSON.`);
  }
}

/** Whose lists and members have no maximum is found by the door that would read it (adapters/http/body/bound.ts). */
function freeSchema({ kind, maxCount, maxLength }: FieldShape): z.ZodType {
  const free = kind === "FACTS" ? factsRecord : z.record(z.string(), z.unknown());
  if (maxCount === undefined || maxLength === undefined) return free;
  return atMost(free, { any: { values: maxCount, characters: maxLength } });
}

function mapSchema({ maxCount, ofTexts }: FieldShape): z.ZodType {
  const text = atMost(z.string(), { characters: 1_000 });
  if (maxCount === undefined) return z.record(z.string(), ofTexts === true ? z.string() : z.number());
  return atMost(z.record(text, ofTexts === true ? text : z.number()), { members: maxCount });
}

/** In a path or a query. */
export function askedSchema(field: FieldShape): z.ZodType {
  if (field.list) throw new Defect(`${field.name} is a list, which a query has no form for.`);
  if (field.type === "whole") return wholeAsked(field.min ?? 0, field.max);
  if (field.type === "boolean") return booleanAsked();
  if (field.type !== "number") return jsonSchema(field);
  if (field.max === undefined || field.above !== 0) throw new Defect(`${field.name} needs bounds: above 0, and a max.`);
  return decimalAsked(field.max);
}

function textSchema(field: FieldShape, bounded: boolean): z.ZodType {
  const [first, ...others] = field.values ?? [];
  if (first !== undefined) return z.enum([first, ...others]);
  const { kind, minLength, maxLength, pattern } = field;
  if (kind === "DECIMAL") return decimalSchema(field);
  if (kind === "MOMENT") return momentText;
  let text = kind === undefined ? z.string() : textOf(kind, field);
  if (pattern !== undefined) text = text.regex(new RegExp(pattern), `expected ${field.expected}`);
  if (bounded && minLength !== undefined) text = text.min(minLength);
  return bounded && maxLength !== undefined && kind !== "LINE" ? text.max(maxLength) : text;
}

function textOf(kind: NonNullable<FieldShape["kind"]>, { maxLength }: FieldShape): z.ZodString {
  switch (kind) {
    case "ID":
      return idText;
    case "SYMBOL":
      return symbolText;
    case "CURRENCY":
      return currencyText;
    case "INSTANT":
      return timeText;
    case "DATE":
      return dateText;
    case "HASH":
      return hashText;
    case "PROOF":
      return proofText;
    case "LINE":
      return lineText(maxLength ?? lineLengthMax);
    default:
      throw new Defect(`${kind} is no kind of text.`);
  }
}

function decimalSchema({ positive, nonNegative }: FieldShape): z.ZodType {
  if (positive) return positiveDecimalText;
  return nonNegative ? nonNegativeDecimalText : decimalText;
}

function numberSchema(base: z.ZodNumber, { type, min, max, above, below }: FieldShape): z.ZodType {
  let number = base;
  if (type === "number" && min !== undefined) number = number.min(min);
  if (above !== undefined) number = number.gt(above);
  if (below !== undefined) number = number.lt(below);
  return max === undefined ? number : number.max(max);
}
