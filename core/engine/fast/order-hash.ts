// What makes two orders under one key the same order: every field that was sent, whatever it says. Only whether it was a dry run is left out,
// because a dry run asks about the very order that it does not spend.
//
// Hashes are the first 16 bytes of a BLAKE3, as four words of 32 bits: a check makes two of them, and strings or bytes would cost more than
// the hashing. Ordinary orders are hashed here; what is long, not ASCII or made of words that nobody knows goes to the library that was
// handed in. Each of an order's characters is read once, because reading them costs more than all that is done with them: the same look
// judges them, and makes the numbers under which the books find what the order names.
import type { Order } from "../../../contracts/src/generated/svc/v1/order.ts";
import { hashBegin, hashDone, hashOfId, hashWith } from "../../state/id-table.ts";
import {
  characterKinds,
  idFirst,
  idRest,
  inAscii,
  inLine,
  kindsOf,
  symbolFirst,
  symbolRest,
  writeText,
} from "../../state/text-kinds.ts";
import { contentMax, createShortBlake3, type ShortBlake3 } from "./short-blake3.ts";

/** Words of four bytes, the first byte lowest. */
export interface Hash {
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly fourth: number;
}

export const hashBytes = 16;
/** Stands before the bytes of a hash where it is stored. Others are of earlier versions, which hashed otherwise. */
const hashKind = 3;
/** Of an order as its caller's; with the kind before it nobody's. */
const bodyKind = 4;
/** How many bytes of a hash are stored. */
export const storedHashBytes = 1 + hashBytes;

/** Of an order as its caller asked it. */
export function bytesOfBody(hash: Hash): Uint8Array {
  const bytes = bytesOfHash(hash);
  bytes[0] = bodyKind;
  return bytes;
}

export function bytesOfHash({ first, second, third, fourth }: Hash): Uint8Array {
  const bytes = new Uint8Array(storedHashBytes);
  const view = new DataView(bytes.buffer);
  bytes[0] = hashKind;
  view.setInt32(1, first, true);
  view.setInt32(5, second, true);
  view.setInt32(9, third, true);
  view.setInt32(13, fourth, true);
  return bytes;
}

/** The hash that `bytesOfHash` made these bytes of; undefined for those of an earlier version. */
export function hashOfBytes(bytes: Uint8Array): Hash | undefined {
  return hashOfKind(bytes, hashKind);
}

/** The hash that `bytesOfBody` made these bytes of. */
export function bodyOfBytes(bytes: Uint8Array): Hash | undefined {
  return hashOfKind(bytes, bodyKind);
}

function hashOfKind(bytes: Uint8Array, kind: number): Hash | undefined {
  return bytes.length === storedHashBytes && bytes[0] === kind ? hashAt(bytes, 1) : undefined;
}

export function hashAt(bytes: Uint8Array, place: number): Hash {
  const view = new DataView(bytes.buffer, bytes.byteOffset + place, hashBytes);
  const wordAt = (from: number): number => view.getInt32(from, true);
  return { first: wordAt(0), second: wordAt(4), third: wordAt(8), fourth: wordAt(12) };
}

/** Under which numbers the books keep what an order names. */
export interface NameHashes {
  readonly orderId: number;
  readonly strategyId: number;
  readonly symbol: number;
}

/** What reading an order's texts once tells. */
interface ReadOrder {
  readonly key: Hash;
  readonly body: Hash;
  readonly names: NameHashes;
  /** Whether its ids, its symbol and its lines are made of the characters that they may be made of; false also where nobody looked. */
  readonly textsFit: boolean;
}

export interface OrderHasher {
  read(order: Order): ReadOrder;
}

export function namesOf(order: Order): NameHashes {
  const { order_id: orderId, strategy_id: strategyId, symbol } = order;
  return { orderId: hashOfName(orderId), strategyId: hashOfName(strategyId), symbol: hashOfName(symbol) };
}

/** A message made from JSON may hold anything, so the type is checked and not believed. */
function hashOfName(name: unknown): number {
  return typeof name === "string" ? hashOfId(name) : 0;
}

/** The library's BLAKE3 gives 32 characters with a byte in each. */
export function createOrderHasher(blake3: (content: string) => string): OrderHasher {
  const keys = createShortBlake3();
  const bodies = createShortBlake3();
  const names = { orderId: 0, strategyId: 0, symbol: 0 };
  const written: WrittenBody = { size: 0, textsFit: false, names, hashes: new Int32Array(textCount) };

  return {
    read(order) {
      const { idempotency_key: key } = order;
      const keyKinds = isShort(key) ? writeText(keys.content, 0, key) : 0;
      const keyHash = keyKinds === 0 ? libraryHash(blake3(String(key))) : shortHash(keys, key.length);
      writeBody(bodies.content, order, written);
      if (written.size === notShort) {
        return { key: keyHash, body: libraryHash(blake3(bodyText(order))), names: namesOf(order), textsFit: false };
      }
      const textsFit = written.textsFit && (keyKinds & inLine) !== 0;
      return { key: keyHash, body: shortHash(bodies, written.size), names, textsFit };
    },
  };
}

function isShort(key: unknown): boolean {
  return typeof key === "string" && key.length <= contentMax;
}

function shortHash(short: ShortBlake3, size: number): Hash {
  short.hash(size);
  const { words } = short;
  return { first: words[0] ?? 0, second: words[1] ?? 0, third: words[2] ?? 0, fourth: words[3] ?? 0 };
}

