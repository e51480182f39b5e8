// What makes two orders under one key the same order: every field that was sent, whatever it says. Only whether it was a dry run is left out,
// because a dry run asks about the very order that it does not spend.
//
// Hashes are the first 16 bytes of a SHA-256, as four words of 32 bits: a check makes two of them, and strings or bytes would cost more
// than the hashing. Ordinary orders are hashed here; what is long or not ASCII goes to the library that was handed in.
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import { contentMax, createShortSha256 } from "./short-sha256.ts";
import { idFirst, idRest, inAscii, inLine, kindsOf, symbolFirst, symbolRest, writeText } from "./text-kinds.ts";

/** Words of four bytes, the first byte highest. */
export interface Hash {
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly fourth: number;
}

const hashBytes = 16;
/** The lengths that a body begins with, a byte each. */
const fixedLengths = 12;

export function bytesOfHash({ first, second, third, fourth }: Hash): Uint8Array {
  const bytes = new Uint8Array(hashBytes);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, first);
  view.setInt32(4, second);
  view.setInt32(8, third);
  view.setInt32(12, fourth);
  return bytes;
}

/** The hash of 16 bytes. */
export function hashOfBytes(bytes: Uint8Array): Hash {
  const view = new DataView(bytes.buffer, bytes.byteOffset, hashBytes);
  return { first: view.getInt32(0), second: view.getInt32(4), third: view.getInt32(8), fourth: view.getInt32(12) };
}

/** What reading an order's texts once tells. */
export interface ReadOrder {
  readonly key: Hash;
  readonly body: Hash;
  /** Whether its ids, its symbol and its lines are made of the characters that they may be made of; false also where nobody looked. */
  readonly textsFit: boolean;
}

export interface OrderHasher {
  read(order: Order): ReadOrder;
}

/** The library's SHA-256 gives 32 characters with a byte in each. */
export function createOrderHasher(sha256: (content: string) => string): OrderHasher {
  const short = createShortSha256();
  const { content, words } = short;
  const body: WrittenBody = { size: 0, textsFit: false };

  function shortHash(size: number): Hash {
    short.hash(size);
    return { first: words[0] ?? 0, second: words[1] ?? 0, third: words[2] ?? 0, fourth: words[3] ?? 0 };
  }

  function keyHash(key: string): Hash {
    const isShort = key.length <= contentMax && (writeText(content, 0, key) & inAscii) !== 0;
    return isShort ? shortHash(key.length) : libraryHash(sha256(key));
  }

  return {
    read(order) {
      writeBody(content, order, body);
      const { size, textsFit } = body;
      if (size === notShort) {
        return { key: keyHash(order.idempotency_key), body: libraryHash(sha256(bodyText(order))), textsFit: false };
      }
      const bodyHash = shortHash(size);
      const { length } = order.idempotency_key;
      for (let index = 0; index < length; index += 1) content[index] = content[fixedLengths + index] ?? 0;
      return { key: shortHash(length), body: bodyHash, textsFit };
    },
  };
}

function libraryHash(text: string): Hash {
  return hashOfBytes(Uint8Array.from(text, (character) => character.charCodeAt(0)));
}

/** The size of a body that is too long to be hashed here, or not ASCII. */
const notShort = -1;
/** The longest text of the fields that every order has: its length is a byte of ASCII. */
const lengthMax = 0x7f;
const codeOfColon = 58;
const codeOfZero = 48;
/** What stands before a field's text: its letter, its length of at most three digits and a colon. */
const fieldHeadMax = 5;

interface WrittenBody {
  size: number;
  textsFit: boolean;
}

/** The fields that every order has, in the order in which they stand in a body. */
function fixedTexts(order: Order): readonly string[] {
  return [
    order.idempotency_key,
    order.order_id,
    order.fund_id,
    order.strategy_id,
    order.symbol,
    order.side,
    order.quantity,
    order.order_type,
    order.tif,
    order.broker,
    order.asset_class,
    order.actor,
  ];
}

