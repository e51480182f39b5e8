// Canonical JSON (RFC 8785) of values that a decoder made (of JSON, of protobuf) or that were put together here out of such: plain objects and arrays
// all the way, without a getter. It writes the same text as canonical-json.ts, sooner: what is made again and again has the same names in the same
// order, so that a name, its quotation marks and its place behind the one before are looked at once. Whatever is not so, or has no
// canonical form, goes the careful way.
import { canonicalJson, levelsMax, needsNoEscape, textBytesMax } from "./canonical-json.ts";

/** A name behind the names before it in an object, which are those of its parents. */
interface Name {
  readonly name: string;
  /** What stands before the value: a brace or a comma, the name, a colon. */
  readonly text: string;
  /** The name that followed last, which most often follows again. */
  likely: Name | undefined;
  readonly following: Map<string, Name>;
}

/** What a writer gives instead of a text, which is never empty. */
const notPlain = "";
const namesMaxDefault = 4_096;

/** Made once and used again: it keeps so many names at most, and begins anew when there are more. */
export function createPlainWriter(namesMax = namesMaxDefault): typeof canonicalJson {
  let before = nameOf("", "");
  let nameCount = 0;
  /** How many values may still come: one value in many places would grow without bound. */
  let left = 0;

  function write(value: unknown, levels: number): string {
    left -= 1;
    if (typeof value === "string") return needsNoEscape.test(value) ? `"${value}"` : notPlain;
    if (typeof value === "number") return Number.isSafeInteger(value) && !Object.is(value, -0) ? `${value}` : notPlain;
    if (typeof value === "boolean") return value ? "true" : "false";
    if (value === null) return "null";
    if (typeof value !== "object" || levels === 0 || left < 0) return notPlain;
    return Array.isArray(value) ? writeArray(value, levels - 1) : writeObject(value, levels - 1);
  }

  function writeArray(array: readonly unknown[], levels: number): string {
    if (Object.getPrototypeOf(array) !== Array.prototype || array.length > left) return notPlain;
    let text = "[";
    for (let index = 0; index < array.length; index += 1) {
      const written = write(array[index], levels);
      if (written === notPlain) return notPlain;
      text += index === 0 ? written : `,${written}`;
    }
    return `${text}]`;
  }

  function writeObject(object: object, levels: number): string {
    if (Object.getPrototypeOf(object) !== Object.prototype) return notPlain;
    const named = object as Readonly<Record<string, unknown>>;
    let last = before;
    let text = "";
    for (const key in named) {
      const name = last.likely?.name === key ? last.likely : follow(last, key);
      const written = name === undefined ? notPlain : write(named[key], levels);
      if (name === undefined || written === notPlain) return notPlain;
      text += name.text + written;
      last = name;
    }
    return text === "" ? "{}" : `${text}}`;
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

  return (value, limits = {}) => {
    const lengthMax = limits.lengthMax ?? textBytesMax;
    left = lengthMax;
    const text = hasOnlyOwnKeys() ? write(value, limits.levelsMax ?? levelsMax) : notPlain;
    return text === notPlain || text.length > lengthMax || left < 0 ? canonicalJson(value, limits) : text;
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
