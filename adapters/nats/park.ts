// An event that could not be handled is put aside through the store, so that the record of it is as durable as any change.
import type { Instant } from "../../contracts/src/instant.ts";
import type { NewAside } from "../../ports/parked-events.ts";
import type { Envelope } from "./wire.ts";

export interface Parked extends Envelope {
  readonly subscription: string;
  /** The bytes as they came; they may be no JSON at all. */
  readonly payload: Uint8Array;
  readonly attempts: number;
  /** The message of the last failure. */
  readonly error: string;
  /** Of what carries money: what waits behind it. */
  readonly lane?: string | undefined;
  readonly firstTriedAt?: Instant;
}

/** Resolves when the parked event and its report are durable. It is called again until it does, so it must be repeatable. */
export type Park = (parked: Parked) => Promise<void>;

/** As it is kept: the bytes as they came; what is no UTF-8 is kept as base64, because the table holds text that people read. */
export function asideOf(parked: Parked): Omit<NewAside, "now" | "firstTriedAt"> & { readonly firstTriedAt?: Instant } {
  const { subscription, id, subject, key, at, source, payload, error, attempts, lane, firstTriedAt } = parked;
  return {
    subscription,
    eventId: id,
    subject,
    key: withoutZero(key),
    at,
    source,
    payload: textOf(payload),
    error,
    attempts,
    lane,
    state: lane === undefined ? ("PARKED" as const) : ("HELD" as const),
    ...(firstTriedAt === undefined ? {} : { firstTriedAt }),
  };
}

const base64Prefix = "base64:";

export function textOf(payload: Uint8Array): string {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : base64Prefix + bytes.toString("base64");
}

/** The bytes as they came. */
export function bytesOf(text: string): Uint8Array {
  if (!text.startsWith(base64Prefix)) return Buffer.from(text, "utf8");
  return Buffer.from(text.slice(base64Prefix.length), "base64");
}

/** PostgreSQL's text has no zero character, and a foreign program's key may. */
function withoutZero(text: string): string {
  return text.replaceAll("\0", "");
}
