// One durable subscription: takes the lead of its name or stands by, reads behind its cursor, hands events over one at a
// time in the order of their numbers, tries again, parks or holds, moves the cursor.
//
// Invariants:
//  1. The cursor never passes an event that was neither handled nor put aside. All messages of a decision stand under one number, so
//     it passes that number only behind the last of them.
//  2. Between two confirmed moves of the cursor at most 2 x queueMax events and one decision's messages are finished, and that many
//     ids are remembered: what is read again after a lost session is recognised.
//  3. Nothing new is handed over after the session is known to be lost or close() was called.
//  4. A subscription whose name was forgotten has ended: it does not enter the name again and hears nothing more.
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { boundedMap } from "../../../core/state/bounded-map.ts";
import type { BusEvent, DurableOptions, Handler, Subscription } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Metrics } from "../../../ports/metrics.ts";
import type { Random } from "../../../ports/random.ts";
import type { Timers } from "../../../ports/timers.ts";
import { messagesPerDecisionMax } from "../../transport/decision-messages.ts";
import { heldSentence } from "../../transport/held-event.ts";
import { isNotYet } from "../../transport/not-yet.ts";
import { type Aside, type AsideStore, createAside, jsonOf, waitsBehind } from "../../transport/put-aside.ts";
import { isRefused } from "../../transport/refused.ts";
import type { Alarms } from "../alarms.ts";
import { messagesOf, wantsDecisions } from "../risk/decision-rows.ts";
import { decodeEveryRow, decodeRow, type SubjectByName } from "./bus-decode.ts";
import type { BusPulse } from "./bus-pulse.ts";
import type { BusSession, Leadership } from "./bus-session.ts";
import { horizonComplaint, horizonMsMax, oldestTransaction } from "./outbox-horizon.ts";
import { createOutboxReader, type OutboxReader } from "./outbox-reader.ts";
import type { OutboxRow } from "./outbox-row.ts";
import { type Complaints, goOn, holdAt, worstOf } from "./subscription-complaints.ts";
import { createCursorKeeper } from "./subscription-cursor.ts";
import { paceOf, pollMs, rest } from "./subscription-pace.ts";
import { choreOf, watchStanding } from "./subscription-standing.ts";
import { createBell, type Hears, hearsFor, type PokeSource } from "./subscription-wake.ts";

