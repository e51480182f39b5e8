// Fills become entries of the ledger, each once, and the entry moves what the paper treasury holds in the same transaction. Only paper funds are
// booked here; the books of a live fund are its own treasury's.
//
//  1. The entry's id is the fill's, so the same fill is one entry for good, whoever publishes it again and whenever.
//  2. The order in which fills arrive makes no difference to what is held.
//  3. A store in trouble is never a reason to put a fill aside, also not when only the answer to a commit is lost: the handler is safe to repeat.
//  4. A fill that cannot be booked is kept with its fund and tried until it can (waiting-fills.ts): it is never parked and never dropped. The
//     subscription carries money, so whatever else fails, or cannot be read, holds its fund (ports/bus.ts, promise 5).
//  5. A fill belongs to the books of the mode that its fund had when it traded.
//  6. Of a foreign program only what is about a known fund, strategy and instrument, and about an order of its own, is taken; the rest is put aside, and its fund goes on.
//  7. Under an event id that said something else before nothing is booked; a fill that was refused and may be true holds its fund (`foreign.held`).
//  8. What a foreign program published it may bust, before or after its fill is booked (book-busts.ts).
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { parse } from "../../contracts/src/instant.ts";
import type { RefusedForeignEvent } from "../../contracts/src/records/foreign.ts";
import type { BookedFill, Fill, FillBusted } from "../../contracts/src/records/order.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type KnownReference, refusalOf } from "../../core/foreign/judge-event.ts";
import { fillEntry } from "../../core/ledger/ledger.ts";
import type { BusEvent, Subscription } from "../../ports/bus.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ReferenceReader, ReferenceView } from "../reference/reference-view.ts";
import {
  foreignSourceOf,
  heldFill,
  isForeign,
  numberedBy,
  refusedEvent,
  refusedReuse,
  refusedSpeaker,
} from "../shared/foreign-intake.ts";
import { fundLane } from "../shared/fund-lane.ts";
import { orderIdOf, orderStanding, ownersOf } from "../shared/order-owners.ts";
import type { ServicePorts } from "../shared/service.ts";
import { fillEntryId, ownFillEntryId, takeBackIfBusted, takeBust } from "./book-busts.ts";
import { bookEntry, treasuryActor } from "./book-entry.ts";
import { isTrouble, type WaitingFills } from "./waiting-fills.ts";

/** The cursor's name. */
export const fillsSubscription = "treasury.fills";

type FillPorts = Pick<ServicePorts, "bus" | "store" | "riskStore" | "clock" | "sha256">;

export function bookFills(ports: FillPorts, reader: ReferenceReader, waiting: WaitingFills): Promise<Subscription> {
  const { fillsCreated, fillsBusted, foreignHeld } = subjects;
  const heard = { name: fillsSubscription, subjects: [fillsCreated.name, fillsBusted.name, foreignHeld.name] };
  const options = { ...heard, parks: false, lane: fundLane, proved: true };
  return ports.bus.subscribe(options, async (event) => {
    if (event.subject === foreignHeld.name) return hearHeld(event);
    if (isForeign(event)) await mustBeKnown(ports, reader, event);
    const reused = await refusedReuse(ports, "treasury.foreign-contents", event);
    if (reused !== undefined) throw refusedEvent(reused);
    if (event.subject === fillsBusted.name) return hearBust(ports, event);
    const source = isForeign(event) ? { published_by: foreignSourceOf(event) } : {};
    const fill: BookedFill = { ...(event.payload as Fill), ...source };
    if (waiting.has(fill.fund_id)) return waiting.keep(fill, "It waits behind another one.");
    // A fund or an instrument that is not known yet may have been set a moment ago.
    const view = knows(reader.current(), fill) ? reader.current() : await reader.refresh();
    try {
      const booking = ports.store.transact("treasury.fill", (unit) => bookFill(unit, view, fill));
      await toKnownEnd(`fill ${fill.fill_id}`, booking);
    } catch (thrown) {
      if (isTrouble(thrown)) throw thrown;
      await waiting.keep(fill, messageOf(thrown));
    }
  });
}

/** A fill that was refused and may be true: what comes behind it waits. Only our own services say so. */
async function hearHeld(event: BusEvent): Promise<void> {
  if (!isForeign(event)) throw heldFill(event.payload as RefusedForeignEvent);
}

