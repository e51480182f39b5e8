// Whether a body holds more than its route takes, found while the bytes are looked at and before anything is made of them: no text is decoded, no value is
// built, no schema is asked.
//
//  1. Every byte is looked at once, and of a body that holds too much the part that does is looked at once more, to say how much it holds.
//  2. Of JSON the answer is that of a count of its values. Of what is no JSON it may be anything: whoever reads it next complains.
//  3. A value where no such value is declared is left to the schema, which says so in its own words, up to `strayMax` of them.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Bound } from "./bound.ts";

export interface Beyond {
  readonly path: readonly (string | number)[];
  readonly most: number;
  readonly unit: "entries" | "members" | "values" | "characters" | "levels";
  /** How many there are; absent where that would have to be read first. */
  readonly sent?: number;
}

/** Twice as deep as anything that is taken; a bound for whatever walks the value later. */
export const levelsMax = 64;
/** Values inside lists and objects that stand where none is declared, over the whole body. */
const strayMax = 100;

/** What has an end of its own: a list, an object, or free JSON with all that is inside. */
interface Budget {
  readonly most: number;
  readonly unit: Beyond["unit"];
  /** Where its content begins, and how many levels stood open there. */
  readonly from: number;
  readonly level: number;
  readonly isDeep: boolean;
  readonly purse: Purse;
}

/** What is left of a budget, or of several together. */
interface Purse {
  left: number;
}

interface Level {
  readonly isObject: boolean;
  readonly bound: Bound;
  /** What its own entries or members count against, and what every value in it does. */
  readonly own: Budget | undefined;
  readonly deep: Budget | undefined;
  /** Of the texts and names of free JSON. */
  readonly characters: Budget | undefined;
  /** The element, or where the name of the member stands. */
  index: number;
  nameFrom: number;
  nameTo: number;
  isNameNext: boolean;
  /** Of the member whose value comes next. */
  next: Bound;
}

const none: Bound = {};

export function beyondBound(bytes: Buffer, bound: Bound): Beyond | undefined {
  return new Look(bytes, bound).found();
}

const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A look has a place, what is open there, and what is left to spend: too much for a function to pass around. */
class Look {
  private readonly levels: Level[] = [];
  private readonly stray: Purse = { left: strayMax };
  private beyond: Beyond | undefined;
  private readonly bytes: Buffer;
  private readonly root: Bound;

  constructor(bytes: Buffer, root: Bound) {
    this.bytes = bytes;
    this.root = root;
  }

  found(): Beyond | undefined {
    const { bytes } = this;
    let at = 0;
    while (at < bytes.length && this.beyond === undefined) at = this.step(bytes[at] ?? 0, at);
    return this.beyond;
  }

  /** Where it goes on. */
  private step(byte: number, at: number): number {
    const level = this.levels.at(-1);
    switch (byte) {
      case quote:
        return this.lookAtText(at, level);
      case openList:
      case openObject:
        this.open(byte === openObject, at, level);
        return at + 1;
      case closeList:
      case closeObject:
        this.levels.pop();
        return at + 1;
      case comma:
        if (level !== undefined) level.isNameNext = level.isObject;
        return at + 1;
      default:
        if (isBetween(byte)) return at + 1;
        this.countValue(level);
        return endOfWord(this.bytes, at);
    }
  }

  private lookAtText(begin: number, level: Level | undefined): number {
    const end = endOfText(this.bytes, begin);
    if (level?.isNameNext === true) this.lookAtName(begin + 1, end - 1, level);
    else {
      const bound = this.countValue(level);
      this.spendCharacters(begin + 1, end - 1, bound.characters, level);
    }
    return end;
  }

  private lookAtName(from: number, to: number, level: Level): void {
    level.isNameNext = false;
    level.nameFrom = from;
    level.nameTo = to;
    this.spend(level.own);
    const { members } = level.bound;
    const known =
      members === undefined || members.known.size === 0 ? undefined : members.known.get(textOf(this.bytes, from, to));
    level.next = known ?? members?.others?.each ?? none;
    this.spendCharacters(from, to, known === undefined ? members?.others?.characters : undefined, level);
  }

  /** One more value; what may stand in its place. */
  private countValue(level: Level | undefined): Bound {
    if (level === undefined) return this.root;
    if (!level.isObject) {
      level.index += 1;
      this.spend(level.own);
    }
    this.spend(level.deep);
    return level.isObject ? level.next : (level.bound.list?.each ?? none);
  }

