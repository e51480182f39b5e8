// Events that foreign programs publish, before the engine takes them: what is about unknown things is refused, and each is counted.
//
//  1. Only what no service of ours published is judged here. What came over gRPC has the name of its token as its source; what came straight over NATS says
//     nothing that could be believed, and its source is the login that may publish the subject.
//  2. A number counts when the engine has what it numbers: a crash in between brings the event again. A refused one counts with its refusal.
//  3. A bust is kept in the store before its fill is looked for, and a fill is in the journal before busts of it are: whichever comes first, the second
//     one finds the other. What a bust that waited says wrongly of its fill is found out then.
//  4. What nobody knows may have been set a moment ago: the reference data is read again before anything is refused.
//  5. What another source may say is dropped and told together (not-yours.ts): it comes with every second, and nobody could deal with each.
//  6. An order belongs to the source that asked for it, and nobody else reports on it: what another one says moves nothing, and is told once a minute
//     (services/shared/touched-orders.ts).
//  7. An event id is its content. Over gRPC the door refuses another one; over NATS it is refused here, and a fill's fund waits (`foreign.held`).
//  8. A fill under an id that another source used first is refused and may be the true one: it is listed, and its fund waits in the same way.
import { alarms } from "../../../contracts/src/codes/alarms.ts";
import { format } from "../../../contracts/src/instant.ts";
import { idText } from "../../../contracts/src/records/fields.ts";
import type { BookedFill, Fill, FillBusted } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { BustStanding } from "../../../core/foreign/judge-bust.ts";
import {
  type EventStanding,
  foreignKindOf,
  type KnownReference,
  numberOf,
  refusalOf,
} from "../../../core/foreign/judge-event.ts";
import { otherSourceOf } from "../../../core/foreign/judge-fill-id.ts";
import type { Refusal } from "../../../core/foreign/refusal.ts";
import type { BusEvent, Handler } from "../../../ports/bus.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { bustStanding } from "../../shared/bust-standing.ts";
import {
  foreignSourceOf,
  isForeign,
  isGathered,
  isNotYours,
  judgeInUnit,
  numberedBy,
  raiseRefused,
  refusedEvent,
  refusedReuse,
  refusedSpeaker,
} from "../../shared/foreign-intake.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { TouchedOrders } from "../../shared/touched-orders.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import type { OrderOwnership } from "../ownership/order-ownership.ts";
import type { ReferenceWatch } from "../reference-watch.ts";
import { journaledFill } from "../take-fills.ts";
import type { NotYours } from "./not-yours.ts";
import type { SpokenFor } from "./spoken-for.ts";

interface ForeignEventsOptions {
  readonly ports: Pick<ServicePorts, "store" | "riskStore" | "clock" | "random" | "timers" | "log" | "sha256">;
  /** An event was counted that was not simply the next. */
  readonly counted: () => void;
  readonly notYours: NotYours;
  readonly spokenFor: Pick<SpokenFor, "heard">;
  readonly reference: Pick<ReferenceWatch, "fund" | "currencyOf" | "refresh">;
  readonly ownership: OrderOwnership;
  readonly touched: TouchedOrders;
}

/** Where it is remembered what ids said. */
const inbox = "riskengine.foreign-contents";

const isBust = ({ subject }: Pick<BusEvent, "subject">): boolean => subject === subjects.fillsBusted.name;

export interface ForeignEvents {
  /** The handler, behind the judgement of what is foreign. */
  judged(handler: Handler): Handler;
}

