// One open order as the engine holds it.

import type { Amount } from "../money/amount.ts";
import type { FundBook, SymbolBook } from "../state/records.ts";
import type { OrderTerms } from "./order-terms.ts";

export interface OpenOrder {
  readonly id: string;
  readonly fund: FundBook;
  readonly strategyId: string;
  /** Who asked for it, as records name it; empty when that was not kept. */
  askedBy: string;
  /** Since when it is reserved; NaN when that was not kept. */
  approvedAt: number;
  readonly side: string;
  readonly direction: 1 | -1;
  book: SymbolBook;
  /** As it was approved first, or as a transition reported last. */
  quantity: Amount;
  /** Under which it was approved first, or those of the amendment that a transition reported last; undefined when they are not known. */
  terms: OrderTerms | undefined;
  /** Approved amendments that no transition has reported yet, oldest first. */
  amendments: readonly Amended[];
  /** Whether a fill or a transition told that it is with a broker. */
  sent: boolean;
  /** The newest `valid_until` of its approvals while nothing shows that it was sent; NaN once something does. */
  unsentUntil: number;
  /** The newest date of what shows that it was sent; NaN while nothing does. Amendments approved by then count as sent, whatever came first. */
  evidenceAt: number;
  /** Its approval ran out unsent, or was released: nothing is held for it. */
  expired: boolean;
  /** Whether somebody released it; only of what expired. */
  released: boolean;
  /** Whether it ever was. */
  expiredOnce: boolean;
  /** Amendments that ran out unsent, newest last: one that is reported all the same is recognised. */
  dropped: readonly Amended[];
  /** Without what was busted. */
  filled: Amount;
  /** What traded and was taken back. */
  busted: Amount;
  ended: boolean;
  /** The newest date of its reported ends; NaN while there is none, and where it was not kept. */
  endedAt: number;
  /** The newest date of what shows that it works: a report, or a fill; NaN while nothing does. */
  workedAt: number;
  /** The newest report of that: its date, and what the order may trade in all by its figures. */
  worked: { readonly at: number; readonly total: Amount } | undefined;
  /** What the ending said has filled. */
  filledReported: Amount;
  /** When the quantity was reported last; NaN while it was not. */
  termsAt: number;
  /** Reserved, and not approved before the risk officer has answered. */
  awaitsVerdict: boolean;
  /** What may still fill; it is what the line holds for this order. */
  remaining: Amount;
}

/** What an amendment asked for. */
export interface Amended {
  readonly quantity: Amount;
  readonly terms: OrderTerms | undefined;
  /** The idempotency key under which it was asked for; undefined when one stands for two. */
  readonly key: string | undefined;
  readonly approvedAt: number;
  /** Its `valid_until` while nothing shows that it was sent; NaN once something does. */
  unsentUntil: number;
}
