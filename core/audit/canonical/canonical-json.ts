// Canonical JSON (RFC 8785) of plain values, strictly: what cannot be read back as the very same value is refused, never bent into something
// near it. Only objects, arrays, strings, booleans, null and finite numbers pass; of whole numbers those up to 2^53 - 1, and those from 1e21 on, which
// are written with an exponent. Between them RFC 8785 writes digits that look exact and may not be what somebody sent.
//
// Every property is read once, through its descriptor: no getter and no toJSON runs, and a Proxy that changes its mind between two
// looks gets no second one. What was read is what is written.

type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** How many objects and arrays may stand inside each other, the outermost counted. */
export const levelsMax = 32;
/** How many bytes the text of an entry has at most. */
export const textBytesMax = 65_535;

export interface Limits {
  readonly levelsMax?: number;
  /** In UTF-16 units: a text never has fewer bytes. */
  readonly lengthMax?: number;
}

const noLimits: Limits = {};

/** A value that has no canonical form, where it stands, and why. */
export class ValueRefused extends Error {
  override readonly name = "ValueRefused";
  readonly path: string;
  readonly why: string;

  constructor(path: string, why: string) {
    super(`${path === "" ? "the value" : path}: ${why}`);
    this.path = path;
    this.why = why;
  }
}

/** The canonical text of a value. Throws ValueRefused. */
export function canonicalJson(value: unknown, limits: Limits = noLimits): string {
  // The fields of an entry are mostly such words.
  if (typeof value === "string" && limits === noLimits && value.length <= shortMax && needsNoEscape.test(value)) {
    return `"${value}"`;
  }
  return write(value, limits.levelsMax ?? levelsMax, { left: limits.lengthMax ?? textBytesMax, path: [] });
}

interface Writing {
  /** What the text may still grow by. Without it one array that is held in many places would grow without bound. */
  left: number;
  readonly path: (string | number)[];
}

/** Shorter than any limit. */
const shortMax = 256;
// With the flag u a pair counts as one character, so that this finds lone halves only.
const loneSurrogate = /\p{Surrogate}/u;
/** Texts of printable ASCII that are written as they are. */
export const needsNoEscape = /^[ !#-[\]-~]*$/;

/** From here on RFC 8785 writes whole numbers with an exponent. */
const exponentFrom = 1e21;

/** Whether the number has a text that every reader takes for the same number. That text is what the language writes: RFC 8785 took it from here. */
export function hasNumberText(value: number): boolean {
  if (Number.isSafeInteger(value)) return true;
  return Number.isFinite(value) && (!Number.isInteger(value) || Math.abs(value) >= exponentFrom);
}

function whyNot(value: number): string {
  if (!Number.isFinite(value)) return "not a finite number";
  return "a whole number beyond 9007199254740991 (2^53 - 1) may have lost digits: send it as text";
}

function write(value: unknown, levels: number, writing: Writing): string {
  switch (typeof value) {
    case "string":
      return spend(quoted(value, writing), writing);
    case "number":
      if (!hasNumberText(value)) throw refusal(writing, whyNot(value));
      return spend(String(value), writing);
    case "boolean":
      return spend(value ? "true" : "false", writing);
    case "object":
      if (value === null) return spend("null", writing);
      if (levels === 0) throw refusal(writing, "too many levels");
      return Array.isArray(value) ? writeArray(value, levels - 1, writing) : writeObject(value, levels - 1, writing);
    default:
      throw refusal(writing, `${typeof value} has no JSON`);
  }
}

function writeArray(array: readonly unknown[], levels: number, writing: Writing): string {
  if (Object.getPrototypeOf(array) !== Array.prototype) throw refusal(writing, "not a plain array");
  const { length } = array;
  // Before the keys are listed: an element takes at least two characters.
  if (length * 2 > writing.left) throw refusal(writing, "too long");
  if (Reflect.ownKeys(array).length !== length + 1) throw refusal(writing, "an array with holes or with properties");
  let text = spend("[", writing);
  for (let index = 0; index < length; index += 1) {
    writing.path.push(index);
    if (index > 0) text += spend(",", writing);
    text += write(plainProperty(array, String(index), writing), levels, writing);
    writing.path.pop();
  }
  return text + spend("]", writing);
}

function writeObject(object: object, levels: number, writing: Writing): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw refusal(writing, "not a plain object");
  const keys = sortedKeys(object, writing);
  let text = spend("{", writing);
  for (const key of keys) {
    writing.path.push(key);
    if (text.length > 1) text += spend(",", writing);
    text += spend(`${quoted(key, writing)}:`, writing);
    text += write(plainProperty(object, key, writing), levels, writing);
    writing.path.pop();
  }
  return text + spend("}", writing);
}

function sortedKeys(object: object, writing: Writing): readonly string[] {
  const keys: string[] = [];
  let isSorted = true;
  let last = "";
  for (const key of Reflect.ownKeys(object)) {
    if (typeof key === "symbol") throw refusal(writing, "a symbol as a key");
    if (key < last) isSorted = false;
    last = key;
    keys.push(key);
  }
  // By UTF-16 code units, as RFC 8785 asks for; most objects come with their keys in order.
  return isSorted ? keys : keys.sort();
}

function plainProperty(holder: object, key: string, writing: Writing): unknown {
  const descriptor = Reflect.getOwnPropertyDescriptor(holder, key);
  if (descriptor === undefined) throw refusal(writing, "not there");
  if (!("value" in descriptor)) throw refusal(writing, "computed when it is read");
  if (descriptor.enumerable !== true) throw refusal(writing, "hidden from whoever lists the properties");
  return descriptor.value;
}

function quoted(text: string, writing: Writing): string {
  if (needsNoEscape.test(text)) return `"${text}"`;
  if (loneSurrogate.test(text)) throw refusal(writing, "half of a surrogate pair");
  // Of a well-formed string this is what RFC 8785 writes down: it took its escapes from here.
  return JSON.stringify(text);
}

function spend(text: string, writing: Writing): string {
  writing.left -= text.length;
  if (writing.left < 0) throw refusal(writing, "too long");
  return text;
}

function refusal({ path }: Writing, why: string): ValueRefused {
  let place = "";
  for (const step of path) {
    if (typeof step === "number") place += `[${step}]`;
    else place += place === "" ? step : `.${step}`;
  }
  return new ValueRefused(place, why);
}

const encoder = new TextEncoder();
// A mark at the beginning is a character like any other: what is skipped in reading would be a change.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes of a text. An encoder would put another character in the place of a lone surrogate without a word: refused. */
export function utf8(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  // As many bytes as characters are ASCII, where there is nothing to look for.
  if (bytes.length !== text.length && loneSurrogate.test(text)) throw new ValueRefused("", "half of a surrogate pair");
  return bytes;
}

/** The same in a room that has three bytes for every unit of the text: the part of it that was written. */
export function utf8Into(text: string, room: Uint8Array): Uint8Array {
  const { written } = encoder.encodeInto(text, room);
  if (written !== text.length && loneSurrogate.test(text)) throw new ValueRefused("", "half of a surrogate pair");
  return room.subarray(0, written);
}

/** The text of bytes; a TypeError when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
