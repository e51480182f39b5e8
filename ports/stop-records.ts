// The part of a unit of work about synthetic stops that fired. One that rests is not kept: it follows from the position, the fund's limits and
// the price.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { StopEnded } from "../contracts/src/records/operations.ts";
import type { Side } from "../contracts/src/records/values.ts";
import type { ExitAttempt } from "./exit-attempt.ts";

/** A stop that fired: its exit is owed until it has ended. */
export interface StoredStop {
  /** Follows from fund, strategy, symbol and opening, so that an opening can have one only. */
  readonly stopId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** The trade that opened the position which it closes. */
  readonly openedBy: string;
  readonly side: Side;
  /** When it fired: the position, its average entry price, the price that fires and the one that was seen. */
  readonly quantity: Decimal;
  readonly basisPrice: Decimal;
  readonly triggerPrice: Decimal;
  readonly observedPrice: Decimal;
  readonly observedAt: Instant;
  readonly firedAt: Instant;
  /** The newest; older ones have ended. */
  readonly attempt?: ExitAttempt;
  readonly ended?: { readonly outcome: StopEnded["outcome"]; readonly exitedQuantity: Decimal; readonly at: Instant };
}

export interface WhichEnded {
  readonly fundId?: string | undefined;
  /** Only those that come after this one. */
  readonly afterStopId?: string | undefined;
}

export interface StopRecords {
  /** False when this opening has had its stop already. */
  insert(stop: StoredStop): Promise<boolean>;
  /** Kept from others until this unit ends. */
  lock(stopId: string): Promise<StoredStop | undefined>;
  update(stop: StoredStop): Promise<void>;
  /** Those whose exit is owed, oldest first. */
  owed(): Promise<readonly StoredStop[]>;
  /** Those that ended at or after that moment, newest first, at most so many; none after one that has not ended. */
  ended(since: Instant, countMax: number, which?: WhichEnded): Promise<readonly StoredStop[]>;
  /** Those of these ids that there are. */
  find(stopIds: readonly string[]): Promise<readonly StoredStop[]>;
}
