// Events that a durable subscription put aside, as a part of a unit of work. The bus puts them there and takes them out again (ports/bus.ts, promises 5
// and 10); people see them, have them tried again, and discard what nobody needs.
import type { Instant } from "../contracts/src/instant.ts";

/**
 * PARKED: its subscription went on without it. HELD: it carries money, and what follows it in its lane waits behind it. DISCARDED: somebody decided that
 * it is never handled; it is kept, and neither listed nor tried.
 */
type AsideState = "PARKED" | "HELD" | "DISCARDED";

interface RetryAsked {
  readonly at: Instant;
  readonly by: string;
  readonly reason: string;
}

export interface AsideEvent {
  readonly subscription: string;
  readonly eventId: string;
  readonly subject: string;
  readonly key: string;
  readonly source: string;
  readonly at: Instant;
  /** As it came; what is no UTF-8 is `base64:` and its base64. */
  readonly payload: string;
  readonly state: AsideState;
  /** Of what is held: what waits together. */
  readonly lane: string | undefined;
  /** The last failure. */
  readonly error: string;
  /** 0: it could not be read, or it waits behind another one. */
  readonly attempts: number;
  readonly firstTriedAt: Instant;
  readonly triedAt: Instant;
  /** Since when it has been put aside. */
  readonly since: Instant;
  /** Somebody asked for another try that has not ended. */
  readonly retry: (RetryAsked & { readonly takenAt: Instant | undefined }) | undefined;
}

export type NewAside = Omit<AsideEvent, "retry" | "triedAt" | "since" | "state"> & {
  readonly state: "PARKED" | "HELD";
  readonly now: Instant;
};

export interface ParkedRecords {
  /** False when it is put aside already, or was discarded. */
  put(event: NewAside): Promise<boolean>;
  /** Those that are put aside, in the order in which they were, at most so many; after one of them, none when it is not known. */
  list(countMax: number, after?: Pick<AsideEvent, "subscription" | "eventId">): Promise<readonly AsideEvent[]>;
  /** How many are put aside for each subscription and since when, in order of subscription. */
  counts(): Promise<readonly { readonly subscription: string; readonly count: number; readonly since: Instant }[]>;
  /** Kept from others until this unit ends; also a discarded one. */
  lock(subscription: string, eventId: string): Promise<AsideEvent | undefined>;
  /** The first that is put aside for the same subscription and stands before it: in its lane, or with its key when it has none. */
  before(event: Pick<AsideEvent, "subscription" | "eventId">): Promise<AsideEvent | undefined>;
  askRetry(subscription: string, eventId: string, asked: RetryAsked): Promise<void>;
  /** Takes the request back, unless its subscription has begun: then false. */
  withdrawRetry(subscription: string, eventId: string): Promise<boolean>;
  discard(subscription: string, eventId: string, how: RetryAsked): Promise<void>;

  // The subscription's own side.

  /** Of every lane that is held the first so many, and everything of which another try was asked for, in order. */
  due(subscription: string, perLaneMax: number): Promise<readonly AsideEvent[]>;
  /** The subscription begins to try it: false when nobody asks for that any more. */
  take(subscription: string, eventId: string, at: Instant): Promise<boolean>;
  /** It was tried and failed; whoever asked has their answer. */
  failed(subscription: string, eventId: string, error: string, at: Instant): Promise<void>;
  /** It was handled. */
  remove(subscription: string, eventId: string): Promise<void>;
}
