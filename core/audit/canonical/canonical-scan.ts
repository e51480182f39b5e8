// Whether bytes are canonical JSON (RFC 8785) of our values, found out in one pass and without building anything: this is what every entry of a log
// goes through whenever it is verified, so it must cost less than its hash.
//
// The bytes are first copied into a room with zeros behind them. A zero is allowed nowhere, so that no scan runs past the end, and four bytes
// can be read at once wherever one is. A scan answers the position after what it read, or, when the bytes are not canonical, -1 minus the
// position of the byte where that shows.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { decodeUtf8, levelsMax } from "./canonical-json.ts";

const quote = 0x22;
const comma = 0x2c;
const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const digit0 = 0x30;
const digit9 = 0x39;
const colon = 0x3a;
const bracketOpen = 0x5b;
const backslash = 0x5c;
const bracketClose = 0x5d;
const letterE = 0x65;
const braceOpen = 0x7b;
const braceClose = 0x7d;

/** Zeros behind the bytes: the longest run that is compared without looking for the end. */
const padding = 16;

export interface ScanRoom {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** How many escapes were read so far: a key with one is compared in another way. */
  escapes: number;
}

export function createScanRoom(capacity: number): ScanRoom {
  const bytes = new Uint8Array(capacity + padding);
  return { bytes, view: new DataView(bytes.buffer), escapes: 0 };
}

/** Puts bytes into the room, with zeros behind them. Answers where they end. */
export function fillRoom(room: ScanRoom, content: Uint8Array, start: number): number {
  const end = start + content.length;
  room.bytes.set(content, start);
  for (let at = end; at < end + padding; at += 4) room.view.setInt32(at, 0);
  return end;
}

/** Whether the bytes are one canonical value and nothing else. */
export function isCanonicalJson(bytes: Uint8Array, levels: number = levelsMax): boolean {
  const room = createScanRoom(bytes.length);
  const end = fillRoom(room, bytes, 0);
  return scanValue(room, 0, levels) === end;
}

export function failedAt(position: number): number {
  return -1 - position;
}

/** The value at a position; `levels` is how many objects and arrays may stand inside each other. */
function scanValue(room: ScanRoom, at: number, levels: number): number {
  const { bytes } = room;
  const first = bytes[at] ?? 0;
  if (first === quote) return scanString(room, at);
  if (first === braceOpen) return levels > 0 ? scanObject(room, at, levels - 1) : failedAt(at);
  if (first === bracketOpen) return levels > 0 ? scanArray(room, at, levels - 1) : failedAt(at);
  if (first === 0x74) return scanLiteral(room, at, "true");
  if (first === 0x66) return scanLiteral(room, at, "false");
  if (first === 0x6e) return scanLiteral(room, at, "null");
  return scanNumber(room, at);
}

/** An object with its keys in the order of UTF-16 code units, none twice. */
export function scanObject(room: ScanRoom, start: number, levels: number): number {
  const { bytes } = room;
  if ((bytes[start] ?? 0) !== braceOpen) return failedAt(start);
  let at = start + 1;
  if ((bytes[at] ?? 0) === braceClose) return at + 1;
  let lastStart = -1;
  let lastEnd = -1;
  let isLastEscaped = false;
  for (;;) {
    const { escapes } = room;
    const keyEnd = scanString(room, at);
    if (keyEnd < 0) return keyEnd;
    const isEscaped = room.escapes !== escapes;
    if (lastStart >= 0) {
      const isBefore =
        isEscaped || isLastEscaped
          ? isEscapedKeyBefore(room, lastStart, lastEnd, at, keyEnd)
          : isKeyBefore(room, lastStart, lastEnd, at, keyEnd);
      if (!isBefore) return failedAt(at);
    }
    lastStart = at;
    lastEnd = keyEnd;
    isLastEscaped = isEscaped;
    if ((bytes[keyEnd] ?? 0) !== colon) return failedAt(keyEnd);
    at = scanValue(room, keyEnd + 1, levels);
    if (at < 0) return at;
    const next = bytes[at] ?? 0;
    if (next === braceClose) return at + 1;
    if (next !== comma) return failedAt(at);
    at += 1;
  }
}

