// ForeignEvents: the way in for order events, fills, values and prices of programs outside the platform that have no NATS.
//
//  1. An event is answered when it is durable in the outbox, with the name of the token as its source.
//  2. Events of one program become durable in the order in which they came, those that wait together in one transaction.
//  3. The same id twice is one event, as long as the store remembers it; the second one is answered `repeated`.
//  4. What cannot be read changes nothing and is answered with a code and a sentence; when the platform is in trouble the call fails instead, and is made again.
//  5. Prices are not stored: they go out conflated, newest per symbol, under the name of the token.
//  6. What can be read and is wrong is answered with what is wrong, and is durable all the same, once under its id: the risk engine refuses it, so that it
//     is counted, listed and alarmed like one from NATS. The same id is taken when it is right by then, because its symbol was set meanwhile.
import { mayCall } from "../../../contracts/src/authority.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { foreignPublisherOf } from "../../../contracts/src/foreign-events.ts";
import type { ForeignEvent, ForeignReceipt } from "../../../contracts/src/generated/svc/v1/foreign.ts";
import { parse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { idText } from "../../../contracts/src/records/fields.ts";
import { isPossiblePrice, type Mark } from "../../../contracts/src/records/market.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import { subjectByName, subjects } from "../../../contracts/src/subjects.ts";
import { impossiblePrice } from "../../../core/foreign/judge-event.ts";
import { isAhead } from "../../../core/state/dated.ts";
import type { RpcCall, RpcService } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { type JudgeAtDoor, judgeAtDoor } from "./judge-at-door.ts";

/** The inbox in which ids of foreign events are remembered. */
const inboxName = "operations.foreign-events";
/** Those of refused ones. */
const refusedInboxName = "operations.foreign-refused";
/** Events of one transaction, and events of all programs that may wait for theirs. */
const batchMax = 100;
export const waitingMax = 1_024;
/** One event must be one that every transport can carry. */
export const payloadBytesMax = 1_000_000;
const encoder = new TextEncoder();

/** An event as it came, with what it may be. */
interface Taken {
  readonly source: string;
  readonly id: string;
  readonly subject: Subject<unknown>;
  readonly payload: unknown;
}

interface Waiting {
  readonly taken: Taken;
  readonly done: (stored: Stored) => void;
  readonly failed: (thrown: unknown) => void;
}

/** What became of an event that could be read. */
interface Stored {
  /** It was durable before. */
  readonly repeated: boolean;
  readonly refusal: Refusal | undefined;
}

type Refusal = Pick<ForeignReceipt, "code" | "reason">;

type ForeignPorts = Pick<ServicePorts, "store" | "bus" | "clock" | "metrics" | "referenceData" | "riskStore">;

export function foreignEvents(ports: ForeignPorts): RpcService {
  const publish = publisher(ports);
  return {
    name: "ForeignEvents",
    handlers: { Publish: publish, PublishOrders: publish, PublishValues: publish, PublishPrices: publish },
  };
}

function publisher(ports: ForeignPorts): (event: ForeignEvent, call: RpcCall) => Promise<ForeignReceipt> {
  const store = inOrder(ports);
  const counted = ports.metrics.counter(
    "portcullis_foreign_events_total",
    "Events of programs outside, by what became of them.",
    ["subject", "outcome"],
  );
  return async (event, call) => {
    const taken = take(event, call, ports);
    if ("code" in taken) {
      counted.add(1, {
        subject: foreignPublisherOf(event.subject) === undefined ? "" : event.subject,
        outcome: "refused",
      });
      return { id: event.id, accepted: false, repeated: false, ...taken };
    }
    const { repeated, refusal } = await send(taken, ports, store);
    const outcome = refusal !== undefined ? "refused" : repeated ? "repeated" : "accepted";
    counted.add(1, { subject: event.subject, outcome });
    return { id: event.id, accepted: refusal === undefined, repeated, ...(refusal ?? { code: "", reason: "" }) };
  };
}

async function send(taken: Taken, { bus }: ForeignPorts, store: (taken: Taken) => Promise<Stored>): Promise<Stored> {
  if (taken.subject.name !== subjects.marketMarks.name) return store(taken);
  const mark = taken.payload as Mark;
  // Of an impossible one, too: the risk engine alarms.
  bus.broadcast(subjects.marketMarks, { ...mark, source: taken.source });
  const refusal = isPossiblePrice(mark)
    ? undefined
    : refused("EVENT_PRICE_IMPOSSIBLE", impossiblePrice(mark.symbol, mark.price));
  return { repeated: false, refusal };
}

/** What came, if it may come from this caller and can be read. */
function take(event: ForeignEvent, { identity }: RpcCall, { clock }: ForeignPorts): Taken | Refusal {
  const publishes = foreignPublisherOf(event.subject);
  const subject = subjectByName(event.subject);
  if (publishes === undefined || subject === undefined) {
    return refused(
      "BUS_SUBJECT_FOREIGN",
      `No program outside may publish ${quoted(event.subject)}: docs/foreign-systems.md lists what may be.`,
    );
  }
  if (!mayCall(publishes.operation, identity)) {
    return refused("PERMISSION_DENIED", `${event.subject} needs a token that names ${publishes.operation}.`);
  }
  const isPrice = subject.delivery !== "durable";
  if (!isPrice && !idText.safeParse(event.id).success) {
    return refused(
      "INVALID_ARGUMENT",
      "An event needs an id of your own that never repeats: 1 to 128 letters, digits and . _ : @ / -.",
    );
  }
  const read = readPayload(event.payload_json, subject, isPrice ? identity.name : undefined);
  if ("code" in read) return read;
  if (isPrice && isAhead(parse((read.payload as Mark).at), clock.now())) {
    return refused(
      "BUS_PAYLOAD_INVALID",
      `${subject.name} is dated ahead of the platform's clock: ${(read.payload as Mark).at}.`,
    );
  }
  return { source: identity.name, id: event.id, subject, payload: read.payload };
}

function readPayload(
  text: string,
  subject: Subject<unknown>,
  source: string | undefined,
): { readonly payload: unknown } | Refusal {
  // Every character is one byte at least.
  if (text.length > payloadBytesMax || encoder.encode(text).length > payloadBytesMax) {
    return refused("MESSAGE_TOO_LARGE", `The payload is larger than ${payloadBytesMax} bytes; send less in one event.`);
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (thrown) {
    return refused("BUS_PAYLOAD_INVALID", `payload_json is no JSON: ${messageOf(thrown)}.`);
  }
  // A price goes out under the name that was proved, whatever it says.
  const named = source !== undefined && typeof value === "object" && value !== null ? { ...value, source } : value;
  const checked = subject.schema.safeParse(named);
  if (checked.success) return { payload: checked.data };
  const mistakes = checked.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "(whole)"}: ${message}`);
  return refused(
    "BUS_PAYLOAD_INVALID",
    `${subject.name} does not match its schema (docs/events.md): ${mistakes.join("; ")}.`,
  );
}

/** One transaction at a time; whatever came meanwhile is the next one. */
function inOrder(ports: ForeignPorts): (taken: Taken) => Promise<Stored> {
  const judge = judgeAtDoor(ports);
  const waiting: Waiting[] = [];
  let running = false;

  async function drain(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchMax);
      try {
        const batched = batch.map(({ taken }) => taken);
        const refusals = await refusalsOf(judge, batched);
        const fresh = await ports.store.transact("foreign.publish", (unit) => write(unit, batched, refusals));
        for (const [index, { done }] of batch.entries()) {
          done({ repeated: !fresh.has(index), refusal: refusals[index] });
        }
      } catch (thrown) {
        for (const { failed } of batch) failed(thrown);
      }
    }
    running = false;
  }

  return (taken) => {
    if (waiting.length >= waitingMax) {
      const sentence = `${waitingMax} events of programs outside wait to be stored, as many as may: send again what was not answered, under the same ids.`;
      throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
    }
    return new Promise((done, failed) => {
      waiting.push({ taken, done, failed });
      if (!running) void drain();
    });
  };
}

async function refusalsOf(judge: JudgeAtDoor, batch: readonly Taken[]): Promise<readonly (Refusal | undefined)[]> {
  const judged = await judge(batch.map(({ subject, payload }) => ({ subject: subject.name, payload })));
  return judged.map((refusal) => refusal && refused(refusal.code, refusal.sentence));
}

/** The places in the batch of those that were not known. */
async function write(
  unit: UnitOfWork,
  batch: readonly Taken[],
  refusals: readonly (Refusal | undefined)[],
): Promise<ReadonlySet<number>> {
  const keyOf = ({ source, id }: Taken): string => `${source} ${id}`;
  const inboxOf = (index: number): string => (refusals[index] === undefined ? inboxName : refusedInboxName);
  const fresh = new Set<number>();
  const left = new Map<string, Set<string>>();
  for (const inbox of [inboxName, refusedInboxName]) {
    const keys = batch.filter((_, index) => inboxOf(index) === inbox).map(keyOf);
    left.set(inbox, new Set(keys.length === 0 ? [] : await unit.handled.firstTimes(inbox, [...new Set(keys)])));
  }
  for (const [index, taken] of batch.entries()) {
    // Of several under one key the first is it.
    if (left.get(inboxOf(index))?.delete(keyOf(taken)) !== true) continue;
    await unit.events.publishFor(taken.source, taken.subject, taken.payload);
    fresh.add(index);
  }
  return fresh;
}

function refused(code: string, reason: string): Refusal {
  return { code, reason };
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));
