// Events that foreign programs publish, before the engine takes them: what is about unknown things is refused, and each is counted.
//
//  1. Only what no service of ours published is judged here. What came over gRPC has the name of its token as its source; what came straight over NATS says
//     nothing that could be believed, and its source is the login that may publish the subject.
//  2. A number counts when the engine has what it numbers: a crash in between brings the event again. A refused one counts with its refusal.
//  3. What nobody knows may have been set a moment ago: the reference data is read again before anything is refused.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { type Fill, fill as fillRecord } from "../../../contracts/src/records/order.ts";
import { foreignKindOf, type KnownReference, natsSourceOf, refusalOf } from "../../../core/foreign/judge-event.ts";
import type { BusEvent, Handler } from "../../../ports/bus.ts";
import { isForeign, judgeInUnit, refusedEvent } from "../../shared/foreign-intake.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import type { ReferenceWatch } from "../reference-watch.ts";

export interface ForeignEventsOptions {
  readonly ports: Pick<ServicePorts, "store" | "riskStore" | "clock" | "random" | "timers" | "log">;
  /** An event was counted that was not simply the next. */
  readonly counted: () => void;
  readonly reference: Pick<ReferenceWatch, "fund" | "knowsSymbol" | "refresh">;
}

/** Of an event straight from NATS (adapters/nats/wire.ts). */
const unnamed = "foreign";
const decoder = new TextDecoder();

export interface ForeignEvents {
  /** The handler, behind the judgement of what is foreign. */
  judged(handler: Handler): Handler;
}

export function createForeignEvents({ ports, reference, counted }: ForeignEventsOptions): ForeignEvents {
  const { riskStore, clock, random } = ports;

  /** As it is known now, for the whole of one event. */
  function knownNow({ payload }: BusEvent): KnownReference {
    const { fund_id: fundId = "", symbol = "" } = payload as { readonly fund_id?: string; readonly symbol?: string };
    const [fund, knowsSymbol] = [reference.fund(fundId), reference.knowsSymbol(symbol)];
    return { fund: () => fund, knowsSymbol: () => knowsSymbol };
  }

  async function bookedAs({ payload }: BusEvent): Promise<Fill | undefined> {
    const bytes = await riskStore.fillEntry((payload as Fill).fill_id);
    return bytes === undefined ? undefined : fillRecord.parse(parseJson(decoder.decode(bytes)));
  }

  async function judge(event: BusEvent, handler: Handler): Promise<void> {
    const kind = foreignKindOf(event.subject);
    if (kind === undefined) return handler(event);
    const booked = kind === "fills" ? await bookedAs(event) : undefined;
    let known = knownNow(event);
    if (refusalOf(event, known, booked) !== undefined) {
      await reference.refresh();
      known = knownNow(event);
    }
    if (refusalOf(event, known, booked) === undefined) await handler(event);
    const source = event.source === unnamed ? natsSourceOf(kind) : event.source;
    const intake = { event, source, service: "riskengine", known, booked };
    const judged = await transactToKnownEnd(ports, "risk.foreign", (unit) =>
      judgeInUnit(unit, { ...intake, at: clock.now(), gapId: random.uuid() }),
    );
    if (judged.numbering !== "NEXT") counted();
    if (judged.refusal !== undefined) throw refusedEvent(judged.refusal);
  }

  return {
    judged: (handler) => async (event) => {
      return isForeign(event) ? judge(event, handler) : handler(event);
    },
  };
}
