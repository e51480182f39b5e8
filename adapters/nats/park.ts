// An event that could not be handled is put aside through the store, so that the record of it is as durable as any change.
import type { Envelope } from "./wire.ts";

export interface Parked extends Envelope {
  readonly subscription: string;
  /** The bytes as they came; they may be no JSON at all. */
  readonly payload: Uint8Array;
  readonly attempts: number;
  /** The message of the last failure. */
  readonly error: string;
}

/** Resolves when the parked event and its report are durable. It is called again until it does, so it must be repeatable. */
export type Park = (parked: Parked) => Promise<void>;