export function createForeignEvents(options: ForeignEventsOptions): ForeignEvents {
  const { ports, reference, counted, notYours, ownership, touched, spokenFor } = options;
  const { riskStore, clock, random } = ports;

  /** As it is known now, for the whole of one event. */
  function knownNow({ payload }: BusEvent): KnownReference {
    const { fund_id: fundId = "", symbol = "" } = payload as { readonly fund_id?: string; readonly symbol?: string };
    const [fund, currency] = [reference.fund(fundId), reference.currencyOf(symbol)];
    return { fund: () => fund, currencyOf: () => currency };
  }

  /** What it is judged by, beside the reference data. */
  async function standingOf(event: BusEvent, source: string): Promise<EventStanding> {
    const order = await ownership.standingOf(event, source);
    if (foreignKindOf(event.subject) !== "fills") return { order };
    const { fill_id: fillId } = event.payload as Fill | FillBusted;
    const booked = await journaledFill(riskStore, fillId);
    if (!isBust(event)) return { order, booked };
    return { order, bust: await lookAt(source, event.payload as FillBusted, booked, numberedBy(event)) };
  }

  const lookAt = (
    source: string,
    bust: FillBusted,
    booked: BookedFill | undefined,
    login?: string,
  ): Promise<BustStanding> =>
    transactToKnownEnd(ports, "risk.foreign-look", (unit) => bustStanding(unit, source, bust, booked, login));

  /** Invariant 3. Of one whose fill nobody has published yet somebody should hear: its id may be wrong. */
  async function keepBust(source: string, bust: FillBusted, { bust: standing }: EventStanding): Promise<void> {
    await transactToKnownEnd(ports, "risk.foreign", async (unit) => {
      const at = clock.now();
      const isNew = await unit.foreign.keepBust(source, bust, at);
      if (!isNew || standing?.booked !== undefined) return;
      const { bust_id, fill_id, fund_id } = bust;
      const code = "BUST_WITHOUT_FILL";
      const sentence = `${source} busted fill ${fill_id} of ${fund_id} (bust ${bust_id}), which the risk engine has not heard of; it is taken back when it comes.`;
      const facts = { about: `${source} ${bust_id}`, source, bust_id, fill_id, fund_id };
      const level = alarms[code].level;
      const raised = { code, level, service: "riskengine", sentence: line(sentence, 2_000), facts, at: format(at) };
      await unit.events.publish(subjects.alarmRaised, raised);
    });
  }

  /** What busted the fill before it came. */
  async function carryOutBusts(
    event: BusEvent,
    source: string,
    handler: Handler,
    known: KnownReference,
  ): Promise<void> {
    const { fill_id: fillId } = event.payload as Fill;
    const waited = await transactToKnownEnd(ports, "risk.foreign-look", (unit) => unit.foreign.bustsOf(source, fillId));
    if (waited.length === 0) return;
    const booked = await journaledFill(riskStore, fillId);
    for (const bust of waited) {
      const busting: BusEvent = { ...event, subject: subjects.fillsBusted.name, payload: bust };
      const standing = await lookAt(source, bust, booked);
      const refusal = refusalOf({ ...busting, source }, known, { bust: { ...standing, others: [] } });
      if (refusal === undefined) await handler(busting);
      else await refuseLate(busting, source, refusal);
    }
  }

  async function refuseLate(busting: BusEvent, source: string, refusal: Refusal): Promise<void> {
    const { bust_id } = busting.payload as FillBusted;
    await transactToKnownEnd(ports, "risk.foreign", (unit) =>
      raiseRefused(
        unit,
        { event: { ...busting, id: bust_id }, source, service: "riskengine", at: clock.now() },
        refusal,
      ),
    );
  }

  async function judge(event: BusEvent, handler: Handler): Promise<void> {
    const kind = foreignKindOf(event.subject);
    if (kind === undefined) return handler(event);
    const source = foreignSourceOf(event);
    spokenFor.heard(event);
    const ofAnother = refusedSpeaker(event);
    if (ofAnother !== undefined) return refuseUncounted(event, source, ofAnother);
    const reused = await refusedReuse(ports, inbox, event);
    if (reused !== undefined) return refuseReused(event, source, reused);
    let standing = await standingOf(event, source);
    let known = knownNow(event);
    const said = { ...event, source, numberedBy: numberedBy(event) };
    if (refusalOf(said, known, standing) !== undefined) {
      await reference.refresh();
      known = knownNow(event);
    }
    const mayEnter = refusalOf(said, known, standing) === undefined;
    // Two may report on it at once: whose it is was decided in the store.
    if (mayEnter && (await ownership.claim(event, standing.order))) standing = await standingOf(event, source);
    if (refusalOf(said, known, standing) === undefined) {
      if (isBust(event)) await keepBust(source, event.payload as FillBusted, standing);
      await handler(event);
      if (event.subject === subjects.fillsCreated.name) await carryOutBusts(event, source, handler, known);
    }
    const intake = { event, source, numberedBy: said.numberedBy, service: "riskengine", known, standing };
    const { refusal, numbering } = await transactToKnownEnd(ports, "risk.foreign", async (unit) => {
      const judged = await judgeInUnit(unit, { ...intake, at: clock.now(), gapId: random.uuid() });
      const isTaken = otherSourceOf(standing.booked, said) !== undefined;
      if (judged.refusal?.code === "EVENT_FILL_CHANGED" && isTaken) await hold(unit, event, source, judged.refusal);
      return judged;
    });
    if (numbering !== "NEXT") counted();
    if (refusal === undefined) return;
    if (isNotYours(refusal)) {
      notYours.heard({ source, about: `values of ${numberOf(event).fundId}`, id: event.id, ...refusal });
      return;
    }
    if (isGathered(refusal)) touched.refused(source, (event.payload as Fill).order_id);
    throw refusedEvent(refusal);
  }

  /** Whoever may not publish it has used up no number with it. */
  async function refuseUncounted(event: BusEvent, source: string, refusal: Refusal): Promise<void> {
    await transactToKnownEnd(ports, "risk.foreign", (unit) =>
      raiseRefused(unit, { event, source, service: "riskengine", at: clock.now() }, refusal),
    );
    throw refusedEvent(refusal);
  }

  /** Of a fill that was refused and may be true: what comes behind it in its fund waits. */
  async function hold({ events }: UnitOfWork, event: BusEvent, source: string, refusal: Refusal): Promise<void> {
    const { fundId, sequence } = numberOf(event);
    await events.publish(subjects.foreignHeld, {
      source,
      event_id: idText.safeParse(event.id).success ? event.id : "unreadable",
      subject: event.subject,
      kind: "fills",
      fund_id: fundId,
      ...(sequence !== undefined && { sequence }),
      number_used: sequence !== undefined,
      code: refusal.code,
      reason: line(refusal.sentence, 2_000),
      payload: JSON.stringify(event.payload).replaceAll("\0", "").slice(0, 4_000),
      at: format(clock.now()),
    });
  }

  async function refuseReused(event: BusEvent, source: string, reused: Refusal): Promise<void> {
    let known = knownNow(event);
    const { fundId } = numberOf(event);
    if (known.fund(fundId) === undefined) {
      await reference.refresh();
      known = knownNow(event);
    }
    const isHeld = foreignKindOf(event.subject) === "fills" && known.fund(fundId) !== undefined;
    await transactToKnownEnd(ports, "risk.foreign", async (unit) => {
      const about = { event, source, numberedBy: numberedBy(event), service: "riskengine", known };
      const intake = { ...about, reused, at: clock.now(), gapId: random.uuid() };
      await judgeInUnit(unit, intake);
      if (isHeld) await hold(unit, event, source, reused);
    });
    counted();
    throw refusedEvent(reused);
  }

  return {
    judged: (handler) => async (event) => {
      return isForeign(event) ? judge(event, handler) : handler(event);
    },
  };
}
