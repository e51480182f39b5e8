// What the library's JSON reader lets pass although it loses something on the way, and what is therefore refused for every route: a member that
// stands twice (the last would win), half of a surrogate pair (it would become a replacement character, and two texts would become one),
// bytes that are no UTF-8 (the same), and a whole number of which the reader would keep only the first digits. The text is looked at after it was found to be JSON, so that the look can be a simple one.

import { Fault } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { detailOf, fieldName } from "../field-errors.ts";

type Step = string | number;

/** An object or a list that is open where the look has come to. */
interface Level {
  /** The members so far; absent in a list. */
  readonly names: Set<string> | undefined;
  /** The member or the element that is being looked at. */
  at: Step;
  /** Whether the next text is a member's name. */
  isNameNext: boolean;
}

const lossless = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Of a whole text: paired surrogates are one character and are not found. */
const loneSurrogate = /\p{Surrogate}/u;
const structural = /["{}[\],]|-?[0-9][0-9.eE+-]*/g;
/** Any shorter one is kept as it is. */
const wholeDigitsMin = 16;
const whole = /^-?[0-9]+$/;

/** The body as text, when it is UTF-8. */
export function strictText(bytes: Uint8Array): string {
  try {
    return lossless.decode(bytes);
  } catch (cause) {
    const expected = `UTF-8, and it is not at or shortly before byte ${firstLostByte(bytes)}`;
    throw refused([], expected, { cause, byteOffset: firstLostByte(bytes) });
  }
}

/** Where the text that a lenient reader makes of it differs from what was sent. */
function firstLostByte(bytes: Uint8Array): number {
  const again = new TextEncoder().encode(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  const at = bytes.findIndex((byte, index) => byte !== again[index]);
  return at === -1 ? bytes.length : at;
}

/** So many take about a millisecond. */
const marksAtOnce = 4_096;

/** Refuses a text, known to be JSON, of which reading would lose something; says where. Step by step, for whoever has something else to do in between. */
export function* refusingLossyJson(text: string): Generator<void, void> {
  let looked = 0;
  const levels: Level[] = [];
  // A copy: an expression remembers where it was, also when the look ended by throwing.
  const marks = new RegExp(structural);
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    looked += 1;
    if (looked % marksAtOnce === 0) yield;
    const level = levels.at(-1);
    switch (mark[0]) {
      case '"':
        marks.lastIndex = lookAtText(text, mark.index, levels);
        break;
      case "{":
        levels.push({ names: new Set(), at: "", isNameNext: true });
        break;
      case "[":
        levels.push({ names: undefined, at: 0, isNameNext: false });
        break;
      case ",":
        if (level !== undefined) next(level);
        break;
      case "}":
      case "]":
        levels.pop();
        break;
      default:
        lookAtNumber(mark[0], mark.index, levels);
    }
  }
}

/** Somebody's id or amount in digits must not become another one. */
function lookAtNumber(digits: string, offset: number, levels: readonly Level[]): void {
  if (digits.length < wholeDigitsMin || !whole.test(digits)) return;
  const read = Number(digits);
  if (Number.isFinite(read) && BigInt(read) === BigInt(digits)) return;
  const expected = "a number that keeps its digits, and this one would lose some: send it as text";
  throw refused(pathOf(levels), expected, { offset });
}

function next(level: Level): void {
  if (level.names !== undefined) level.isNameNext = true;
  else if (typeof level.at === "number") level.at += 1;
}

/** Looks at the text that begins here, as a name or as a value; where it ends. */
function lookAtText(text: string, begin: number, levels: readonly Level[]): number {
  const end = endOfText(text, begin);
  const raw = text.slice(begin, end);
  const level = levels.at(-1);
  const isName = level?.isNameNext === true;
  if (!isName && !raw.includes("\\u")) return end;
  const value = parseJson(raw) as string;
  if (isName) lookAtName(value, begin, level, levels);
  if (loneSurrogate.test(value)) {
    throw refused(pathOf(levels), "whole characters, and it has half of a surrogate pair", { offset: begin });
  }
  return end;
}

function lookAtName(name: string, offset: number, level: Level, levels: readonly Level[]): void {
  level.isNameNext = false;
  level.at = name;
  if (level.names?.has(name)) {
    throw refused(pathOf(levels), "this member once, and it stands there twice", { offset });
  }
  level.names?.add(name);
}

/** Just behind its closing quotation mark. */
function endOfText(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function pathOf(levels: readonly Level[]): readonly Step[] {
  return levels.map(({ at }) => at);
}

interface Place {
  /** In characters of the text, or in bytes of what is no text. */
  readonly offset?: number;
  readonly byteOffset?: number;
  readonly cause?: unknown;
}

function refused(path: readonly Step[], expected: string, { cause, ...facts }: Place): Fault {
  // A name may itself be what cannot be written.
  const field = fieldName("body", path).replaceAll(/\p{Surrogate}/gu, "\ufffd");
  return new Fault("INVALID_ARGUMENT", detailOf([{ field, expected }]), { retry: "never", cause, facts });
}
