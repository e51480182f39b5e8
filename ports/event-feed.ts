// What happened on the platform, in one order and under ids that stay: for whoever follows it over a connection that may break. It is read from the
// store, which keeps at least the last ten minutes; marks are not kept, and come beside it.
//
// What every feed promises:
//  1. Events come in the order of their ids, and every reader sees the same ids in the same order.
//  2. Whoever reads on after the id of the last event that it has misses nothing and gets nothing twice, from whichever process it reads.
//  3. When something after that id is no longer kept, the page says `reset` and reading goes on with what comes next.
//  4. Nothing is queued for a reader: it asks for a page when it has read the one before.
import type { Instant } from "../contracts/src/instant.ts";

export interface FeedEvent {
  /** Read on after this. */
  readonly id: string;
  readonly subject: string;
  readonly at: Instant;
  /** As it matched the subject's schema. */
  readonly payload: unknown;
}

export interface FeedRequest {
  /** The id of the last event that was read, or what `newest` or a page said. */
  readonly after: string;
  /** Patterns as a subscription has them. */
  readonly subjects: readonly string[];
  /** Answered with no events after this long without one. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Read on after this: it also passes what did not match. */
  readonly after: string;
  /** What followed the id is no longer kept, or the id was never given: there are no events, and `after` is now. */
  readonly reset: boolean;
}

export type FeedMark = Omit<FeedEvent, "id">;

export interface EventFeed {
  /** Where somebody begins who wants to hear what comes from now on. */
  newest(): Promise<string>;
  /** A Fault INVALID_ARGUMENT for an id that is none, BUS_UNAVAILABLE while the store is away. */
  read(request: FeedRequest): Promise<FeedPage>;
  /** Hears prices until the function that it answers is called; some may be missed, none comes late. */
  onMark(heard: (mark: FeedMark) => void): () => void;
}