  private open(isObject: boolean, at: number, level: Level | undefined): void {
    const bound = this.countValue(level);
    if (this.beyond !== undefined) return;
    if (this.levels.length >= levelsMax) {
      this.beyond = { path: [], most: levelsMax, unit: "levels", sent: deepest(this.bytes) };
      return;
    }
    const from = at + 1;
    const budget = (most: number, unit: Beyond["unit"], isDeep: boolean, purse: Purse = { left: most }): Budget => {
      return { most, unit, from, level: this.levels.length, isDeep, purse };
    };
    const declared = isObject ? bound.members : bound.list;
    const own = declared === undefined ? undefined : budget(declared.most, isObject ? "members" : "entries", false);
    const { any } = bound;
    const isFree = declared === undefined && any !== undefined;
    // Inside free JSON everything counts against it; what is declared nowhere counts against what any body may have of that.
    const outer = level?.deep ?? budget(strayMax, "values", true, this.stray);
    const undeclared = isFree ? budget(any.values, "values", true) : outer;
    const characters = isFree ? budget(any.characters, "characters", true) : level?.characters;
    this.levels.push({
      isObject,
      bound: declared === undefined ? none : bound,
      own,
      deep: declared === undefined ? undeclared : undefined,
      characters: declared === undefined ? characters : undefined,
      index: -1,
      nameFrom: 0,
      nameTo: 0,
      isNameNext: isObject,
      next: none,
    });
  }

  private spend(budget: Budget | undefined, amount = 1): void {
    if (budget === undefined || this.beyond !== undefined) return;
    const { most, unit, from, level, isDeep, purse } = budget;
    purse.left -= amount;
    if (purse.left >= 0) return;
    const path = this.pathTo(level);
    this.beyond =
      unit === "characters" ? { path, most, unit } : { path, most, unit, sent: entriesFrom(this.bytes, from, isDeep) };
  }

  private spendCharacters(from: number, to: number, most: number | undefined, level: Level | undefined): void {
    if (this.beyond !== undefined) return;
    const { characters } = level ?? {};
    // No character takes less than a byte.
    if (characters === undefined && (most === undefined || to - from <= most)) return;
    const sent = unitsIn(this.bytes, from, to);
    if (most !== undefined && sent > most) {
      this.beyond = { path: this.pathTo(this.levels.length), most, unit: "characters", sent };
    } else this.spend(characters, sent);
  }

  private pathTo(level: number): readonly (string | number)[] {
    return this.levels
      .slice(0, level)
      .map((one) => (one.isObject ? textOf(this.bytes, one.nameFrom, one.nameTo) : one.index));
  }
}

/** Spaces, and the colon, after which nothing is known that was not known before. */
function isBetween(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === colon;
}

function endOfWord(bytes: Buffer, begin: number): number {
  let at = begin + 1;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isBetween(byte) || byte === comma || byte === quote) break;
    if (byte === openList || byte === closeList || byte === openObject || byte === closeObject) break;
  }
  return at;
}

/** Just behind its closing quotation mark. */
function endOfText(bytes: Buffer, begin: number): number {
  for (let at = bytes.indexOf(quote, begin + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return bytes.length + 1;
}

/** A name as the reader of JSON will have it; of what is no JSON something like it. */
function textOf(bytes: Buffer, from: number, to: number): string {
  const raw = bytes.toString("utf8", from, to);
  if (!raw.includes("\\")) return raw;
  try {
    return parseJson(`"${raw}"`) as string;
  } catch {
    // No JSON: whoever reads it next complains.
    return raw;
  }
}

/** How long the text between two quotation marks is, in UTF-16 units, without decoding it. */
function unitsIn(bytes: Buffer, from: number, to: number): number {
  let units = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === backslash) {
      // `\n` is two bytes and `\u0041` is six, and each is one unit.
      at += bytes[at + 1] === 0x75 ? 5 : 1;
      units += 1;
    } else if (byte < 0x80 || byte >= 0xc0) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

/** How many entries, or members, the list or object has whose content begins there; with all that is inside them when `isDeep`. */
function entriesFrom(bytes: Buffer, from: number, isDeep: boolean): number {
  let [depth, entries, isEmpty] = [0, 0, true];
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isBetween(byte)) continue;
    if (byte === closeList || byte === closeObject) {
      if (depth === 0) break;
      depth -= 1;
      isEmpty = false;
      continue;
    }
    // The first in its list or object is counted where it begins, and every other one at the comma before it.
    if ((isEmpty || byte === comma) && (isDeep || depth === 0)) entries += 1;
    isEmpty = false;
    if (byte === quote) at = endOfText(bytes, at) - 1;
    else if (byte === openList || byte === openObject) {
      depth += 1;
      isEmpty = true;
    }
  }
  return entries;
}

/** How many levels a body has. */
function deepest(bytes: Buffer): number {
  let [depth, most] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) at = endOfText(bytes, at) - 1;
    else if (byte === openList || byte === openObject) {
      depth += 1;
      most = Math.max(most, depth);
    } else if (byte === closeList || byte === closeObject) depth -= 1;
  }
  return most;
}