interface DurableContext {
  readonly session: BusSession;
  /** The entry of the subscription's name, from its registration. */
  readonly entry: bigint;
  readonly alarms: Alarms;
  readonly wake: PokeSource;
  readonly pulse: BusPulse;
  readonly parking: AsideStore;
  readonly subjectByName: SubjectByName;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface DurableSubscription extends Subscription {
  readonly name: string;
  /** What is wrong with it, or undefined. */
  complaint(): string | undefined;
}

/** Why an event is put aside. */
interface WhyAside {
  readonly lane: string | undefined;
  readonly error: string;
  readonly attempts: number;
  readonly firstTriedAt?: Instant;
}

/** Stands for the platform's own trouble, which is no failure of the event. */
const notYet = Symbol("not yet");

const attemptsMaxDefault = 5;
const queueMaxDefault = 1_000;
/** Where a row may be eight messages a page is shorter: a quick handler would keep the process from everything else until its end. */
const decisionRowsMax = 128;
const retryMsMin = 50;
const retryMsMax = 2_000;
const holeMsMin = 1;
const holeMsMax = 50;
const alarmEveryMs = 30_000;

export function openDurable(options: DurableOptions, handler: Handler, context: DurableContext): DurableSubscription {
  const { name } = options;
  const { session, clock, timers, log, metrics } = context;
  const { attemptsMax, queueMax } = boundsOf(options);
  const patterns = [...options.subjects];
  /** Every row of the database is ours: there is nothing to prove. */
  const read = options.unread === true ? decodeEveryRow : decodeRow;
  const rowsMax = wantsDecisions(patterns) ? Math.min(queueMax, decisionRowsMax) : queueMax;
  const label = { subscription: name };
  const { handled, horizonAge } = countersOf(metrics);
  const closing = new AbortController();
  const pace = paceOf(options.everyMs, clock, context.pulse);
  const bell = createBell(context.wake, timers, closing.signal, hearsOf(options), pace.rung);
  const recent = boundedMap<string, true>(2 * (2 * queueMax + messagesPerDecisionMax));
  const complaints: Complaints = {};
  const aside = asideOf(options, handler, context);
  const standing = watchStanding(name, context, aside, () => bell.stir());
  let [finishedCount, failures] = [0, 0];
  let alarmedAt = clock.now();
  let readingSince: Instant | undefined;
  /** Before the read that found nothing more than what has been finished since. */
  let caughtUpAt: Instant | undefined;

  /** A read that is not answered (a locked table, a server that hangs) holds up everything, and says nothing by itself. */
  function unanswered(): string | undefined {
    if (readingSince === undefined) return undefined;
    const waitedMs = millisecondsBetween(readingSince, clock.now());
    if (waitedMs < horizonMsMax) return undefined;
    return `${name} has waited ${Math.round(waitedMs / 1_000)} s for the database to answer its read of the outbox`;
  }

  function finish(row: OutboxRow): void {
    recent.set(row.eventId, true);
    finishedCount += 1;
    handled.add(1, label);
  }

  /** True when the event is done with, false when it was left for later because we must stop. */
  async function deliver(row: OutboxRow, stopped: () => boolean): Promise<boolean> {
    if (recent.get(row.eventId) === true) return true;
    const lane = (): string | undefined => aside.laneOf(row.eventId, () => jsonOf(row.payload));
    if (aside.isHolding()) {
      const own = lane();
      if (own !== undefined && aside.holds(own))
        return put(row, { lane: own, error: waitsBehind, attempts: 0 }, stopped);
    }
    const decoded = read(row, context.subjectByName);
    const firstTriedAt = clock.now();
    let ownFailures = 0;
    for (let attempt = 1; ; attempt += 1) {
      const error = "poison" in decoded ? decoded.poison : await attemptOf(row, decoded.event, attempt);
      if (error === undefined) {
        goOn(context, complaints, name);
        return true;
      }
      if (error !== notYet) ownFailures += 1;
      if (typeof error === "object") {
        return put(row, { lane: undefined, error: error.refused, attempts: ownFailures, firstTriedAt }, stopped);
      }
      if (error !== notYet && ("poison" in decoded || ownFailures >= attemptsMax)) {
        const own = lane();
        const attempts = "poison" in decoded ? 0 : ownFailures;
        if (options.parks !== false || own !== undefined) {
          return put(row, { lane: own, error, attempts, firstTriedAt }, stopped);
        }
        const event = { id: row.eventId, subject: row.subject };
        holdAt(context, complaints, name, heldSentence(name, undefined, event, error));
      }
      await timers.sleep(backOff(context.random, attempt), closing.signal);
      if (stopped()) return false;
    }
  }

  /** Undefined when it was handled, else why not. */
  async function attemptOf(
    row: OutboxRow,
    event: BusEvent,
    attempt: number,
  ): Promise<string | { readonly refused: string } | typeof notYet | undefined> {
    try {
      await handler(event);
      finish(row);
      return undefined;
    } catch (thrown) {
      log.warn("handler failed", { ...label, event: row.eventId, attempt, reason: messageOf(thrown) });
      if (isRefused(thrown)) return { refused: messageOf(thrown) };
      return isNotYet(thrown) ? notYet : messageOf(thrown);
    }
  }

  /** What was read together, without what will be parked and what was handled before. */
  async function showAhead(rows: readonly OutboxRow[]): Promise<void> {
    if (options.ahead === undefined || rows.length < 2) return;
    const events: BusEvent[] = [];
    for (const row of rows) {
      for (const message of messagesOf(row, patterns)) {
        if (recent.get(message.eventId) === true) continue;
        const decoded = read(message, context.subjectByName);
        if ("event" in decoded) events.push(decoded.event);
      }
    }
    try {
      await options.ahead(events);
    } catch (thrown) {
      log.warn("what was read together could not be handled together", { ...label, reason: messageOf(thrown) });
    }
  }

  /** How many events a row was, all of them done with; undefined when one was left for later, and with it the row. */
  async function deliverAll(row: OutboxRow, stopped: () => boolean): Promise<number | undefined> {
    const messages = messagesOf(row, patterns);
    for (const message of messages) {
      if (stopped() || !(await deliver(message, stopped))) return undefined;
    }
    return messages.length;
  }

  async function put(row: OutboxRow, why: WhyAside, stopped: () => boolean): Promise<boolean> {
    const { eventId, subject, key, source, at, payload } = row;
    const state = why.lane === undefined ? "PARKED" : "HELD";
    for (let attempt = 1; ; attempt += 1) {
      try {
        await aside.put({ eventId, subject, key, source, at, payload, state, ...why });
        delete complaints.parking;
        finish(row);
        return true;
      } catch (thrown) {
        complaints.parking = `${name} cannot put event ${row.eventId} aside: ${messageOf(thrown)}`;
        log.error("event could not be put aside", { ...label, event: row.eventId, reason: messageOf(thrown) });
      }
      await timers.sleep(backOff(context.random, attempt), closing.signal);
      if (stopped()) return false;
    }
  }

  async function watchHorizon(reader: OutboxReader, leadership: Leadership): Promise<void> {
    const heldMs = reader.heldMs();
    horizonAge.set(heldMs, label);
    if (heldMs < horizonMsMax) return notHeld();
    if (complaints.horizon !== undefined && millisecondsBetween(alarmedAt, clock.now()) < alarmEveryMs) return;
    alarmedAt = clock.now();
    const complaint = horizonComplaint(name, heldMs, await oldestTransaction(leadership.run));
    complaints.horizon = complaint;
    context.alarms.raise("HORIZON_STALLED", name, complaint);
    log.error("bus reader held back", { ...label, heldMs, complaint });
  }

  function notHeld(): void {
    if (complaints.horizon === undefined) return;
    delete complaints.horizon;
    context.alarms.clear("HORIZON_STALLED", name);
  }

  async function leadOn(leadership: Leadership): Promise<void> {
    const reader = createOutboxReader({ run: leadership.run, clock });
    const cursor = createCursorKeeper({ leadership, clock, queueMax });
    const stopped = (): boolean => closing.signal.aborted || !leadership.holds();
    const chore = choreOf(cursor, standing);
    let holeMs = holeMsMin;
    let isUnannounced = false;
    await aside.load();
    while (!stopped()) {
      bell.silence();
      if (standing.isForgotten()) throw new Fault("NOT_FOUND", "the entry is gone", { retry: "never" });
      if (standing.asideMs() <= 0) await aside.work(stopped);
      if (stopped()) break;
      const before = cursor.position();
      const readAt = clock.now();
      readingSince = readAt;
      const page = await reader.read(before, rowsMax, patterns);
      readingSince = undefined;
      getsOn();
      if (isUnannounced && page.rows.length > 0 && !bell.hasRung()) pace.foundUnannounced();
      await showAhead(page.rows);
      if (stopped()) break;
      for (const row of page.rows) {
        const finished = await deliverAll(row, stopped);
        if (finished === undefined) break;
        cursor.advance(row.id, finished);
        // Also within a page: with a slow handler that is when a cursor is written and a forgotten name is noticed.
        if (cursor.isDue()) await cursor.keepUp();
        if (standing.asideMs() <= 0) await aside.work(stopped);
      }
      if (stopped()) break;
      cursor.advance(page.through, 0);
      if (!page.more && !page.held && !aside.isHolding()) caughtUpAt = readAt;
      await watchHorizon(reader, leadership);
      await cursor.keepUp();
      // Held by a hole, every commit would ring the bell for a page that is read already; a young hole is filled soon.
      holeMs = page.held && page.through === before ? Math.min(holeMsMax, holeMs * 2) : holeMsMin;
      isUnannounced = false;
      if (page.held) await timers.sleep(holeMs, closing.signal);
      else if (!page.more) isUnannounced = await rest(bell, pace, readAt, stopped, chore);
    }
    if (leadership.holds()) await cursor.flush();
  }

  function getsOn(): void {
    if (complaints.trouble !== undefined) log.info("subscription goes on", label);
    delete complaints.trouble;
    failures = 0;
  }

  /** One failure is what a lost session looks like, and the bus says that itself; a second one in a row is our own. */
  async function failed(thrown: unknown): Promise<void> {
    failures += 1;
    const fields = { ...label, failures, reason: messageOf(thrown) };
    if (failures === 1) log.warn("subscription interrupted", fields);
    else log.debug("subscription interrupted", fields);
    if (failures >= 2) complaints.trouble = `${name} does not get on: ${messageOf(thrown)}`;
    await timers.sleep(backOff(context.random, failures), closing.signal);
  }

  /** Leads once, or stands by for a moment. */
  async function takePart(): Promise<void> {
    const leadership = await session.lead(name, patterns, clock.now(), context.entry);
    if (leadership === undefined) {
      getsOn();
      await timers.sleep(pollMs, closing.signal);
      return;
    }
    try {
      await leadOn(leadership);
    } finally {
      readingSince = undefined;
      notHeld();
      goOn(context, complaints, name);
      aside.forget();
      delete complaints.parking;
      await leadership.resign();
    }
  }

  async function live(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        if ((await session.opened(closing.signal)) === "closed") return;
        if (!closing.signal.aborted) await takePart();
      } catch (thrown) {
        if (thrown instanceof Fault && thrown.code === "NOT_FOUND") {
          log.warn("subscription was forgotten and has ended", label);
          return;
        }
        // A lost session ends here; whoever leads next goes on behind the cursor.
        await failed(thrown);
      }
    }
  }

  const lived = live();
  return {
    name,
    complaint: () => unanswered() ?? worstOf(complaints, aside),
    handledCount: () => finishedCount,
    droppedCount: () => 0,
    caughtUpAt: () => caughtUpAt,
    async close() {
      closing.abort();
      await lived;
      standing.stop();
      bell.close();
    },
  };
}

