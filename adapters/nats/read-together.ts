// Reads the messages of a durable subscription that lie there together, for those that asked for more than one message after the other: what the
// publishers say of themselves is compared with the database in one question, what nobody can read becomes an event that says so, and all of
// it is shown ahead. Nothing is believed while the database does not answer: then this waits.
import { messageOf } from "../../contracts/src/fault.ts";
import { matchesAny } from "../../contracts/src/subjects.ts";
import type { BusEvent, DurableOptions } from "../../ports/bus.ts";
import type { Claim, Prove, Proven } from "../postgres/bus/outbox-proof.ts";
import { backoffMs, type HandlingContext, recentIdOf } from "./handle-one.ts";
import { type Arrival, claimedBy, type Decoded, decode, foreignSource, isProbe, positionOf, readName } from "./wire.ts";

/** What a subscription asked for; undefined when nothing of it. */
export interface Requests {
  /** Set when sources are to be proved. */
  readonly prove: Prove | undefined;
  readonly unread: boolean;
  readonly ahead: DurableOptions["ahead"];
}

export function requestsOf(options: DurableOptions, prove: Prove): Requests | undefined {
  const { proved = false, unread = false, ahead } = options;
  if (!proved && !unread && ahead === undefined) return undefined;
  return { prove: proved ? prove : undefined, unread, ahead };
}

/** What each arrival is, in their order; undefined where it is not for this subscription. "stopped" when told to stop while it waited. */
export async function readTogether(
  context: HandlingContext,
  requests: Requests,
  arrivals: readonly Arrival[],
  stop: AbortSignal,
): Promise<readonly (Decoded | undefined)[] | "stopped"> {
  const found = arrivals.map((arrival) =>
    matchesAny(context.patterns, readName(arrival.subject).subject) && !isProbe(arrival.subject)
      ? readOne(context, requests, arrival)
      : undefined,
  );
  const read = requests.prove === undefined ? found : await proved(context, requests.prove, arrivals, found, stop);
  if (read !== "stopped" && requests.ahead !== undefined) await showAhead(context, requests.ahead, read);
  return read;
}

function readOne(context: HandlingContext, requests: Requests, arrival: Arrival): Decoded {
  const decoded = decode(arrival, context.lookup);
  if (decoded.ok || !requests.unread) return decoded;
  const unread = { kind: decoded.kind, reason: decoded.reason, bytes: arrival.data };
  const subject = context.lookup(decoded.envelope.subject);
  return { ok: true, event: { ...decoded.envelope, payload: undefined, unread }, subject };
}

async function proved(
  context: HandlingContext,
  prove: Prove,
  arrivals: readonly Arrival[],
  found: readonly (Decoded | undefined)[],
  stop: AbortSignal,
): Promise<readonly (Decoded | undefined)[] | "stopped"> {
  const claims: Claim[] = [];
  const places = new Map<number, number>();
  for (const [index, decoded] of found.entries()) {
    const arrival = arrivals[index];
    const position = positionOf(arrival?.headers);
    if (!decoded?.ok || arrival === undefined || position === undefined || decoded.event.login !== undefined) continue;
    places.set(index, claims.length);
    claims.push({ id: decoded.event.id, subject: arrival.subject, position, payload: arrival.data });
  }
  const answers = claims.length === 0 ? [] : await answered(context, () => prove(claims), stop);
  if (answers === "stopped") return answers;
  return found.map((decoded, index) => {
    const arrival = arrivals[index];
    if (!decoded?.ok || arrival === undefined) return decoded;
    const place = places.get(index);
    return { ...decoded, event: asProved(decoded.event, arrival, place === undefined ? undefined : answers[place]) };
  });
}

/** What the database knows about it, or nothing but what the server itself saw. */
function asProved(event: BusEvent, arrival: Arrival, known: Proven | undefined): BusEvent {
  if (known !== undefined) return { ...event, ...known };
  return { ...event, source: foreignSource, at: arrival.receivedAt(), claimed: claimedBy(arrival.headers) };
}

/** Asks until there is an answer. */
async function answered<T>(context: HandlingContext, ask: () => Promise<T>, stop: AbortSignal): Promise<T | "stopped"> {
  for (let attempt = 1; !stop.aborted; attempt++) {
    try {
      const answer = await ask();
      if (attempt > 1) context.complain(undefined);
      return answer;
    } catch (thrown) {
      const reason = messageOf(thrown);
      context.complain(`The subscription ${context.name} cannot find out who published what it hears: ${reason}`);
      context.log.warn("who published events could not be found out", { subscription: context.name, attempt, reason });
    }
    await context.timers.sleep(backoffMs(attempt), stop);
  }
  return "stopped";
}

async function showAhead(
  context: HandlingContext,
  ahead: NonNullable<DurableOptions["ahead"]>,
  read: readonly (Decoded | undefined)[],
): Promise<void> {
  const events: BusEvent[] = [];
  for (const decoded of read) {
    if (!decoded?.ok || decoded.subject?.delivery === "conflated") continue;
    if (!context.recent.has(recentIdOf(decoded.event))) events.push(decoded.event);
  }
  // One alone is handed over at once anyway.
  if (events.length < 2) return;
  try {
    await ahead(events);
  } catch (thrown) {
    const error = messageOf(thrown);
    context.log.warn("what lay there together could not be handled together", { subscription: context.name, error });
  }
}
