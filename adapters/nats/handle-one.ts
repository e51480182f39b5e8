// What happens to one message of a durable subscription: decode, recognise a repetition, try the handler, park.

import { createHash } from "node:crypto";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { sourceOfLogin } from "../../contracts/src/foreign-events.ts";
import { matchesAny } from "../../contracts/src/subjects.ts";
import type { BusEvent, Handler } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Timers } from "../../ports/timers.ts";
import { heldSentence } from "../transport/held-event.ts";
import { isNotYet } from "../transport/not-yet.ts";
import { type Aside, jsonOf, waitsBehind } from "../transport/put-aside.ts";
import { isRefused } from "../transport/refused.ts";
import { type Park, type Parked, textOf } from "./park.ts";
import type { RecentIds } from "./recent-ids.ts";
import { type Arrival, type Decoded, decode, isProbe, readName, type SubjectLookup } from "./wire.ts";

/** `skipped` was not for this subscription, `repeated` was handled before, `abandoned` will be delivered again. */
export type Fate = "handled" | "parked" | "skipped" | "repeated" | "abandoned";

export interface HandlingContext {
  readonly name: string;
  readonly patterns: readonly string[];
  readonly attemptsMax: number;
  /** False: it stops at an event that it cannot handle. */
  readonly parks: boolean;
  readonly handler: Handler;
  readonly lookup: SubjectLookup;
  readonly recent: RecentIds;
  readonly park: Park;
  readonly aside: Aside;
  readonly clock: Clock;
  readonly log: Log;
  readonly timers: Timers;
  /** Whether what carries money may be believed of whoever published it; asked only where it does. Absent: it carries none. */
  readonly isVouchedFor?: (arrival: Arrival, id: string) => Promise<boolean>;
  /** One sentence while an event cannot even be parked. */
  complain(sentence: string | undefined): void;
  /** The subscription stops at an event, or no longer. */
  hold(sentence: string | undefined): void;
}

const backoffMsMin = 20;
const backoffMsMax = 5_000;

/** `read` is what it was read as together with others; without it it is read here. */
export async function handleOne(
  context: HandlingContext,
  arrival: Arrival,
  stop: AbortSignal,
  read?: Decoded,
): Promise<Fate> {
  if (!matchesAny(context.patterns, readName(arrival.subject).subject) || isProbe(arrival.subject)) return "skipped";
  const decoded = read ?? decode(arrival, context.lookup);
  const envelope = decoded.ok ? decoded.event : decoded.envelope;
  const { id, subject: name, key, at } = envelope;
  // Kept under its own name: for whom it speaks is asked when it is tried again.
  const source = envelope.login === undefined ? envelope.source : sourceOfLogin(envelope.login);
  const base = { id, subject: name, key, at, source, payload: arrival.data, subscription: context.name };
  const lane = (): string | undefined => context.aside.laneOf(id, () => jsonOf(textOf(arrival.data)));
  // A mark that somebody published under a stored name: no durable subscription carries conflated events.
  if (decoded.ok && decoded.subject?.delivery === "conflated") return "skipped";
  const known = decoded.ok ? recentIdOf(decoded.event) : id;
  if (context.recent.has(known)) return "repeated";
  if (context.aside.isHolding()) {
    const own = lane();
    if (own !== undefined && context.aside.holds(own)) {
      return park(context, { ...base, attempts: 0, error: waitsBehind, lane: own }, stop, known);
    }
  }
  if (decoded.ok && context.isVouchedFor !== undefined) {
    const vouched = await vouchedFor(context, context.isVouchedFor, arrival, id, stop);
    if (vouched === "stopped") return "abandoned";
    // Under a name of its own: it may carry the id of an event of ours that is still to come.
    if (!vouched) return park(context, { ...base, id: `unproved ${id}`, attempts: 0, error: notVouchedFor }, stop);
  }
  const firstTriedAt = context.clock.now();
  let failures = 0;
  for (let attempt = 1; ; attempt++) {
    const tried = decoded.ok
      ? await attemptOf(context, decoded.event, attempt)
      : { error: decoded.reason, isOwn: true, isRefused: false };
    if (tried === undefined) {
      context.hold(undefined);
      context.recent.add(known);
      return "handled";
    }
    if (tried.isOwn) failures += 1;
    if (tried.isRefused)
      return park(context, { ...base, attempts: failures, error: tried.error, firstTriedAt }, stop, known);
    if (tried.isOwn && (!decoded.ok || failures >= context.attemptsMax)) {
      const own = lane();
      const attempts = decoded.ok ? failures : 0;
      if (context.parks || own !== undefined) {
        return park(context, { ...base, attempts, error: tried.error, lane: own, firstTriedAt }, stop, known);
      }
      context.hold(heldSentence(context.name, undefined, { id, subject: name }, tried.error));
    }
    if (stop.aborted) return "abandoned";
    await context.timers.sleep(backoffMs(attempt), stop);
    if (stop.aborted) return "abandoned";
  }
}

