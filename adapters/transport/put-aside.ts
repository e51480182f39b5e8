// What a durable subscription does about the events that it put aside, on every transport: it tries what is held in a lane until it is handled, in order,
// and what somebody asked to have tried again, once. It is called between two events, so that no handler ever runs beside another.
//
//  1. While a lane has something held, what follows in it is held behind it; a lane is free when the store has nothing of it any more.
//  2. Whatever was handled is taken out afterwards: after a crash in between it is handed over again, with the same id.
//  3. Trouble of the platform is no failure of an event: it stays as it is and is tried again.
//  4. Nothing is delivered before what is held is known, and it is reported first.

import { messageOf } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { BusEvent, DurableOptions, Handler, HeldLane } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { AsideEvent, NewAside } from "../../ports/parked-events.ts";
import { heldSentence } from "./held-event.ts";
import { isNotYet } from "./not-yet.ts";
import { isRefused } from "./refused.ts";

export interface AsideStore {
  put(event: NewAside): Promise<void>;
  /** As `due` of ports/parked-events.ts. */
  due(subscription: string, perLaneMax: number): Promise<readonly AsideEvent[]>;
  take(event: AsideEvent): Promise<boolean>;
  failed(event: AsideEvent, error: string): Promise<void>;
  done(event: AsideEvent): Promise<void>;
  /** It was held and is refused for good: it leaves its lane and stays listed, both or neither. */
  refused(event: AsideEvent, error: string): Promise<void>;
}

interface AsideOptions {
  readonly options: DurableOptions;
  readonly store: AsideStore;
  readonly handler: Handler;
  /** The event that was put aside, read again; or why it cannot be. */
  readonly read: (event: AsideEvent) => { readonly event: BusEvent } | { readonly poison: string };
  readonly clock: Clock;
  readonly log: Log;
  /** A lane stops at an event, with the sentence that says so; or, without one, no longer. */
  readonly hold: (lane: string, sentence: string | undefined) => void;
}

export interface Aside {
  /** What is held, before anything is delivered. */
  load(): Promise<void>;
  /** The lane of an event of that payload; undefined when a failure holds the whole subscription, or parks. */
  laneOf(eventId: string, payload: () => unknown): string | undefined;
  holds(lane: string): boolean;
  isHolding(): boolean;
  /** Why the first lane that is held is. */
  complaint(): string | undefined;
  put(
    event: Omit<NewAside, "subscription" | "now" | "firstTriedAt"> & { readonly firstTriedAt?: Instant },
  ): Promise<void>;
  isDue(): boolean;
  /** Milliseconds until it is due; at most the time between two looks. */
  dueMs(): number;
  /** Tries what is due. */
  work(stopped: () => boolean): Promise<void>;
  /** Nobody leads here any more. */
  forget(): void;
}

/** How often it looks for what somebody asked for. */
const lookEveryMs = 1_000;
const retryMsMin = 1_000;
const retryMsMax = 30_000;
/** Of one lane between two events of others. */
const perLaneMax = 100;
const errorLengthMax = 1_000;
export const waitsBehind = "It waits behind another event of its lane.";

interface Lane extends HeldLane {
  readonly pauseMs: number;
  readonly nextAt: Instant;
}

