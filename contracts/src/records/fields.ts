// The fields that records are made of, each with its rule stated once. JSON carries decimals and times as text; they are
// validated here and stay text, so that what was received is what is stored, hashed and sent on.
//
// Unknown keys: a record that asks for something (an order, an envelope, a halt, a resume) is refused when it has a key that
// we do not know, because a misspelt limit must not be dropped in silence; a record that reports something (an event, an
// answer) is read without them, so that a newer publisher may add fields. Events whose payload the specification spells
// out are exact both ways.
import { z } from "zod";
import * as decimal from "../decimal.ts";
import * as instant from "../instant.ts";

/** Funds, strategies, orders, decisions, halts: letters, digits and `. _ : @ / -`, up to 128, never empty. */
export const idText = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$/, "expected an identifier");

/** AAPL, BTC-USD, or an option's name with its padding. */
export const symbolText = z.string().regex(/^[A-Z0-9][A-Z0-9 ._:/-]{0,63}$/, "expected a symbol in capitals");

/** Three to ten capitals or digits: USD, EUR, USDT. */
export const currencyText = z.string().regex(/^[A-Z][A-Z0-9]{2,9}$/, "expected a currency such as USD");

/** One line that a person wrote or reads; no control characters, so that it cannot break a log line or a terminal. */
export function lineText(lengthMax: number): z.ZodString {
  return z
    .string()
    .max(lengthMax)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "expected text without control characters");
}

export const nameText = lineText(200).min(1);
export const reasonText = lineText(2_000);

const personalFields = z.registry<{ readonly personal: true }>();

/** Marks a member of an event as being about a person, such as an address: the audit log seals it under that person's key. */
export function personal<Field extends z.ZodType>(field: Field): Field {
  personalFields.add(field, { personal: true });
  return field;
}

/** The members of a record that are about a person. Only its own members: none lies deeper. */
export function personalFieldsOf(schema: z.ZodType): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    personalFields.has(field as z.ZodType) ? [name] : [],
  );
}

/** What descriptions say of decimals as text; whether one is above zero is in no pattern. */
const digits = `(0|[1-9][0-9]{0,${decimal.integerDigitsMax - 1}})(\\.[0-9]{1,${decimal.fractionDigitsMax}})?`;
const [signed, unsigned] = [`^-?${digits}$`, `^${digits}$`];

/** A decimal as text, of either sign: "-12.5". */
export const decimalText = z
  .string()
  .refine(decimal.isDecimalText, "expected a decimal such as 12.5")
  .meta({ format: "decimal", pattern: signed });

/** A decimal above zero as text: quantities, prices of most instruments. */
export const positiveDecimalText = z
  .string()
  .refine((text) => (decimal.tryParse(text) ?? 0n) > 0n, "expected a decimal above zero")
  .meta({ format: "decimal", pattern: unsigned });

/** A decimal of zero or more as text. */
export const nonNegativeDecimalText = z
  .string()
  .refine((text) => (decimal.tryParse(text) ?? -1n) >= 0n, "expected a decimal of zero or more")
  // A zero may carry a sign.
  .meta({ format: "decimal", pattern: signed });

/** RFC 3339; we write UTC with microseconds and read any offset. */
export const instantText = z
  .string()
  .refine((text) => instant.tryParse(text) !== undefined, "expected a time such as 2026-11-15T13:30:00.000000Z")
  .meta({ format: "date-time" });

export const dateText = z
  .string()
  .refine((text) => instant.tryParseDate(text) !== undefined, "expected a date such as 2026-11-15")
  .meta({ format: "date" });

/** A count, a version, an epoch or a sequence: a whole number from zero that a double keeps exactly. */
export const countNumber = z.int().min(0);

/** A number that converts to an exact decimal from its shortest text, as the specification's JSON numbers must. */
export const decimalNumber = z.number().refine((value) => {
  try {
    decimal.fromNumber(value);
    return true;
  } catch (thrown) {
    if (thrown instanceof decimal.DecimalError) return false;
    throw thrown;
  }
}, "expected a number with at most 20 digits before and 18 after the point");

/** A share of NAV that exposure may reach, as a fraction: 0.07 is 7 %. Above 1 is leverage; above 10 is a mistake of units. */
export const exposureFraction = decimalNumber.min(0).max(10);

/** A loss or a distance as a fraction above 0 and up to 1: 0.02 is 2 %. */
export const lossFraction = decimalNumber.gt(0).max(1);

/** How far an exit's price may lie from the market, as a fraction: at 1 a sale would be allowed at nothing. */
export const exitCollarFraction = decimalNumber.gt(0).max(0.9);

/** A fraction from 0 to 1. */
export const unitFraction = decimalNumber.min(0).max(1);

/** SHA-256 in lower-case hexadecimal. */
export const hashText = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lower-case hexadecimal digits");

/** Figures by name, as they stood when something was decided. */
export const factsRecord = z.record(z.string().max(64), z.union([z.string(), z.number(), z.boolean(), z.null()]));
