// What makes two orders under one key the same order: every field that was sent, whatever it says. Only whether it was a dry run is left out,
// because a dry run asks about the very order that it does not spend.
//
// Hashes are the first 16 bytes of a SHA-256, as four words of 32 bits: a check makes two of them, and strings or bytes would cost more
// than the hashing. Ordinary orders are hashed here; what is long or not ASCII goes to the library that was handed in.
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";
import { createShortSha256, type ShortSha256 } from "./short-sha256.ts";

/** Words of four bytes, the first byte highest. */
export interface Hash {
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly fourth: number;
}

const hashBytes = 16;
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

export interface OrderHasher {
  key(order: Order): Hash;
  body(order: Order): Hash;
}

/** The library's SHA-256 gives 32 characters with a byte in each. */
export function createOrderHasher(sha256: (content: string) => string): OrderHasher {
  const short = createShortSha256();
  return {
    key(order) {
      short.begin();
      short.text(order.idempotency_key);
      return short.end() ? shortHash(short) : libraryHash(sha256(order.idempotency_key));
    },
    body(order) {
      short.begin();
      writeBody(short, order);
      return short.end() ? shortHash(short) : libraryHash(sha256(bodyText(order)));
    },
  };
}

function shortHash({ words }: ShortSha256): Hash {
  return { first: words[0] ?? 0, second: words[1] ?? 0, third: words[2] ?? 0, fourth: words[3] ?? 0 };
}

function libraryHash(text: string): Hash {
  return hashOfBytes(Uint8Array.from(text, (character) => character.charCodeAt(0)));
}

/** The same as `bodyText`, byte by byte. */
function writeBody(short: ShortSha256, order: Order): void {
  short.byte(order.idempotency_key.length);
  short.byte(order.order_id.length);
  short.byte(order.fund_id.length);
  short.byte(order.strategy_id.length);
  short.byte(order.symbol.length);
  short.byte(order.side.length);
  short.byte(order.quantity.length);
  short.byte(order.order_type.length);
  short.byte(order.tif.length);
  short.byte(order.broker.length);
  short.byte(order.asset_class.length);
  short.byte(order.actor.length);
  short.text(order.idempotency_key);
  short.text(order.order_id);
  short.text(order.fund_id);
  short.text(order.strategy_id);
  short.text(order.symbol);
  short.text(order.side);
  short.text(order.quantity);
  short.text(order.order_type);
  short.text(order.tif);
  short.text(order.broker);
  short.text(order.asset_class);
  short.text(order.actor);
  if (order.limit_price !== undefined) writeField(short, "l", order.limit_price);
  if (order.stop_price !== undefined) writeField(short, "s", order.stop_price);
  if (order.expires_at !== undefined) writeField(short, "e", order.expires_at);
  if (order.notional !== undefined) writeField(short, "n", String(order.notional));
  if (order.venue !== undefined) writeField(short, "v", order.venue);
  if (order.currency !== undefined) writeField(short, "c", order.currency);
  if (order.thesis !== undefined) writeField(short, "t", order.thesis);
  if (order.reduce_only !== undefined) writeField(short, "r", String(order.reduce_only));
  if (order.created_at !== undefined) writeField(short, "a", order.created_at);
}

function writeField(short: ShortSha256, letter: string, text: string): void {
  short.text(letter);
  short.text(lengthTexts[text.length] ?? String(text.length));
  short.text(":");
  short.text(text);
}

/**
 * Two orders have the same text only if all their fields are equal, as long as no field is longer than an order's may be. The fields that
 * every order has stand behind each other, after their lengths; of the others those that were sent follow, each with its name's letter and
 * its length.
 */
export function bodyText(order: Order): string {
  return (
    String.fromCharCode(
      order.idempotency_key.length,
      order.order_id.length,
      order.fund_id.length,
      order.strategy_id.length,
      order.symbol.length,
      order.side.length,
      order.quantity.length,
      order.order_type.length,
      order.tif.length,
      order.broker.length,
      order.asset_class.length,
      order.actor.length,
    ) +
    order.idempotency_key +
    order.order_id +
    order.fund_id +
    order.strategy_id +
    order.symbol +
    order.side +
    order.quantity +
    order.order_type +
    order.tif +
    order.broker +
    order.asset_class +
    order.actor +
    optionalText(order)
  );
}

function optionalText(order: Order): string {
  let text = "";
  if (order.limit_price !== undefined) text += field("l", order.limit_price);
  if (order.stop_price !== undefined) text += field("s", order.stop_price);
  if (order.expires_at !== undefined) text += field("e", order.expires_at);
  if (order.notional !== undefined) text += field("n", String(order.notional));
  if (order.venue !== undefined) text += field("v", order.venue);
  if (order.currency !== undefined) text += field("c", order.currency);
  if (order.thesis !== undefined) text += field("t", order.thesis);
  if (order.reduce_only !== undefined) text += field("r", String(order.reduce_only));
  if (order.created_at !== undefined) text += field("a", order.created_at);
  return text;
}

function field(letter: string, text: string): string {
  return `${letter}${text.length}:${text}`;
}
