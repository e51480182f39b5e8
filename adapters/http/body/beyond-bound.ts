// Whether a body holds more than its route takes, found while the bytes are looked at and before anything is made of them: no text is decoded, no value is
// built, no schema is asked.
//
//  1. Every byte is looked at once, and of a body that holds too much the part that does is looked at once more, to say how much it holds.
//  2. Of JSON the answer is that of a count of its values. Of what is no JSON it may be anything: whoever reads it next complains.
//  3. A value of a kind that is not declared where it stands is left to the schema, which says so in its own words, up to `strayMax` of them in all.
import type { AnyMost } from "../../../contracts/src/bounds/at-most.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Bound } from "./bound.ts";

export interface Beyond {
  readonly path: readonly (string | number)[];
  readonly most: number;
  readonly unit: "entries" | "members" | "values" | "characters" | "levels" | "strays";
  /** How many there are; absent where that would have to be read first. */
  readonly sent?: number;
}

/** Twice as deep as anything that is taken; a bound for whatever walks the value later. */
export const levelsMax = 64;
/** Values of a kind that is not declared where they stand, with all that is inside them. */
const strayMax = 100;

/** What has an end of its own: the entries of a list, the members of an object, or all the values or characters of free JSON. */
interface Budget {
  readonly most: number;
  readonly unit: "entries" | "members" | "values" | "characters";
  /** Where its content begins, and how many levels stood open there. */
  readonly from: number;
  readonly level: number;
  left: number;
  /** Of characters: whether they were counted one by one, and not by their bytes, of which none takes less than one. */
  isExact: boolean;
}

/** Free JSON, with all that is inside. */
interface Free {
  readonly values: Budget;
  readonly characters: Budget;
}

interface Level {
  readonly isObject: boolean;
  /** Of a list or an object that is declared; what is inside any other is free JSON, or astray. */
  readonly bound: Bound | undefined;
  readonly own: Budget | undefined;
  readonly free: Free | undefined;
  /** The element, or where the name of the member stands. */
  index: number;
  nameFrom: number;
  nameTo: number;
  isNameNext: boolean;
  /** Of the member whose value comes next. */
  next: Bound;
}

type Kind = "text" | "scalar" | "list" | "object";

function takes({ characters, scalar, list, members, any }: Bound, kind: Kind): boolean {
  if (any !== undefined && (kind === "object" || !any.isObject)) return true;
  if (kind === "text") return characters !== undefined;
  if (kind === "scalar") return scalar === true;
  return (kind === "list" ? list : members) !== undefined;
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
  private straysLeft = strayMax;
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
        this.countValue(level, "scalar");
        return endOfWord(this.bytes, at);
    }
  }

  private lookAtText(begin: number, level: Level | undefined): number {
    const end = endOfText(this.bytes, begin);
    if (level?.isNameNext === true) this.lookAtName(begin + 1, end - 1, level);
    else {
      const bound = this.countValue(level, "text");
      this.spendCharacters(begin + 1, end - 1, bound.characters, level?.free);
    }
    return end;
  }

  private lookAtName(from: number, to: number, level: Level): void {
    level.isNameNext = false;
    level.nameFrom = from;
    level.nameTo = to;
    this.spend(level.own);
    const members = level.bound?.members;
    const isNamed = members !== undefined && members.known.size > 0;
    const known = isNamed ? members.known.get(textOf(this.bytes, from, to)) : undefined;
    level.next = known ?? members?.others?.each ?? none;
    this.spendCharacters(from, to, known === undefined ? members?.others?.characters : undefined, level.free);
  }

  /** One more value; what may stand in its place. */
  private countValue(level: Level | undefined, kind: Kind): Bound {
    if (level !== undefined && !level.isObject) {
      level.index += 1;
      this.spend(level.own);
    }
    if (level?.free !== undefined) {
      this.spend(level.free.values);
      return none;
    }
    const declared = level?.isObject === true ? level.next : (level?.bound?.list?.each ?? none);
    const bound = level === undefined ? this.root : declared;
    if (!takes(bound, kind)) this.countStray();
    return bound;
  }

  private countStray(): void {
    this.straysLeft -= 1;
    if (this.straysLeft >= 0 || this.beyond !== undefined) return;
    this.beyond = { path: this.pathTo(this.levels.length), most: strayMax, unit: "strays" };
  }

  private open(isObject: boolean, at: number, level: Level | undefined): void {
    const kind = isObject ? "object" : "list";
    const bound = this.countValue(level, kind);
    if (this.beyond !== undefined) return;
    if (this.levels.length >= levelsMax) {
      this.beyond = { path: [], most: levelsMax, unit: "levels", sent: deepest(this.bytes) };
      return;
    }
    const declared = isObject ? bound.members : bound.list;
    const isFree = declared === undefined && level?.free === undefined && takes(bound, kind);
    const place = { from: at + 1, level: this.levels.length };
    this.levels.push({
      isObject,
      bound: declared && bound,
      own: declared && budgetOf(declared.most, isObject ? "members" : "entries", place),
      free: isFree && bound.any !== undefined ? freeOf(bound.any, place) : level?.free,
      index: -1,
      nameFrom: 0,
      nameTo: 0,
      isNameNext: isObject,
      next: none,
    });
  }

  private spend(budget: Budget | undefined): void {
    if (budget === undefined || this.beyond !== undefined) return;
    budget.left -= 1;
    if (budget.left >= 0) return;
    const { most, unit, from, level } = budget;
    this.beyond = { path: this.pathTo(level), most, unit, sent: entriesFrom(this.bytes, from, unit === "values") };
  }

  private spendCharacters(from: number, to: number, most: number | undefined, free: Free | undefined): void {
    if (this.beyond !== undefined) return;
    if (most !== undefined && to - from > most) {
      const sent = unitsIn(this.bytes, from, to);
      if (sent > most) this.beyond = { path: this.pathTo(this.levels.length), most, unit: "characters", sent };
    }
    if (free === undefined) return;
    const { characters } = free;
    characters.left -= characters.isExact ? unitsIn(this.bytes, from, to) : to - from;
    if (characters.left >= 0) return;
    if (!characters.isExact) {
      characters.isExact = true;
      characters.left = characters.most - unitsBetween(this.bytes, characters.from, to);
    }
    if (characters.left >= 0) return;
    this.beyond = { path: this.pathTo(characters.level), most: characters.most, unit: "characters" };
  }

  private pathTo(level: number): readonly (string | number)[] {
    return this.levels
      .slice(0, level)
      .map((one) => (one.isObject ? textOf(this.bytes, one.nameFrom, one.nameTo) : one.index));
  }
}

function budgetOf(most: number, unit: Budget["unit"], { from, level }: Pick<Budget, "from" | "level">): Budget {
  return { most, unit, from, level, left: most, isExact: false };
}

function freeOf({ values, characters }: AnyMost, place: Pick<Budget, "from" | "level">): Free {
  return { values: budgetOf(values, "values", place), characters: budgetOf(characters, "characters", place) };
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
  for (let at = begin + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at += 1;
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

/** The same of every text and name between two places. */
function unitsBetween(bytes: Buffer, from: number, to: number): number {
  let units = 0;
  for (let at = bytes.indexOf(quote, from); at !== -1 && at < to; at = bytes.indexOf(quote, at)) {
    const end = endOfText(bytes, at);
    units += unitsIn(bytes, at + 1, end - 1);
    at = end;
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
