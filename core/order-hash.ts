// What makes two orders under one key the same order: every field that was sent, whatever it says. Only whether it was a dry run is left out,
// because a dry run asks about the very order that it does not spend.
//
// Hashes are the first 16 bytes of a SHA-256, as four words of 32 bits: a check makes two of them, and strings or bytes would cost more
// than the hashing. Ordinary orders are hashed here; what is long or not ASCII goes to the library that was handed in.
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import { createShortSha256, type ShortSha256 } from "./short-sha256.ts";
import { areBytesOf, idFirst, idRest, inLine, symbolFirst, symbolRest } from "./text-kinds.ts";

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
const lengthTexts: readonly string[] = Array.from({ length: 64 }, (_, length) => String(length));

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
  return {
    read(order) {
      short.begin();
      writeBody(short, order);
      if (short.end()) {
        const body = shortHash(short);
        const textsFit = areTextsFit(short.content, order);
        short.endPart(fixedLengths, order.idempotency_key.length);
        return { key: shortHash(short), body, textsFit };
      }
      short.begin();
      short.text(order.idempotency_key);
      const key = short.end() ? shortHash(short) : libraryHash(sha256(order.idempotency_key));
      return { key, body: libraryHash(sha256(bodyText(order))), textsFit: false };
    },
  };
}

/** The fields that every order has stand in the content as `writeBody` has put them there. */
function areTextsFit(content: Uint8Array, order: Order): boolean {
  const idAt = fixedLengths + order.idempotency_key.length;
  const fundAt = idAt + order.order_id.length;
  const strategyAt = fundAt + order.fund_id.length;
  const symbolAt = strategyAt + order.strategy_id.length;
  const sideAt = symbolAt + order.symbol.length;
  const brokerAt = sideAt + order.side.length + order.quantity.length + order.order_type.length + order.tif.length;
  const classAt = brokerAt + order.broker.length;
  const actorAt = classAt + order.asset_class.length;
  return (
    areBytesOf(content, fixedLengths, idAt, inLine) &&
    areBytesOf(content, idAt, symbolAt, idRest) &&
    areBytesOf(content, idAt, idAt + 1, idFirst) &&
    areBytesOf(content, fundAt, fundAt + 1, idFirst) &&
    areBytesOf(content, strategyAt, strategyAt + 1, idFirst) &&
    areBytesOf(content, symbolAt, sideAt, symbolRest) &&
    areBytesOf(content, symbolAt, symbolAt + 1, symbolFirst) &&
    areBytesOf(content, brokerAt, classAt, inLine) &&
    areBytesOf(content, actorAt, actorAt + order.actor.length, inLine)
  );
}

function shortHash({ words }: ShortSha256): Hash {
  return { first: words[0] ?? 0, second: words[1] ?? 0, third: words[2] ?? 0, fourth: words[3] ?? 0 };
}

function libraryHash(text: string): Hash {
  return hashOfBytes(Uint8Array.from(text, (character) => character.charCodeAt(0)));
}

/** What a content is written into: the short hash, or a text for the library. */
type Sink = Pick<ShortSha256, "byte" | "text">;

/**
 * Two orders have the same content only if all their fields are equal, as long as no field is longer than an order's may be. The fields that
 * every order has stand behind each other, after their lengths; of the others those that were sent follow, each with its name's letter and
 * its length.
 */
function writeBody(into: Sink, order: Order): void {
  into.byte(order.idempotency_key.length);
  into.byte(order.order_id.length);
  into.byte(order.fund_id.length);
  into.byte(order.strategy_id.length);
  into.byte(order.symbol.length);
  into.byte(order.side.length);
  into.byte(order.quantity.length);
  into.byte(order.order_type.length);
  into.byte(order.tif.length);
  into.byte(order.broker.length);
  into.byte(order.asset_class.length);
  into.byte(order.actor.length);
  into.text(order.idempotency_key);
  into.text(order.order_id);
  into.text(order.fund_id);
  into.text(order.strategy_id);
  into.text(order.symbol);
  into.text(order.side);
  into.text(order.quantity);
  into.text(order.order_type);
  into.text(order.tif);
  into.text(order.broker);
  into.text(order.asset_class);
  into.text(order.actor);
  if (order.limit_price !== undefined) writeField(into, "l", order.limit_price);
  if (order.stop_price !== undefined) writeField(into, "s", order.stop_price);
  if (order.expires_at !== undefined) writeField(into, "e", order.expires_at);
  if (order.notional !== undefined) writeField(into, "n", String(order.notional));
  if (order.venue !== undefined) writeField(into, "v", order.venue);
  if (order.currency !== undefined) writeField(into, "c", order.currency);
  if (order.thesis !== undefined) writeField(into, "t", order.thesis);
  if (order.reduce_only !== undefined) writeField(into, "r", String(order.reduce_only));
  if (order.created_at !== undefined) writeField(into, "a", order.created_at);
}

function writeField(into: Sink, letter: string, text: string): void {
  into.text(letter);
  into.text(lengthTexts[text.length] ?? String(text.length));
  into.text(":");
  into.text(text);
}

/** The same content as a text, for what is long or not ASCII. */
export function bodyText(order: Order): string {
  let content = "";
  const sink: Sink = {
    byte(value) {
      content += String.fromCharCode(value);
    },
    text(value) {
      content += String(value);
    },
  };
  writeBody(sink, order);
  return content;
}