function boundsOf({ attemptsMax, queueMax }: DurableOptions) {
  return {
    attemptsMax: Math.max(1, attemptsMax ?? attemptsMaxDefault),
    queueMax: Math.max(1, queueMax ?? queueMaxDefault),
  };
}

/** What is in no hurry hears of nothing. */
function hearsOf({ everyMs, subjects }: DurableOptions): Hears {
  return everyMs === undefined ? hearsFor(subjects) : () => false;
}

function countersOf(metrics: Metrics) {
  return {
    handled: metrics.counter("portcullis_bus_handled_total", "Events finished, parked ones included.", [
      "subscription",
    ]),
    horizonAge: metrics.gauge("portcullis_bus_horizon_age_ms", "How long a hole has held a reader back.", [
      "subscription",
    ]),
  };
}

function asideOf(options: DurableOptions, handler: Handler, context: DurableContext): Aside {
  const { alarms, clock, log, parking, subjectByName } = context;
  const read = options.unread === true ? decodeEveryRow : decodeRow;
  return createAside({
    options,
    handler,
    clock,
    log,
    store: parking,
    read: (event) => read(event, subjectByName),
    hold: (lane, sentence) => {
      const about = `${options.name} ${lane}`;
      if (sentence === undefined) alarms.clear("EVENT_HELD", about);
      else alarms.raise("EVENT_HELD", about, sentence);
    },
  });
}

function backOff(random: Random, attempt: number): number {
  const spanMs = Math.min(retryMsMax, retryMsMin * 2 ** (attempt - 1));
  return spanMs / 2 + (spanMs / 2) * ((random.bytes(1)[0] ?? 0) / 255);
}
