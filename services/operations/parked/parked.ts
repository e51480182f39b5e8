// What subscriptions put aside, for the people who deal with it: a list, another try, a decision that it is never handled; and the alarm that stands
// from the first of them until none is left, raised again by every start.
//
//  1. A try is made by the event's own subscription, wherever that runs: here it is asked for, and the answer says what came of it, never more.
//  2. Only the oldest of a key, or of a lane, is tried: what came after it comes after it. Of a lane only the oldest is discarded, too.
//  3. Money that can be read is never discarded: it is tried until it is handled. That a fill was refused (`foreign.held`) is no money: it is never handled.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  DiscardParkedRequest,
  ListParkedRequest,
  ParkedEvent,
  ParkedEvents,
  ParkedRetry,
  RetryParkedRequest,
} from "../../../contracts/src/generated/svc/v1/riskworkers.ts";
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { subjectByName, subjects } from "../../../contracts/src/subjects.ts";
import type { NamedAction } from "../../../ports/identity.ts";
import type { AsideEvent } from "../../../ports/parked-events.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { pollUntil } from "../../shared/waiting.ts";
import { countDefault, countLimit, invalid, pagedLimit } from "../risk-queries-arguments.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { givenReason, missingReason, tellAttempt } from "../worker-verbs.ts";

type ParkedPorts = Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash" | "sha256">;

export interface RunningParked {
  readonly handlers: RpcService["handlers"];
  stop(): Promise<void>;
}

const lookEveryMs = 5_000;
/** Below the gateway's own bound, so that whoever asks gets an answer. */
const waitMsMax = 8_000;
const pollMs = 200;

export function startParked(ports: ParkedPorts): RunningParked {
  const alarms = createWorkerAlarms(ports);
  let alarmed: ReadonlySet<string> = new Set();

  async function look(): Promise<number> {
    const counts = await ports.store.transact("parked.look", (unit) => unit.parked.counts());
    for (const subscription of alarmed) {
      if (!counts.some((one) => one.subscription === subscription)) alarms.clear("EVENT_PARKED", subscription);
    }
    alarmed = new Set(counts.map(({ subscription }) => subscription));
    for (const { subscription, count, since } of counts) {
      const what = count === 1 ? "1 event is" : `${count} events are`;
      const sentence = `${what} put aside by ${subscription}, the first since ${format(since)}: \`ctl operations parked list\`.`;
      await alarms.raise("EVENT_PARKED", subscription, sentence, { subscription, count, since: format(since) });
    }
    return lookEveryMs;
  }

  const loop = startLoop({ ports, what: "the watch over parked events", firstAfterMs: 1_000, run: look });
  return {
    handlers: {
      ListParked: (request: ListParkedRequest) => listParked(ports, request),
      RetryParked: (request: RetryParkedRequest, call: RpcCall) => retryParked(ports, request, call),
      DiscardParked: (request: DiscardParkedRequest, call: RpcCall) => discardParked(ports, request, call),
    },
    stop: () => loop.stop(),
  };
}

async function listParked({ store }: ParkedPorts, request: ListParkedRequest): Promise<ParkedEvents> {
  const { count_max: asked, after_event: mark } = request;
  if (asked > pagedLimit) throw invalid(`count_max is ${asked}: ask for at most ${countLimit}.`);
  const countMax = asked === 0 ? countDefault : asked;
  const after = mark === undefined ? undefined : markOf(mark);
  const { counts, events } = await store.transact("parked.look", async (unit) => {
    if (after !== undefined) await known(unit, after.subscription, after.eventId);
    return { counts: await unit.parked.counts(), events: await unit.parked.list(countMax, after) };
  });
  return { events: events.map(messageOf), total: counts.reduce((sum, { count }) => sum + count, 0) };
}

/** The last row of a page; a subscription has no slash in its name. */
function markOf(text: string): Pick<AsideEvent, "subscription" | "eventId"> {
  const slash = text.indexOf("/");
  if (slash < 1) throw invalid("after names a subscription and an event_id with a slash between them.");
  return { subscription: text.slice(0, slash), eventId: text.slice(slash + 1) };
}

async function retryParked(
  ports: ParkedPorts,
  { subscription, event_id: eventId, reason: given }: RetryParkedRequest,
  { identity, signal }: RpcCall,
): Promise<ParkedRetry | DeniedAnswer> {
  const reason = givenReason(given);
  const askedAt = ports.clock.now();
  const refused = await ports.store.transact("parked.retry", async (unit): Promise<DeniedAnswer | undefined> => {
    const event = await known(unit, subscription, eventId);
    const early = await waitsForAnother(unit, event);
    if (early !== undefined) return early;
    await unit.parked.askRetry(subscription, eventId, { at: askedAt, by: identity.actor, reason });
    const target = `${subscription} ${eventId}`;
    await tellAttempt(unit, identity, { verb: "RetryParked", target, reason, at: askedAt });
    return undefined;
  });
  if (refused !== undefined) return refused;
  return awaitRetry(ports, { subscription, eventId, askedAt }, signal);
}

interface Asked {
  readonly subscription: string;
  readonly eventId: string;
  readonly askedAt: Instant;
}