const notVouchedFor =
  "Held back: it has no row in the outbox, and the NATS server lets anybody publish. Retry it, with a reason, to have it booked; discard it when it is not real.";

/** Nothing is believed while the database or the server does not answer: then this waits. */
async function vouchedFor(
  context: HandlingContext,
  ask: NonNullable<HandlingContext["isVouchedFor"]>,
  arrival: Arrival,
  id: string,
  stop: AbortSignal,
): Promise<boolean | "stopped"> {
  for (let attempt = 1; !stop.aborted; attempt++) {
    try {
      const answer = await ask(arrival, id);
      if (attempt > 1) context.complain(undefined);
      return answer;
    } catch (thrown) {
      const reason = messageOf(thrown);
      context.complain(`The subscription ${context.name} cannot find out who published what it hears: ${reason}`);
      context.log.warn("who published an event could not be found out", {
        subscription: context.name,
        attempt,
        reason,
      });
    }
    await context.timers.sleep(backoffMs(attempt), stop);
  }
  return "stopped";
}

/** Undefined when it was handled. Trouble of the platform is no failure of the event's own. */
async function attemptOf(
  context: HandlingContext,
  event: BusEvent,
  attempt: number,
): Promise<{ readonly error: string; readonly isOwn: boolean; readonly isRefused: boolean } | undefined> {
  try {
    await context.handler(event);
    return undefined;
  } catch (thrown) {
    const error = messageOf(thrown);
    context.log.warn("a handler failed", { subscription: context.name, event_id: event.id, attempt, error });
    return { error, isOwn: !isNotYet(thrown), isRefused: isRefused(thrown) };
  }
}

/**
 * Under what it is remembered: whoever merely claims one of our ids must not have the event that it belongs to taken for a repetition, and what somebody
 * else's id says is a repetition only when it says the same.
 */
export function recentIdOf({ id, claimed, payload }: BusEvent): string {
  if (claimed === undefined) return id;
  const said = createHash("sha256").update(JSON.stringify(payload) ?? "");
  return `claimed ${id} ${said.digest("base64")}`;
}

/** Tries until the store has it: an event is never dropped because it could not be put aside. */
async function park(
  context: HandlingContext,
  parked: Parked,
  stop: AbortSignal,
  known: string = parked.id,
): Promise<Fate> {
  for (let attempt = 1; ; attempt++) {
    try {
      const kept = await parkSomehow(context, parked);
      context.complain(undefined);
      context.recent.add(known);
      context.log.error("an event was parked", {
        subscription: kept.subscription,
        event_id: kept.id,
        subject: kept.subject,
        attempts: kept.attempts,
        error: kept.error,
      });
      return "parked";
    } catch (thrown) {
      context.complain(`The subscription ${parked.subscription} cannot park event ${parked.id}: ${messageOf(thrown)}`);
    }
    await context.timers.sleep(backoffMs(attempt), stop);
    if (stop.aborted) return "abandoned";
  }
}

/** What the store will never take as it is goes aside in a form that it takes: one message must not stop all others. */
async function parkSomehow(context: HandlingContext, parked: Parked): Promise<Parked> {
  try {
    await context.park(parked);
    return parked;
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.retry !== "never") throw thrown;
    const reduced = reducedForm(parked, thrown.message);
    await context.park(reduced);
    return reduced;
  }
}

/** Nothing in it comes from outside but the payload, and that in base64. */
function reducedForm(parked: Parked, refusal: string): Parked {
  return {
    id: `sha256:${createHash("sha256").update(parked.id).digest("hex")}`,
    subject: "unknown",
    key: "",
    at: parked.at,
    source: "foreign",
    payload: Buffer.from(`base64:${Buffer.from(parked.payload).toString("base64")}`),
    attempts: parked.attempts,
    error: `kept in a reduced form, because the store refused it (${refusal}): ${parked.error}`,
    subscription: parked.subscription,
    lane: parked.lane,
  };
}

export function backoffMs(attempt: number): number {
  return Math.min(backoffMsMax, backoffMsMin * 2 ** Math.min(attempt - 1, 16));
}