/** What the first character of each of them must be, and what all of them must be. */
const word = inAscii;
// biome-ignore format: as the fields stand, a table to a line.
const firsts = Uint8Array.of(inLine, idFirst, idFirst, idFirst, symbolFirst, word, word, word, word, inLine, word, inLine);
const rests = Uint8Array.of(inLine, idRest, idRest, idRest, symbolRest, word, word, word, word, inLine, word, inLine);

/**
 * Writes what `bodyText` says as bytes, and judges the texts' characters on the way. It is one short loop, because there is much to do for
 * every order: written out field by field it is faster by itself and makes the whole check slower.
 */
function writeBody(into: Uint8Array, order: Order, written: WrittenBody): void {
  const texts = fixedTexts(order);
  let at = fixedLengths;
  let isAscii = inAscii;
  let fit = true;
  for (let field = 0; field < fixedLengths; field += 1) {
    const text = texts[field];
    // What is no text has no length, and fails the comparison.
    if (text === undefined || !(text.length <= lengthMax && at + text.length <= contentMax)) {
      isAscii = 0;
      break;
    }
    into[field] = text.length;
    const kinds = writeText(into, at, text);
    isAscii &= kinds;
    if ((kinds & (rests[field] ?? 0)) === 0 || (kindsOf(into[at]) & (firsts[field] ?? 0)) === 0) fit = false;
    at += text.length;
  }
  written.textsFit = fit;
  written.size = isAscii === 0 ? notShort : writeSent(into, order, at);
}

/** The fields that not every order has; answers where they end, or `notShort`. */
function writeSent(into: Uint8Array, order: Order, from: number): number {
  let at = from;
  if (order.limit_price !== undefined) at = writeField(into, at, "l", order.limit_price);
  if (order.stop_price !== undefined) at = writeField(into, at, "s", order.stop_price);
  if (order.expires_at !== undefined) at = writeField(into, at, "e", order.expires_at);
  if (order.notional !== undefined) at = writeField(into, at, "n", String(order.notional));
  if (order.venue !== undefined) at = writeField(into, at, "v", order.venue);
  if (order.currency !== undefined) at = writeField(into, at, "c", order.currency);
  if (order.thesis !== undefined) at = writeField(into, at, "t", order.thesis);
  if (order.reduce_only !== undefined) at = writeField(into, at, "r", String(order.reduce_only));
  if (order.created_at !== undefined) at = writeField(into, at, "a", order.created_at);
  return at;
}

function writeField(into: Uint8Array, at: number, letter: string, text: string): number {
  const { length } = text;
  // What is no text has no length, and fails the comparison.
  if (at === notShort || !(at + fieldHeadMax + length <= contentMax)) return notShort;
  into[at] = letter.charCodeAt(0);
  const colonAt = writeNumber(into, at + 1, length);
  into[colonAt] = codeOfColon;
  return (writeText(into, colonAt + 1, text) & inAscii) === 0 ? notShort : colonAt + 1 + length;
}

/** Writes its decimal digits and answers where they end. */
function writeNumber(into: Uint8Array, at: number, number: number): number {
  const lastAt = number < 10 ? at : writeNumber(into, at, Math.floor(number / 10));
  into[lastAt] = codeOfZero + (number % 10);
  return lastAt + 1;
}

/**
 * Two orders have the same content only if all their fields are equal, as long as no field is longer than an order's may be. The fields that
 * every order has stand behind each other, after their lengths; of the others those that were sent follow, each with its name's letter and
 * its length.
 */
export function bodyText(order: Order): string {
  const fixed = fixedTexts(order);
  const sent: readonly (readonly [string, string | undefined])[] = [
    ["l", order.limit_price],
    ["s", order.stop_price],
    ["e", order.expires_at],
    ["n", order.notional === undefined ? undefined : String(order.notional)],
    ["v", order.venue],
    ["c", order.currency],
    ["t", order.thesis],
    ["r", order.reduce_only === undefined ? undefined : String(order.reduce_only)],
    ["a", order.created_at],
  ];
  const lengths = String.fromCharCode(...fixed.map((text) => text.length));
  const fields = sent.map(([letter, text]) => (text === undefined ? "" : `${letter}${text.length}:${text}`));
  return lengths + fixed.map(String).join("") + fields.join("");
}
