// The bus: who hears of a change after it has been committed. State changes are published only by writing them to the
// outbox inside a unit of work (ports/store.ts); this port is the listening side, plus the lossy path for market marks.
//
// What every transport promises (testkit/conformance/bus.ts holds each against it):
//  1. A durable subscription hands over every event that was committed, at least once, also after a crash of either side;
//     a new one begins with the oldest event that is still kept.
//  2. An event that was handled is not handed to the same running subscription again; after a crash it may be, with the
//     same id: a handler that changes state calls `unit.handled.firstTime(subscription, event.id)` in its transaction.
//  3. Events with one key arrive in commit order, one at a time.
//  4. Subscribers are asynchronous: a slow or failing one never slows or fails a publisher or another subscription.
//  5. A handler that keeps failing has its event parked and reported after `attemptsMax` tries; the next event goes on. A
//     platform in trouble (the store is away, a queue is full) is no failure of the event: it is tried again, with back-off, until it ends.
//     A subscription that carries money (`parks: false`) never goes on without an event, also not without one that it cannot read: it stops
//     there, tries again with back-off until it is handled, also after a restart, and its health says so from the `attemptsMax`th failure on.
//     Where it says what waits together (`lane`), only the event's lane stops: what follows in it is held behind it, in order, and others go on.
//  6. Two processes under one durable name share the work of one: at any time one of them handles, the other stands by.
//  7. Every queue is bounded. Durable subscriptions stop reading when full; ephemeral ones drop by their named policy.
//  8. What nobody can read is parked or held, or handed over as it came to a subscription that asked for it (`unread`).
//  9. To a subscription that asked for it (`proved`) an event is a service's only if the database has it: whatever else a publisher
//     says of itself is handed over as a claim.
// 10. What was put aside is handed over again, to its own subscription and between two other events, when somebody asks for it (`unit.parked`): once
//     handled it is gone, and otherwise it says why not. What is discarded is never handed over again, and frees its lane.
// 10. What a durable subscription says of how far it has heard (`caughtUpAt`) may be late and is never early.
import type { Instant } from "../contracts/src/instant.ts";
import type { Subject } from "../contracts/src/subject.ts";

export interface BusEvent {
  /** De-duplicate by this. */
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  /** When the publisher made the change. */
  readonly at: Instant;
  /**
   * The publishing service, the token under which a program outside published it, or "foreign" for one on NATS. There it is what the publisher says, unless
   * it was proved, or came under a login's own subjects. To a subscription that asked for proof it is the token that names the login, where one does.
   */
  readonly source: string;
  /** Of a program outside that published straight on NATS: its login, where the server held it to that. It is numbered by itself. */
  readonly login?: string;
  /** Of such a one: the funds that the token may speak of which names the login. Absent means every fund. */
  readonly funds?: readonly string[];
  /** Of such a one: the token was revoked before the server took the event. */
  readonly isRevoked?: true;
  /** Parsed JSON that matched the subject's schema; undefined when it is `unread`. */
  readonly payload: unknown;
  /** Only where proof was asked for and there was none, or under a login's own subjects: `at` is then when the transport took it. */
  readonly claimed?: Claimed;
  /** Only where it was asked for. */
  readonly unread?: Unread;
}

/** What a publisher says of itself and nobody vouches for. */
export interface Claimed {
  readonly source?: string;
  readonly at?: Instant;
}

/** Why nobody could read an event, and what it was. */
export interface Unread {
  readonly kind: "unknown subject" | "malformed";
  readonly reason: string;
  /** The payload as it came. */
  readonly bytes: Uint8Array;
}

export type Handler = (event: BusEvent) => Promise<void>;

/** A lane that waits. */
export interface HeldLane {
  /** The event at which it stopped. */
  readonly eventId: string;
  readonly sentence: string;
}

export interface DurableOptions {
  /** Unique per purpose, for example "operations.observer"; the cursor lives under this name. */
  readonly name: string;
  /** Subject patterns: `*` stands for one word, a closing `>` for one or more, and a `!` before a whole name leaves that subject out. */
  readonly subjects: readonly string[];
  /** Failures before an event is parked; default 5, with back-off between them. */
  readonly attemptsMax?: number;
  /** False for what carries money: an event whose handler keeps failing is not parked but held, and everything behind it waits. Default true. */
  readonly parks?: boolean;
  /**
   * What waits together when one of them is held, such as a fund; asked with the payload as it came, which may match no schema. Undefined: nobody can
   * say, and it is held alone. Without this everything behind it waits. Only together with `parks: false`.
   */
  readonly lane?: (payload: unknown) => string | undefined;
  /** Hears which lanes are held, by name, whenever that may have changed, and before anything is delivered. Only together with `lane`. */
  readonly onHeld?: (held: ReadonlyMap<string, HeldLane>) => void;
  /** It is in no hurry: on PostgreSQL it is not woken for every commit and looks as often as this. Default: it is handed over at once. */
  readonly everyMs?: number;
  /** Events read ahead of the handler; default 1,000. */
  readonly queueMax?: number;
  /**
   * Shown what was read together before it is handed over one by one, for a handler that is quicker with many at once. It replaces nothing:
   * every event is still handed over, some may never be shown, and when it fails that is no failure of an event.
   */
  readonly ahead?: (events: readonly BusEvent[]) => Promise<void>;
  /** Handed over as well, in its place: what has a subject that nobody knows or does not match its schema. Default: it is parked. */
  readonly unread?: boolean;
  /** Believes no publisher about itself: see `claimed`. Default: on NATS `source` and `at` are what the publisher says. */
  readonly proved?: boolean;
}

/** What a full ephemeral queue does: throw away its oldest event, or keep only the newest per key. */
export type OverflowPolicy = "drop-oldest" | "keep-newest-per-key";

export interface EphemeralOptions {
  readonly subjects: readonly string[];
  readonly queueMax: number;
  readonly overflow: OverflowPolicy;
}

export interface Subscription {
  /** Events handed to the handler and finished (handled or parked) since it began. */
  readonly handledCount: () => number;
  /** Events dropped by the overflow policy since it began. */
  readonly droppedCount: () => number;
  /**
   * Everything that was committed or published before this moment, as far as it is for this subscription, is finished. Undefined while nobody
   * can say, and for ever of an ephemeral one. It stands still while the subscription is behind, holds something, stands by, or the transport is away.
   */
  readonly caughtUpAt: () => Instant | undefined;
  /** Stops taking new events, waits for the one in hand, keeps the cursor. */
  close(): Promise<void>;
}

export interface BusHealth {
  readonly connected: boolean;
  /** One sentence when something is wrong, else undefined. */
  readonly complaint?: string;
  /** One sentence that people should know although it works. */
  readonly note?: string | undefined;
}

export interface Bus {
  /** Hears every event under these subjects from now on and after restarts, under a durable name. */
  subscribe(options: DurableOptions, handler: Handler): Promise<Subscription>;
  /** Hears events while it is open; for marks and for screens. Missing some is allowed, being late is not. */
  listen(options: EphemeralOptions, handler: Handler): Promise<Subscription>;
  /** Sends a conflated event (a market mark): batched, newest per key, may be lost. Never for a state change. */
  broadcast<Payload>(subject: Subject<Payload>, payload: Payload): void;
  /** Forgets a durable subscription, so that it no longer holds back trimming. Running ones of that name end: here at once, elsewhere soon. */
  forget(name: string): Promise<void>;
  health(): BusHealth;
  close(): Promise<void>;
}
