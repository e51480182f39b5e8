// Books one entry of the ledger in a unit of work: checked to be in balance, once by its id, and reported when no fill tells of it.
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { imbalanceOf, movesOf } from "../../core/ledger/ledger.ts";
import type { Sha256 } from "../../ports/hashing.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { canonicalText, hexOf } from "../reference/reference-records.ts";

/** How records name who books. */
export const treasuryActor = "service:treasury";

/** False when it was booked before. */
export async function bookEntry(unit: UnitOfWork, entry: LedgerEntry): Promise<boolean> {
  const wrong = imbalanceOf(entry.postings);
  if (wrong !== undefined) {
    throw new Defect(`the entry ${entry.entryId} is out of balance by ${decimal.format(wrong.sum)} ${wrong.currency}`);
  }
  if (!(await unit.ledger.book(entry, movesOf(entry)))) return false;
  const { kind } = entry;
  // Fills and busts are reported by order management, each as an event of its own; that dividends are due, by their corporate action.
  if (kind === "FILL" || kind === "BUST" || kind === "DIVIDEND_DUE") return true;
  const moved = entry.postings.find(({ account }) => account === "cash");
  if (moved === undefined) throw new Defect(`the entry ${entry.entryId} moves no cash`);
  await unit.events.publish(subjects.ledgerBooked, {
    entry_id: entry.entryId,
    fund_id: entry.fundId,
    kind,
    currency: moved.currency,
    amount: decimal.format(moved.amount),
    ...(entry.symbol !== undefined && { symbol: entry.symbol }),
    ...(entry.strategyId !== undefined && { strategy_id: entry.strategyId }),
    booked_by: entry.bookedBy,
    reason: entry.reason,
    at: format(entry.at),
  });
  return true;
}

/** An id that follows from what it is for, whatever letters that has: the same parts are the same entry. */
export function entryIdOf(
  sha256: Sha256,
  kind: "capital" | "flow" | "borrow" | "dividend" | "dividend-due",
  ...parts: readonly string[]
): string {
  return `${kind}-${hexOf(sha256(canonicalText(parts)))}`;
}