export function createAside(aside: AsideOptions): Aside {
  const { store, handler, clock, log, options } = aside;
  const { name } = options;
  const lanes = new Map<string, Lane>();
  let lookedAt: Instant | undefined;

  function stop(event: Pick<AsideEvent, "eventId" | "subject">, lane: string, error: string, pauseMs: number): void {
    const sentence = heldSentence(name, lane, { id: event.eventId, subject: event.subject }, error);
    // What only waits is not where it stopped.
    const eventId = error === waitsBehind ? (lanes.get(lane)?.eventId ?? event.eventId) : event.eventId;
    lanes.set(lane, { eventId, sentence, pauseMs, nextAt: plusMilliseconds(clock.now(), pauseMs) });
    aside.hold(lane, sentence);
  }

  const tell = (): void => options.onHeld?.(new Map(lanes));

  function free(lane: string): void {
    if (lanes.delete(lane)) aside.hold(lane, undefined);
  }

  /** By lane, in order; what was asked for beside them. */
  async function look(): Promise<{ held: ReadonlyMap<string, readonly AsideEvent[]>; asked: readonly AsideEvent[] }> {
    const rows = await store.due(name, perLaneMax);
    lookedAt = clock.now();
    const held = new Map<string, AsideEvent[]>();
    for (const row of rows) {
      if (row.state !== "HELD" || row.lane === undefined) continue;
      held.set(row.lane, [...(held.get(row.lane) ?? []), row]);
    }
    for (const lane of lanes.keys()) if (!held.has(lane)) free(lane);
    for (const [lane, [first]] of held) {
      if (first !== undefined && !lanes.has(lane)) stop(first, lane, first.error, retryMsMin);
    }
    tell();
    return { held, asked: rows.filter(({ state }) => state === "PARKED") };
  }

  /** Undefined when it was handled, else why not; throws when the platform is in trouble. */
  async function attempt(event: AsideEvent): Promise<string | undefined> {
    const read = aside.read(event);
    if ("poison" in read) return read.poison;
    try {
      await handler(read.event);
      return undefined;
    } catch (thrown) {
      if (isNotYet(thrown) || isRefused(thrown)) throw thrown;
      return messageOf(thrown);
    }
  }

  async function tryAsked(event: AsideEvent): Promise<void> {
    if (!(await store.take(event))) return;
    const error = await attempt(event).catch((thrown: unknown) => messageOf(thrown));
    if (error === undefined) await store.done(event);
    else await store.failed(event, cut(error));
    log.info("an event that was parked was tried again", { subscription: name, event: event.eventId, error });
  }

  /** True when it got to the end of what was read of the lane. */
  async function tryLane(lane: string, rows: readonly AsideEvent[], stopped: () => boolean): Promise<void> {
    for (const event of rows) {
      if (stopped()) return;
      if (event.retry !== undefined) await store.take(event);
      const error = await attempt(event).catch((thrown: unknown) => ({ thrown }));
      if (typeof error === "object") {
        if (!isRefused(error.thrown)) throw error.thrown;
        await store.refused(event, cut(messageOf(error.thrown)));
        log.info("an event that was held was refused", { subscription: name, event: event.eventId, lane });
        stop(event, lane, waitsBehind, retryMsMin);
        continue;
      }
      if (error !== undefined) {
        const pauseMs = Math.min(retryMsMax, (lanes.get(lane)?.pauseMs ?? retryMsMin / 2) * 2);
        await store.failed(event, cut(error));
        stop(event, lane, cut(error), pauseMs);
        return;
      }
      await store.done(event);
      log.info("an event that was held was handled", { subscription: name, event: event.eventId, lane });
      stop(event, lane, waitsBehind, retryMsMin);
    }
  }

  function isLaneDue(lane: string, [first]: readonly AsideEvent[]): boolean {
    const known = lanes.get(lane);
    if (known === undefined || first?.retry !== undefined) return true;
    const now = clock.now();
    // A clock that was set back is no reason to wait longer than the longest pause.
    return now >= known.nextAt || millisecondsBetween(now, known.nextAt) > retryMsMax;
  }

  const dueMs = (): number => {
    if (lookedAt === undefined) return 0;
    const sinceMs = millisecondsBetween(lookedAt, clock.now());
    return sinceMs < 0 ? 0 : Math.max(0, lookEveryMs - sinceMs);
  };

  return {
    async load() {
      await look();
    },
    laneOf(eventId, payload) {
      if (options.parks !== false || options.lane === undefined) return undefined;
      return options.lane(payload()) ?? `event ${eventId}`;
    },
    holds: (lane) => lanes.has(lane),
    isHolding: () => lanes.size > 0,
    complaint: () => lanes.values().next().value?.sentence,
    async put(event) {
      const now = clock.now();
      const error = cut(event.error);
      await store.put({ ...event, error, subscription: name, now, firstTriedAt: event.firstTriedAt ?? now });
      if (event.lane === undefined || lanes.has(event.lane)) return;
      stop(event, event.lane, error, retryMsMin);
      tell();
    },
    isDue: () => dueMs() === 0,
    dueMs,
    async work(stopped) {
      const { held, asked } = await look();
      try {
        for (const event of asked) {
          if (stopped()) return;
          await tryAsked(event);
        }
        const due = [...held].filter(([lane, rows]) => isLaneDue(lane, rows));
        for (const [lane, rows] of due) await tryLane(lane, rows, stopped);
        if (due.length > 0 && !stopped()) await look();
      } catch (thrown) {
        if (!isNotYet(thrown)) throw thrown;
        log.warn("what was put aside cannot be tried now", { subscription: name, reason: messageOf(thrown) });
      }
    },
    forget() {
      for (const lane of [...lanes.keys()]) free(lane);
      lookedAt = undefined;
    },
  };
}

function cut(error: string): string {
  return error.replaceAll("\0", "").slice(0, errorLengthMax);
}

/** The JSON of a payload, or nothing when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** What is refused, as it is listed from then on: without its lane, nothing waits behind it. */
export function refusedAside(event: AsideEvent, error: string, now: NewAside["now"]): NewAside {
  const { retry: _asked, triedAt: _tried, since: _since, ...kept } = event;
  return { ...kept, state: "PARKED", lane: undefined, error, attempts: event.attempts + 1, now };
}