function scanArray(room: ScanRoom, start: number, levels: number): number {
  const { bytes } = room;
  let at = start + 1;
  if ((bytes[at] ?? 0) === bracketClose) return at + 1;
  for (;;) {
    at = scanValue(room, at, levels);
    if (at < 0) return at;
    const next = bytes[at] ?? 0;
    if (next === bracketClose) return at + 1;
    if (next !== comma) return failedAt(at);
    at += 1;
  }
}

/** A string with its quotation marks: UTF-8 without surrogates, escaped where RFC 8785 escapes, and nowhere else. */
export function scanString(room: ScanRoom, start: number): number {
  const { bytes, view } = room;
  if (bytes[start] !== quote) return failedAt(start);
  let at = start + 1;
  for (;;) {
    // In each byte the highest bit: of what is no ASCII, of a control character, of a quotation mark, of a backslash. Borrowing spoils only the
    // bytes above the first one that was found.
    const four = view.getInt32(at, true);
    const found =
      (four | (four - 0x20202020) | ((four ^ 0x22222222) - 0x01010101) | ((four ^ 0x5c5c5c5c) - 0x01010101)) &
      0x80808080;
    if (found === 0) {
      at += 4;
      continue;
    }
    at += (31 - Math.clz32(found & -found)) >> 3;
    const byte = bytes[at] ?? 0;
    if (byte === quote) return at + 1;
    const after = byte === backslash ? scanEscape(room, at) : scanMultibyte(room, at, byte);
    if (after < 0) return after;
    at = after;
  }
}

/** The seven short escapes; `\u00xx` in lower case for the other control characters, and for no character that can stand as itself. */
function scanEscape(room: ScanRoom, at: number): number {
  const { bytes } = room;
  room.escapes += 1;
  switch (bytes[at + 1] ?? 0) {
    case quote:
    case backslash:
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u
      break;
    default:
      return failedAt(at + 1);
  }
  if ((bytes[at + 2] ?? 0) !== digit0 || (bytes[at + 3] ?? 0) !== digit0) return failedAt(at + 2);
  const high = bytes[at + 4] ?? 0;
  if (high !== digit0 && high !== 0x31) return failedAt(at + 4);
  const low = bytes[at + 5] ?? 0;
  const isDigit = low >= digit0 && low <= digit9;
  if (!isDigit && !(low >= 0x61 && low <= 0x66)) return failedAt(at + 5);
  // 8, 9, a, c and d have short escapes.
  const isShort = low === 0x38 || low === digit9 || low === 0x61 || low === 0x63 || low === 0x64;
  return high === digit0 && isShort ? failedAt(at + 5) : at + 6;
}

/** One character of two to four bytes, in its shortest form; no surrogate, nothing past U+10FFFF. */
function scanMultibyte(room: ScanRoom, at: number, lead: number): number {
  const { bytes } = room;
  if (lead < 0xc2 || lead > 0xf4) return failedAt(at);
  const second = bytes[at + 1] ?? 0;
  if ((second & 0xc0) !== 0x80) return failedAt(at + 1);
  if (lead < 0xe0) return at + 2;
  if (((bytes[at + 2] ?? 0) & 0xc0) !== 0x80) return failedAt(at + 2);
  if (lead < 0xf0) {
    if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return failedAt(at + 1);
    return at + 3;
  }
  if (((bytes[at + 3] ?? 0) & 0xc0) !== 0x80) return failedAt(at + 3);
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return failedAt(at + 1);
  return at + 4;
}

/** A whole number up to 2^53 - 1, or one with a point or an exponent as RFC 8785 writes it. */
function scanNumber(room: ScanRoom, start: number): number {
  const { bytes } = room;
  const at = scanInteger(room, start);
  // Of `-0.5` the zero is refused as that of a whole number.
  const next = at < 0 ? bytes[start + 2] : bytes[at];
  const isNegativePart = at === failedAt(start + 1) && bytes[start] === minus && next === point;
  return isNegativePart || (at >= 0 && (next === point || next === letterE)) ? scanFraction(room, start) : at;
}

/** The longest is such as -1.2345678901234567e-300. */
const numberBytesMax = 25;

/** What the language itself would write for the number that stands there. Rare. */
function scanFraction({ bytes }: ScanRoom, start: number): number {
  let text = "";
  let at = start;
  for (; at - start <= numberBytesMax && isOfNumber(bytes[at] ?? 0); at += 1)
    text += String.fromCharCode(bytes[at] ?? 0);
  return String(Number(text)) === text ? at : failedAt(start);
}

