// ForeignEvents: the way in for order events, fills, values and prices of programs outside the platform that have no NATS.
//
//  1. An event is answered when it is durable in the outbox, with the name of the token as its source.
//  2. Events of one program become durable in the order in which they came, those that wait together in one transaction.
//  3. The same id with the same content is one event, as long as the store remembers it; the second one is answered `repeated`. With other content it is
//     refused.
//  4. What cannot be read uses up neither its id nor its number and is answered with a code and a sentence; when it is about a fund it is told as well
//     (store-events.ts). When the platform is in trouble the call fails instead, and is made again.
//  5. Prices are not stored: they go out conflated, newest per symbol, under the name of the token.
//  6. What can be read and is wrong is answered with what is wrong, and is durable all the same, once under its id: the risk engine refuses it, so that it
//     is counted, listed and alarmed like one from NATS. The same event is taken when it is right by then, because its symbol was set meanwhile.
//  7. What is about a fund that the token does not name is answered EVENT_FUND_NOT_YOURS, whatever else it says: it uses up nothing and touches nothing there.
import { foreignPublisherOf } from "../../../contracts/src/foreign-events.ts";
import type { ForeignEvent, ForeignReceipt } from "../../../contracts/src/generated/svc/v1/foreign.ts";
import type { Mark } from "../../../contracts/src/records/market.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { RpcCall, RpcService } from "../../../ports/rpc.ts";
import type { FollowedSources } from "../../shared/price-sources.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { type DoorJudge, judgeAtDoor } from "./judge-at-door.ts";
import { type Read, readEvent } from "./read-event.ts";
import { type Stored, storeInOrder } from "./store-events.ts";

type ForeignPorts = Pick<
  ServicePorts,
  "store" | "bus" | "clock" | "metrics" | "referenceData" | "riskStore" | "sha256"
>;

/** `sources` knows whose prices count. */
export function foreignEvents(ports: ForeignPorts, sources: Pick<FollowedSources, "ask" | "look">): RpcService {
  const publish = publisher(ports, sources);
  return {
    name: "ForeignEvents",
    handlers: { Publish: publish, PublishOrders: publish, PublishValues: publish, PublishPrices: publish },
  };
}

function publisher(
  ports: ForeignPorts,
  sources: Pick<FollowedSources, "ask" | "look">,
): (event: ForeignEvent, call: RpcCall) => Promise<ForeignReceipt> {
  const judge = judgeAtDoor(ports, sources);
  const store = storeInOrder(ports, judge);
  const counted = ports.metrics.counter(
    "portcullis_foreign_events_total",
    "Events of programs outside, by what became of them.",
    ["subject", "outcome"],
  );

  function become(read: Read, isDry: boolean): Stored | Promise<Stored> {
    if ("refused" in read) return { repeated: false, refusal: read.refused, numberUsed: false };
    if ("taken" in read && read.taken.subject.name === subjects.marketMarks.name) {
      return sendPrice(ports, judge, read.taken.payload as Mark, isDry);
    }
    return store({ event: read, isDry });
  }

  return async (event, call) => {
    const { id, subject, dry_run: isDry } = event;
    const { repeated, refusal, numberUsed } = await become(readEvent(event, call, ports.clock.now()), isDry);
    const outcome = refusal !== undefined ? "refused" : isDry ? "dry run" : repeated ? "repeated" : "accepted";
    counted.add(1, { subject: foreignPublisherOf(subject) === undefined ? "" : subject, outcome });
    const { code, reason } = refusal ?? { code: "", reason: "" };
    return { id, accepted: refusal === undefined, repeated, code, reason, number_used: numberUsed };
  };
}

async function sendPrice({ bus }: ForeignPorts, judge: DoorJudge, mark: Mark, isDry: boolean): Promise<Stored> {
  const refusal = await judge.price(mark);
  // Of one that is refused, too: the risk engine alarms.
  if (!isDry) bus.broadcast(subjects.marketMarks, mark);
  return {
    repeated: false,
    refusal: refusal && { code: refusal.code, reason: refusal.sentence },
    numberUsed: false,
  };
}
