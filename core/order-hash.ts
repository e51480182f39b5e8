// What makes two orders under one key the same order: every field that was sent, whatever it says. Only whether it was a dry run is left out,
// because a dry run asks about the very order that it does not spend.
//
// Hashes are strings with a byte in each character, because a check makes two of them and bytes of their own would cost more than the
// hashing. Of a SHA-256 the first 16 bytes count; what comes after them is never looked at.
import type { Order } from "../contracts/src/generated/svc/v1/order.ts";

const hashBytes = 16;

/** The 16 bytes of a hash. */
export function bytesOfHash(hash: string): Uint8Array {
  const bytes = new Uint8Array(hashBytes);
  for (let index = 0; index < hashBytes; index += 1) bytes[index] = hash.charCodeAt(index);
  return bytes;
}

/** The hash of 16 bytes. */
export function hashOfBytes(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, hashBytes));
}

/** One of the four words of a hash, lowest byte first. */
export function hashWord(hash: string, index: number): number {
  const at = index * 4;
  return (
    (hash.charCodeAt(at) |
      (hash.charCodeAt(at + 1) << 8) |
      (hash.charCodeAt(at + 2) << 16) |
      (hash.charCodeAt(at + 3) << 24)) >>>
    0
  );
}

/**
 * Two orders have the same text only if all their fields are equal, as long as no field is longer than an order's may be. The fields that every order has stand behind each other, after their
 * lengths; of the others those that were sent follow, each with its name's letter and its length.
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
