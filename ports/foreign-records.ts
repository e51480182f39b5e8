// Where the numbering of each foreign publisher stands, as a part of a unit of work: one row for a source, a fund and a kind. What stands there outlives
// the platform's processes, the publisher's, and the bus with its disk.
//
// What every store promises (testkit/conformance/foreign-records.ts):
//  1. `lock` keeps the row from others until the unit ends, also when there is none yet.
//  2. `put` replaces the position and nothing else; `noteUnnumbered` is true exactly once for each source.
//  3. A bust is kept as it came first, by source and bust_id, and a foreign fill by fill_id: neither is ever changed or removed.
//  4. What was handed over stays, and is read in its order.
//  5. Of turns to price a symbol the newest is kept, and whoever reads on from a place misses none.
import type { Instant } from "../contracts/src/instant.ts";
import type { BookedFill, FillBusted } from "../contracts/src/records/order.ts";

export interface ForeignStream {
  /** The token's name over gRPC, the login's over NATS. */
  readonly source: string;
  readonly fundId: string;
  readonly kind: "orders" | "fills" | "values";
}

interface KeptRange {
  readonly from: number;
  readonly to: number;
  readonly since: Instant;
  readonly gapId: string;
}

export interface KeptPosition {
  readonly last: number | undefined;
  readonly missing: readonly KeptRange[];
  /** Numbers of events that were refused and did not use them up; absent: none. */
  readonly refused?: readonly { readonly number: number; readonly code: string }[] | undefined;
}

/** With when it was put there. */
interface LockedPosition extends KeptPosition {
  readonly at: Instant;
}

/** Orders went from one source to another: all that the first had by then, or one. */
export interface KeptHandOver {
  /** Empty: nobody knows who asked for the order. */
  readonly from: string;
  readonly to: string;
  readonly orderId?: string | undefined;
  readonly at: Instant;
}

/** Whose prices of a symbol count for which nobody is named: the first source, and who took over for it. */
interface KeptPriceTurn {
  readonly symbol: string;
  readonly first: string;
  readonly second?: string | undefined;
}

export interface ForeignRecords {
  /** Those that changed after that place, and the newest place; all of them after 0. */
  priceTurns(after: number): Promise<{ readonly turns: readonly KeptPriceTurn[]; readonly place: number }>;
  /** Replaces those of their symbols. One process writes them at a time. */
  putPriceTurns(turns: readonly KeptPriceTurn[]): Promise<void>;
  /** Those of whole sources and of these orders, of all orders when none are named, in the order in which they were kept. */
  handOvers(orderIds?: readonly string[]): Promise<readonly KeptHandOver[]>;
  /** Whether it is kept: an order that nobody knows who asked for goes to one source, once. */
  handOver(handOver: KeptHandOver, by: { readonly actor: string; readonly reason: string }): Promise<boolean>;
  /** Undefined: nothing was heard. */
  lock(stream: ForeignStream): Promise<LockedPosition | undefined>;
  put(stream: ForeignStream, position: KeptPosition, at: Instant): Promise<void>;
  /** An event of the source, or of one of its streams, has no number of its own: whether it is the first. */
  noteUnnumbered(source: string, at: Instant): Promise<boolean>;
  /** Of a source in a fund, by kind. */
  positions(source: string, fundId: string): Promise<readonly (ForeignStream & KeptPosition)[]>;
  /** Whether it is new: the first of a source and bust_id stays. */
  keepBust(source: string, bust: FillBusted, at: Instant): Promise<boolean>;
  bust(source: string, bustId: string): Promise<FillBusted | undefined>;
  /** Of a fill, in order of their ids. */
  bustsOf(source: string, fillId: string): Promise<readonly FillBusted[]>;
  /** A foreign fill as treasury booked it, with its publisher; the first stays. */
  keepFill(fill: BookedFill, at: Instant): Promise<void>;
  fill(fillId: string): Promise<BookedFill | undefined>;
  /** Who published numbered values, by fund and then by name; the first thousand. */
  valueSources(): Promise<readonly Pick<ForeignStream, "source" | "fundId">[]>;
  /** Those with something missing, in order of source, fund and kind. */
  withGaps(): Promise<readonly (ForeignStream & KeptPosition)[]>;
}