function isOfNumber(byte: number): boolean {
  return (byte >= digit0 && byte <= digit9) || byte === point || byte === letterE || byte === minus || byte === plus;
}

/** A whole number between -(2^53 - 1) and 2^53 - 1, without leading zeros, fraction, exponent or negative zero. */
export function scanInteger(room: ScanRoom, start: number): number {
  const { bytes } = room;
  let at = start;
  let digit = bytes[at] ?? 0;
  if (digit === minus) {
    at += 1;
    digit = bytes[at] ?? 0;
    if (digit === digit0) return failedAt(at);
  }
  if (digit < digit0 || digit > digit9) return failedAt(at);
  if (digit === digit0) return at + 1;
  let value = 0;
  while (digit >= digit0 && digit <= digit9) {
    // Past 2^53 the sum is rounded, but never back below it.
    value = value * 10 + (digit - digit0);
    if (value > Number.MAX_SAFE_INTEGER) return failedAt(at);
    at += 1;
    digit = bytes[at] ?? 0;
  }
  return at;
}

/** A run of 8 to 16 bytes that stands in every entry, as four times four bytes from the two ends, which meet in the middle. */
interface Word {
  readonly text: string;
  readonly length: number;
  readonly first: number;
  readonly second: number;
  readonly lastButOne: number;
  readonly last: number;
}

export function word(text: string): Word {
  const { length } = text;
  if (length < 8 || length > padding) throw new RangeError(`${text} is not 8 to 16 bytes long`);
  const view = new DataView(asciiBytes(text).buffer);
  const [first, second] = [view.getInt32(0, true), view.getInt32(4, true)];
  const [lastButOne, last] = [view.getInt32(length - 8, true), view.getInt32(length - 4, true)];
  return { text, length, first, second, lastButOne, last };
}

/** Whether this very run stands there. */
export function scanWord(room: ScanRoom, start: number, wanted: Word): number {
  const { view } = room;
  const end = start + wanted.length;
  return view.getInt32(start, true) === wanted.first &&
    view.getInt32(start + 4, true) === wanted.second &&
    view.getInt32(end - 8, true) === wanted.lastButOne &&
    view.getInt32(end - 4, true) === wanted.last
    ? end
    : firstDifference(room, start, wanted.text);
}

function firstDifference({ bytes }: ScanRoom, start: number, wanted: string): number {
  let at = 0;
  while (bytes[start + at] === wanted.charCodeAt(at)) at += 1;
  return failedAt(start + at);
}

function scanLiteral(room: ScanRoom, start: number, wanted: string): number {
  for (let at = 0; at < wanted.length; at += 1) {
    if (room.bytes[start + at] !== wanted.charCodeAt(at)) return failedAt(start + at);
  }
  return start + wanted.length;
}

export function asciiBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/**
 * Whether one key, both with their quotation marks and without escapes, comes before the other in the order of UTF-16 code units; equal keys
 * do not.
 */
function isKeyBefore({ bytes }: ScanRoom, left: number, leftEnd: number, right: number, rightEnd: number): boolean {
  const length = Math.min(leftEnd - left, rightEnd - right) - 1;
  for (let index = 1; index < length; index += 1) {
    const a = bytes[left + index] ?? 0;
    const b = bytes[right + index] ?? 0;
    if (a !== b) {
      // The order of UTF-8 is that of UTF-16 but for one thing: four bytes are two surrogates, which come before U+E000 to U+FFFF.
      const isPairA = a >= 0xf0;
      const isPairB = b >= 0xf0;
      return isPairA === isPairB || Math.min(a, b) < 0xee ? a < b : isPairA;
    }
  }
  return leftEnd - left < rightEnd - right;
}

/** The same for keys of which one has an escape: what that stands for has another place in the order than its letters. Rare. */
function isEscapedKeyBefore(
  { bytes }: ScanRoom,
  left: number,
  leftEnd: number,
  right: number,
  rightEnd: number,
): boolean {
  const a = parseJson(decodeUtf8(bytes.subarray(left, leftEnd))) as string;
  const b = parseJson(decodeUtf8(bytes.subarray(right, rightEnd))) as string;
  return a < b;
}
