// Text that a person writes anew: reasons, theses, names. It holds nothing that a cleaner of text (clean.ts) would have to mark. A schema says so by a
// named format and not by a pattern, because only people's doors hold a caller to it: what machines send, what is kept and what others publish is
// read as it is, and marked where it is shown. Every other text without a form of its own says why it is taken as it is.
import { z } from "zod";
import { clean, replaceUnseen } from "./clean.ts";

const typedFormat = "typed-text";

const typedTexts = z.registry<{ readonly typed: true }>();
const takenAsItIs = z.registry<{ readonly why: string }>();

/** A text that a person may write anew; of a list or a record every text in it, its names included. */
export function typed<Text extends z.ZodType>(schema: Text): Text {
  const named = schema instanceof z.ZodString ? (schema.meta({ format: typedFormat }) as unknown as Text) : schema;
  typedTexts.add(named, { typed: true });
  return named;
}

/** A text that is no one's to write anew, or is never shown: `why` says which. */
export function asItIs<Text extends z.ZodType>(schema: Text, why: string): Text {
  takenAsItIs.add(schema, { why });
  return schema;
}

export const isTyped = (schema: z.ZodType): boolean => typedTexts.get(schema) !== undefined;

export const isTakenAsItIs = (schema: z.ZodType): boolean => takenAsItIs.get(schema) !== undefined;

/** What people are told they may type. */
const expected = "text in which every character can be seen";

/** What is wrong with a typed text, naming the first character that cannot be seen and where it stands. */
export function unseenIn(text: string): string | undefined {
  let first: string | undefined;
  replaceUnseen(text, (character) => {
    first ??= character;
    return character;
  });
  if (first === undefined) return undefined;
  const place = [...text.slice(0, text.indexOf(first))].length + 1;
  return `${expected}: U+${clean(first).slice(3, -1)} is its character ${place}`;
}

type Step = string | number;
export type JudgeText = (text: string, path: readonly Step[]) => string;

/** The same value with every text in it, names of members included, as `judge` has it. Whoever calls bounds its depth. */
export function mapTexts(value: unknown, judge: JudgeText, path: readonly Step[] = []): unknown {
  if (typeof value === "string") return judge(value, path);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one, index) => mapTexts(one, judge, [...path, index]));
  const members = Object.entries(value).map(([name, inner]) => {
    return [judge(name, path), mapTexts(inner, judge, [...path, name])] as const;
  });
  return Object.fromEntries(members);
}

/** Marks make a text longer: never longer than it was, or than any reason may be. */
const markedLengthMax = 500;

/** The text with marks for what cannot be seen, cut where they would make it longer than may be kept. */
export function marked(text: string): string {
  const cleaned = clean(text);
  if (cleaned === text) return text;
  const lengthMax = Math.max(text.length, markedLengthMax);
  if (cleaned.length <= lengthMax) return cleaned;
  let kept = "";
  for (const character of cleaned) {
    if (kept.length + character.length > lengthMax) break;
    kept += character;
  }
  return kept;
}
