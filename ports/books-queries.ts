// What the job that holds the books against each other reads: everybody's books at one moment. Only PostgreSQL answers it, because only there do
// all of them lie in one place.
//
// What every answer promises:
//  1. All of it is one moment: whatever was committed together is seen together or not at all.
//  2. What stands under `since` covers the rows after the marks that were given, so what is asked again and again stays as cheap as what is new.
import type { BooksLook, BooksMarks } from "../contracts/src/records/books.ts";

export interface BooksQueries {
  /** Everybody's books now; sums over what came after `since`, the engine's trades one by one after `journalAfter`; and what became of those orders. */
  look(since: BooksMarks, journalAfter: number | undefined, orderIds: readonly string[]): Promise<BooksLook>;
}