function libraryHash(text: string): Hash {
  return hashAt(
    Uint8Array.from(text, (character) => character.charCodeAt(0)),
    0,
  );
}

/** The size of a body that is not hashed here. */
const notShort = -1;
/** The longest text whose length is one byte; no field that every order has may be longer. */
const lengthMax = 0x7f;
/** What stands before the text of a field that not every order has: its letter, and its length in one byte or two. */
const fieldHeadMax = 3;

interface WrittenBody {
  size: number;
  textsFit: boolean;
  /** Of the texts, while they are read. */
  readonly hashes: Int32Array;
  readonly names: { orderId: number; strategyId: number; symbol: number };
}

/** The texts that every order has besides its key, in the order in which they stand in a body. */
function fixedTexts(order: Order): readonly string[] {
  return [order.order_id, order.fund_id, order.strategy_id, order.symbol, order.quantity, order.broker, order.actor];
}

/** What the first character of each of them must be, and what all of them must be. */
const firsts = Uint8Array.of(idFirst, idFirst, idFirst, symbolFirst, inAscii, inLine, inLine);
const rests = Uint8Array.of(idRest, idRest, idRest, symbolRest, inAscii, inLine, inLine);
const textCount = firsts.length;
/** Bytes of the four words that every order has. */
const wordsLength = 2;
const wordBits = 4;

/**
 * Writes a body: the lengths of the texts that every order has, its four words, those texts, and of the fields that not every order has
 * those that were sent. It is short, because every 64 bytes of it cost as much to hash as a gate to pass. It is one short loop, because there is much to do for every order: written out field by field it is
 * faster by itself and makes the whole check slower.
 */
function writeBody(into: Uint8Array, order: Order, written: WrittenBody): void {
  const texts = fixedTexts(order);
  const { hashes } = written;
  let at = textCount + wordsLength;
  let isAscii = inAscii;
  let fit = true;
  for (let field = 0; field < textCount; field += 1) {
    const text = texts[field];
    // A message made from JSON may hold anything, so the type is checked and not believed.
    if (typeof text !== "string" || text.length > lengthMax || at + text.length > contentMax) {
      isAscii = 0;
      break;
    }
    const { length } = text;
    let codes = 0;
    let kinds = 0xff;
    let hash = hashBegin(length);
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      codes |= code;
      kinds &= characterKinds[code & 0x7f] ?? 0;
      hash = hashWith(hash, code);
      into[at + index] = code;
    }
    into[field] = length;
    hashes[field] = hashDone(hash);
    if (codes > 0x7f) isAscii = 0;
    if ((kinds & (rests[field] ?? 0)) === 0 || (kindsOf(into[at]) & (firsts[field] ?? 0)) === 0) fit = false;
    at += length;
  }
  written.textsFit = fit;
  written.size = isAscii === 0 || !writeWords(into, order) ? notShort : writeSent(into, order, at);
  written.names.orderId = hashes[0] ?? 0;
  written.names.strategyId = hashes[2] ?? 0;
  written.names.symbol = hashes[3] ?? 0;
}

/** False when one of them is none of those below; a word that is missing here costs the way to the library and nothing else. */
function writeWords(into: Uint8Array, order: Order): boolean {
  const side = sideCode(order.side);
  const type = typeCode(order.order_type);
  const tif = tifCode(order.tif);
  const assetClass = classCode(order.asset_class);
  into[textCount] = side | (type << wordBits);
  into[textCount + 1] = tif | (assetClass << wordBits);
  return side !== 0 && type !== 0 && tif !== 0 && assetClass !== 0;
}

function sideCode(side: string): number {
  if (side === "BUY") return 1;
  if (side === "SELL") return 2;
  if (side === "SELL_SHORT") return 3;
  return side === "BUY_TO_COVER" ? 4 : 0;
}

function typeCode(type: string): number {
  if (type === "LIMIT") return 1;
  if (type === "MARKET") return 2;
  if (type === "STOP") return 3;
  return type === "STOP_LIMIT" ? 4 : 0;
}

function tifCode(tif: string): number {
  if (tif === "DAY") return 1;
  if (tif === "GTC") return 2;
  if (tif === "IOC") return 3;
  if (tif === "FOK") return 4;
  return tif === "GTD" ? 5 : 0;
}

function classCode(assetClass: string): number {
  if (assetClass === "EQUITY") return 1;
  if (assetClass === "CRYPTO") return 2;
  return assetClass === "OPTION" ? 3 : 0;
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
  const isLong = length > lengthMax;
  const textAt = at + (isLong ? 3 : 2);
  // The first of two bytes is never one that stands alone.
  if (isLong) into[at + 1] = lengthMax + 1 + (length >> 8);
  into[textAt - 1] = length & 0xff;
  return (writeText(into, textAt, text) & inAscii) === 0 ? notShort : textAt + length;
}

/** What the library hashes of a body that is not hashed here: no two orders that differ in a field have the same, whatever they say. */
export function bodyText(order: Order): string {
  const { side, order_type, tif, asset_class, limit_price, stop_price, expires_at } = order;
  const { notional, venue, currency, thesis, reduce_only, created_at } = order;
  const words = [side, order_type, tif, asset_class];
  const money = notional === undefined ? undefined : String(notional);
  const sent = [limit_price, stop_price, expires_at, money, venue, currency, thesis, reduce_only, created_at];
  return JSON.stringify([...fixedTexts(order), ...words, ...sent]);
}