async function awaitRetry(ports: ParkedPorts, asked: Asked, signal: AbortSignal): Promise<ParkedRetry> {
  const { subscription, eventId, askedAt } = asked;
  const answer = (outcome: ParkedRetry["outcome"], error = ""): ParkedRetry => ({
    subscription,
    event_id: eventId,
    outcome,
    error,
    at: format(ports.clock.now()),
  });
  const look = () => ports.store.transact("parked.look", (unit) => found(unit, subscription, eventId));
  const isOver = (): boolean => millisecondsBetween(askedAt, ports.clock.now()) >= waitMsMax;
  const polling = { timers: ports.timers, firstAfterMs: pollMs, everyMs: pollMs, signal, isOver };
  const outcome = await pollUntil(polling, async () => {
    const event = await look();
    if (event === undefined) return answer("DONE");
    return event.retry === undefined ? answer("FAILED", event.error) : undefined;
  });
  if (outcome !== undefined) return outcome;
  const isWithdrawn = await ports.store.transact("parked.withdraw", (unit) =>
    unit.parked.withdrawRetry(subscription, eventId),
  );
  if (isWithdrawn) return answer("NOT_TAKEN", `Nobody who runs ${subscription} took it within ${waitMsMax / 1_000} s.`);
  const event = await look();
  if (event === undefined) return answer("DONE");
  return event.retry === undefined ? answer("FAILED", event.error) : answer("RUNNING", "It is still being tried.");
}

/** In the list: a reader needs no lock. */
async function found(unit: UnitOfWork, subscription: string, eventId: string): Promise<AsideEvent | undefined> {
  const event = await unit.parked.lock(subscription, eventId);
  return event?.state === "DISCARDED" ? undefined : event;
}

async function known(unit: UnitOfWork, subscription: string, eventId: string): Promise<AsideEvent> {
  const event = await found(unit, subscription, eventId);
  if (event !== undefined) return event;
  const sentence = `Nothing with that id is put aside by ${subscription.slice(0, 200)}: \`ctl operations parked list\` shows what is.`;
  throw new Fault("NOT_FOUND", sentence, { retry: "never" });
}

async function waitsForAnother(unit: UnitOfWork, event: AsideEvent): Promise<DeniedAnswer | undefined> {
  const first = await unit.parked.before(event);
  if (first === undefined) return undefined;
  const sentence = `The event ${first.eventId} of the same ${event.lane ?? "key"} was put aside before it: deal with that one first.`;
  return { denial: { code: "PARKED_BEHIND_ANOTHER", reason: sentence } };
}

async function discardParked(
  ports: ParkedPorts,
  { subscription, event_id: eventId, reason: given, step_up_proof: proof }: DiscardParkedRequest,
  { identity }: RpcCall,
): Promise<ParkedEvent | DeniedAnswer> {
  const reason = givenReason(given);
  if (reason === "") return { denial: missingReason("No event is discarded") };
  const at = ports.clock.now();
  return ports.store.transact("parked.discard", async (unit) => {
    const event = await known(unit, subscription, eventId);
    const state = event.state === "HELD" ? "HELD" : "PARKED";
    if (state === "HELD") {
      const refused = (await waitsForAnother(unit, event)) ?? (canBeRead(event) ? readableMoney(event) : undefined);
      if (refused !== undefined) return refused;
      const named = discardAction(subscription, eventId, reason);
      const denial = await unit.stepUps.redeem({ identity, named, proof: proof === "" ? undefined : proof, at });
      if (denial !== undefined) return { denial };
    }
    await unit.parked.discard(subscription, eventId, { at, by: identity.actor, reason });
    await unit.events.publish(subjects.busDiscarded, {
      subscription,
      event_id: eventId,
      subject: event.subject,
      state,
      error: event.error,
      payload_hash: Buffer.from(ports.sha256(event.payload)).toString("hex"),
      discarded_by: identity.actor,
      reason,
      at: format(at),
    });
    return messageOf(event);
  });
}

/** What a proof of the second factor must name. */
export function discardAction(subscription: string, eventId: string, reason: string): NamedAction {
  return { action: "DiscardParked", parameters: { subscription, event_id: eventId, reason } };
}

function canBeRead({ subject, payload }: AsideEvent): boolean {
  if (subject === subjects.foreignHeld.name) return false;
  try {
    return subjectByName(subject)?.schema.safeParse(parseJson(payload)).success === true;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false;
    throw thrown;
  }
}

function readableMoney({ eventId, error }: AsideEvent): DeniedAnswer {
  const reason = `The event ${eventId} carries money and can be read: it is tried until it is handled, and not discarded. What is in its way: ${error}`;
  return { denial: { code: "PARKED_MONEY", reason } };
}

function messageOf(event: AsideEvent): ParkedEvent {
  return {
    subscription: event.subscription,
    event_id: event.eventId,
    subject: event.subject,
    state: event.state,
    lane: event.lane ?? "",
    error: event.error,
    attempts: event.attempts,
    first_tried_at: format(event.firstTriedAt),
    last_tried_at: format(event.triedAt),
    since: format(event.since),
    published_by: event.source,
    published_at: format(event.at),
  };
}
