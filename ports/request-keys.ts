// What was asked under an idempotency key, and what was answered, as a part of a unit of work. A row is written before the work and completed after
// it, so that a repeat finds one of the two.
import type { Instant } from "../contracts/src/instant.ts";

/** Whose key it is and where it was used; the same key of another caller, or at another place, is another. */
export interface RequestKey {
  readonly caller: string;
  /** The operation and the path that was asked for, parameters included. */
  readonly place: string;
  readonly key: string;
}

export interface KeyedRequest {
  /** SHA-256 of what was asked, in hexadecimal. */
  readonly bodyHash: string;
  /** The incarnation of the process that does it, or did. */
  readonly holder: string;
  readonly begunAt: Instant;
  /** `begun` has no answer yet; of what is `unkept` the answer is only the name of what was made. */
  readonly state: "begun" | "kept" | "unkept";
  readonly answer: Uint8Array;
}

export interface RequestKeyRecords {
  /** Kept from others until this unit ends. */
  lock(key: RequestKey): Promise<KeyedRequest | undefined>;
  /** Adds it, or takes the place of the one under the same key. */
  put(key: RequestKey, request: KeyedRequest): Promise<void>;
  remove(key: RequestKey): Promise<void>;
  /** Whether this caller has that many or more. */
  hasMany(caller: string, count: number): Promise<boolean>;
  /** Removes some that were begun before that moment, at most so many. */
  trim(before: Instant, countMax: number): Promise<void>;
}
