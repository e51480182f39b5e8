// Reference data: instruments, funds, exchange rates, borrow, the restricted list and calendars, each a versioned document.
//
// What every adapter promises (testkit/conformance/reference-data.ts):
//  1. `read` gives the newest version of every kind, all as of one moment.
//  2. A kind that was never set is empty, at version 0.
//  3. `changed` is one number that grows with every change, cheap enough to ask every second.
//  4. Reading what has not changed since costs no more than asking `changed`: many questions look a fund up.
import type { ReferenceContents, ReferenceKind } from "../contracts/src/records/reference.ts";

export interface Reference extends ReferenceContents {
  readonly versions: Readonly<Record<ReferenceKind, number>>;
  /** As `changed` was when this was read. */
  readonly change: number;
}

export interface ReferenceData {
  read(): Promise<Reference>;
  changed(): Promise<number>;
}