/** A bust of our own order management would be ours to judge; there is none. */
async function hearBust(ports: FillPorts, event: BusEvent): Promise<void> {
  if (!isForeign(event)) return;
  const bust = event.payload as FillBusted;
  const taking = ports.store.transact("treasury.bust", (unit) =>
    takeBust(unit, { source: foreignSourceOf(event), login: numberedBy(event) }, bust, ports.clock.now()),
  );
  const refusal = await toKnownEnd(`bust ${bust.bust_id}`, taking);
  if (refusal !== undefined) throw refusedEvent(refusal);
}

/** Refuses what is about unknown things, or about an order of another source, as the risk engine does: nothing of the fund waits behind it. */
async function mustBeKnown(ports: FillPorts, reader: ReferenceReader, heard: BusEvent): Promise<void> {
  const ofAnother = refusedSpeaker(heard);
  if (ofAnother !== undefined) throw refusedEvent(ofAnother);
  const event = { ...heard, source: foreignSourceOf(heard) };
  const orderId = orderIdOf(heard);
  const owners = orderId === undefined ? undefined : (await ownersOf(ports, [orderId]))(orderId);
  const standing = owners === undefined ? {} : { order: orderStanding(heard, owners) };
  if (refusalOf(event, knownIn(reader.current()), standing) === undefined) return;
  const refusal = refusalOf(event, knownIn(await reader.refresh()), standing);
  if (refusal !== undefined) throw refusedEvent(refusal);
}

function knownIn({ funds, instruments }: ReferenceView): KnownReference {
  return { fund: (fundId) => funds.get(fundId), currencyOf: (symbol) => instruments.get(symbol)?.currency };
}

/** Books it in that unit; throws when it cannot be booked. */
export async function bookFill(unit: UnitOfWork, view: ReferenceView, fill: BookedFill): Promise<void> {
  const fund = view.funds.get(fill.fund_id);
  const instrument = view.instruments.get(fill.symbol);
  if (fund === undefined || instrument === undefined) {
    // What is booked may be of a symbol that is called otherwise by now, and comes again.
    if ((await unit.ledger.entry(fillEntryId(fill.fill_id))) !== undefined) return;
    throw unknown(fill);
  }
  if (fund.mode !== "PAPER" && !(await wasPaper(unit, fill))) return;
  const isForeignFill = fill.published_by !== undefined;
  if (isForeignFill) await unit.ledger.lockFund(fill.fund_id);
  const bookAs = (entryId: string) =>
    bookEntry(unit, fillEntry(fill, instrument, { entryId, bookedBy: treasuryActor }));
  const isNew = await bookAs(fillEntryId(fill.fill_id));
  if (!isForeignFill) {
    // Of ours under an id that a foreign program used first: both are in the books.
    if (!isNew && (await unit.foreign.fill(fill.fill_id)) !== undefined) await bookAs(ownFillEntryId(fill.fill_id));
    return;
  }
  if (!isNew) return;
  await unit.foreign.keepFill(fill, parse(fill.filled_at));
  await takeBackIfBusted(unit, fill);
}

/** Whether the fund's books were ours when it traded: a change of mode does not drop what traded before it. */
async function wasPaper(unit: UnitOfWork, fill: Fill): Promise<boolean> {
  const then = await unit.reference.asOf("funds", parse(fill.filled_at));
  const funds = (then?.content ?? []) as readonly FundReference[];
  return funds.some(({ fund_id, mode }) => fund_id === fill.fund_id && mode === "PAPER");
}

/** The handler is safe to repeat. */
async function toKnownEnd<Value>(what: string, transacted: Promise<Value>): Promise<Value> {
  try {
    return await transacted;
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== "STORE_COMMIT_UNKNOWN") throw thrown;
    const sentence = `Whether the ${what} is booked is not known; it is booked again, which does nothing if it is.`;
    throw new Fault("STORE_UNAVAILABLE", sentence, { retry: "later", cause: thrown });
  }
}

function knows(view: ReferenceView, fill: Fill): boolean {
  return view.funds.has(fill.fund_id) && view.instruments.has(fill.symbol);
}

function unknown(fill: Fill): Fault {
  const sentence = `The fill ${fill.fill_id} is of a fund or an instrument that the reference data does not have.`;
  return new Fault("NOT_FOUND", sentence, {
    retry: "later",
    facts: { fund_id: fill.fund_id, symbol: fill.symbol },
  });
}
