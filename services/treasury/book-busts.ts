// A busted fill is taken back in the ledger by an entry of its own: what the fill posted, the other way round. Nothing is changed or removed.
//
//  1. The entry's id follows from the fill's: a fill is taken back once, whoever repeats what.
//  2. A bust is kept when it comes. When its fill is booked, before or after it, both stand in the ledger, and together they move nothing.
//  3. What touches both takes the fund's lock first, so that a fill and its bust never miss each other.
//  4. Only the publisher of a fill takes it back; fills of our own order management have none.
import type { Instant } from "../../contracts/src/instant.ts";
import type { BookedFill, FillBusted } from "../../contracts/src/records/order.ts";
import { type BustStanding, refusedBust } from "../../core/foreign/judge-bust.ts";
import type { Refusal } from "../../core/foreign/refusal.ts";
import { bustEntry } from "../../core/ledger/ledger.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { type BookedAs, bustStanding } from "../shared/bust-standing.ts";
import { bookEntry, treasuryActor } from "./book-entry.ts";

export function fillEntryId(fillId: string): string {
  return `fill:${fillId}`;
}

/** Of a fill of ours whose id a foreign program used first. */
export function ownFillEntryId(fillId: string): string {
  return `own-fill:${fillId}`;
}

function bustEntryId(fillId: string): string {
  return `bust:${fillId}`;
}

/** Keeps a bust, and carries it out when its fill is booked; or says why it is refused. */
export async function takeBust(
  unit: UnitOfWork,
  by: Pick<BustStanding, "source" | "login">,
  bust: FillBusted,
  at: Instant,
): Promise<Refusal | undefined> {
  await unit.ledger.lockFund(bust.fund_id);
  const booked = await bookedOf(unit, bust.fill_id);
  const refusal = refusedBust(bust, await bustStanding(unit, by.source, bust, booked, by.login));
  if (refusal !== undefined) return refusal;
  await unit.foreign.keepBust(by.source, bust, at);
  if (booked !== undefined) await takeBack(unit, bust);
  return undefined;
}

/** After a foreign fill was booked, in the same unit: what busted it before it came. */
export async function takeBackIfBusted(unit: UnitOfWork, fill: BookedFill): Promise<void> {
  const { fill_id: fillId, published_by: source } = fill;
  if (source === undefined) return;
  for (const bust of await unit.foreign.bustsOf(source, fillId)) {
    const standing = await bustStanding(unit, source, bust, fill);
    if (refusedBust(bust, { ...standing, others: [] }) === undefined) await takeBack(unit, bust);
  }
}

async function takeBack(unit: UnitOfWork, bust: FillBusted): Promise<void> {
  const traded = await unit.ledger.entry(fillEntryId(bust.fill_id));
  // The books of a live fund are its own treasury's.
  if (traded === undefined) return;
  await bookEntry(unit, bustEntry(traded, bust, { entryId: bustEntryId(bust.fill_id), bookedBy: treasuryActor }));
}

/** With its publisher, where it has one; of a fill that is not in the ledger nothing is known. */
async function bookedOf(unit: UnitOfWork, fillId: string): Promise<BookedAs> {
  const foreign = await unit.foreign.fill(fillId);
  if (foreign !== undefined) return foreign;
  return (await unit.ledger.entry(fillEntryId(fillId))) === undefined ? undefined : "ours";
}
