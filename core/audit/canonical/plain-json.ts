// Canonical JSON (RFC 8785) of values that a decoder made (of JSON, of protobuf) or that were put together here out of such: plain objects and arrays
// all the way, without a getter, texts of printable ASCII. It writes the same bytes as canonical-json.ts and an encoder would, sooner: no text is
// put together on the way, and what is made again and again has the same names in the same order, so that a name, its quotation marks and its
// place behind the one before are read once. Whatever is not so, or has no canonical form, must go the careful way.
import { hasNumberText, levelsMax, needsNoEscape } from "./canonical-json.ts";

/** A name behind the names before it in an object, which are those of its parents. */
interface Name {
  readonly name: string;
  /** What stands before the value: a brace or a comma, the name, a colon. */
  readonly text: string;
  /** The name that followed last, which most often follows again. */
  likely: Name | undefined;
  readonly following: Map<string, Name>;
}

/** Instead of a place: the value must go the careful way, or there is not so much room. Both are below zero. */
export const notPlain = -1;
export const noRoom = -2;
const namesMaxDefault = 4_096;
const quote = 0x22;
const comma = 0x2c;
const bracketOpen = 0x5b;
const bracketClose = 0x5d;
const braceOpen = 0x7b;
const braceClose = 0x7d;

/** By code, 1 for what is written as itself. */
const isWritten = Uint8Array.from({ length: 128 }, (_, code) =>
  needsNoEscape.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Writes into the room that it was given last; each answers the place behind what it wrote, `notPlain` or `noRoom`. */
interface PlainWriter {
  /** From now on into these bytes, and not beyond that place. */
  setRoom(bytes: Uint8Array, end: number): void;
  value(value: unknown, at: number, levels?: number): number;
  /** A text in quotation marks. */
  quoted(text: string, at: number): number;
  /** Text of ASCII, as it is. */
  ascii(text: string, at: number): number;
}

// tidy: long because everything writes into the same room, which is no parameter of each.
/** Made once and used again: it keeps so many names at most, and begins anew when there are more. */
export function createPlainWriter(namesMax = namesMaxDefault): PlainWriter {
  let before = nameOf("", "");
  let nameCount = 0;
  let bytes: Uint8Array = new Uint8Array(0);
  let end = 0;

  function ascii(text: string, at: number): number {
    const { length } = text;
    if (at + length > end) return noRoom;
    const into = bytes;
    for (let index = 0; index < length; index += 1) into[at + index] = text.charCodeAt(index);
    return at + length;
  }

  function quoted(text: string, at: number): number {
    const { length } = text;
    if (at + length + 2 > end) return noRoom;
    const into = bytes;
    into[at] = quote;
    const from = at + 1;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (isWritten[code] !== 1) return notPlain;
      into[from + index] = code;
    }
    into[from + length] = quote;
    return from + length + 1;
  }

  function value(written: unknown, at: number, levels: number): number {
    if (typeof written === "string") return quoted(written, at);
    if (typeof written === "number") return hasNumberText(written) ? ascii(`${written}`, at) : notPlain;
    if (typeof written === "boolean") return ascii(written ? "true" : "false", at);
    if (written === null) return ascii("null", at);
    if (typeof written !== "object" || levels === 0) return notPlain;
    return Array.isArray(written) ? array(written, at, levels - 1) : object(written, at, levels - 1);
  }

  function array(values: readonly unknown[], from: number, levels: number): number {
    if (Object.getPrototypeOf(values) !== Array.prototype) return notPlain;
    if (from + 2 > end) return noRoom;
    let at = from;
    for (let index = 0; index < values.length; index += 1) {
      bytes[at] = index === 0 ? bracketOpen : comma;
      at = value(values[index], at + 1, levels);
      if (at < 0) return at;
      // There is always room for one more byte: that of the bracket.
      if (at >= end) return noRoom;
    }
    if (at === from) {
      bytes[at] = bracketOpen;
      at += 1;
    }
    bytes[at] = bracketClose;
    return at + 1;
  }

  function object(members: object, from: number, levels: number): number {
    if (Object.getPrototypeOf(members) !== Object.prototype) return notPlain;
    if (from + 2 > end) return noRoom;
    const named = members as Readonly<Record<string, unknown>>;
    let last = before;
    let at = from;
    for (const key in named) {
      const name = last.likely?.name === key ? last.likely : follow(last, key);
      if (name === undefined) return notPlain;
      at = ascii(name.text, at);
      if (at >= 0) at = value(named[key], at, levels);
      if (at < 0) return at;
      if (at >= end) return noRoom;
      last = name;
    }
    if (at === from) {
      bytes[at] = braceOpen;
      at += 1;
    }
    bytes[at] = braceClose;
    return at + 1;
  }

  /** Undefined when the name does not sort behind the one before, or must be written otherwise than as itself. */
  function follow(last: Name, key: string): Name | undefined {
    let name = last.following.get(key);
    if (name === undefined) {
      const isFirst = last.text === "";
      if (!needsNoEscape.test(key) || (!isFirst && key < last.name)) return undefined;
      name = nameOf(key, `${isFirst ? "{" : ","}"${key}":`);
      keep(last, name);
    }
    last.likely = name;
    return name;
  }

  function keep(last: Name, name: Name): void {
    nameCount += 1;
    if (nameCount > namesMax) {
      before = nameOf("", "");
      nameCount = 0;
    }
    last.following.set(name.name, name);
  }

  return {
    setRoom(room, roomEnd) {
      bytes = room;
      end = roomEnd;
    },
    value: (written, at, levels = levelsMax) => (hasOnlyOwnKeys() ? value(written, at, levels) : notPlain),
    quoted,
    ascii,
  };
}

function nameOf(name: string, text: string): Name {
  return { name, text, likely: undefined, following: new Map() };
}

/** Keys are listed with those of the prototype, which has none unless somebody meddled with it. */
function hasOnlyOwnKeys(): boolean {
  for (const _key in Object.prototype) return false;
  return true;
}
