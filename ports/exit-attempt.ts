// One attempt to close a position: what stops that fired and flattened positions keep of it.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";

/** An exit that was handed in, or is about to be: the same order again until order management has it. */
export interface ExitAttempt {
  /** Counts from 1. */
  readonly number: number;
  readonly orderId: string;
  readonly quantity: Decimal;
  readonly at: Instant;
  /** Order management has said for certain that it takes no such order. */
  readonly isRefused?: true;
}
