// Whose an order is: the source that asked for it, or the one to which it was handed over since. Who asked is a fact and never changes; what was handed over is
// applied to it, in the order in which that was done, so that the answer is the same after every restart.
import type { Instant } from "../../contracts/src/instant.ts";

/** An admin handed the orders that one source had by then to another one: all of them, or one. */
export interface HandOver {
  readonly from: string;
  readonly to: string;
  /** Absent: every order. */
  readonly orderId?: string | undefined;
  readonly at: Instant;
}

/** Undefined while nobody knows who asked. */
export function ownerOf(
  orderId: string,
  askedBy: string | undefined,
  /** When it asked; NaN when that is not known: then everything counts that was handed over since. */
  askedAt: number,
  handOvers: readonly HandOver[],
): string | undefined {
  let owner = askedBy;
  for (const { from, to, orderId: only, at } of handOvers) {
    if (owner === from && !(askedAt > at) && (only === undefined || only === orderId)) owner = to;
  }
  return owner;
}
