// An exit that is owed.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { ExitAttempt } from "../../../ports/exit-attempt.ts";

/** A position that must be closed, as every driver of exits sees it. */
export interface OwedExit {
  /** Its orders are named after it. */
  readonly exitId: string;
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** The trade that opened the position. */
  readonly openedBy: string;
  /** What was held when the exit became owed; negative when short. */
  readonly quantity: Decimal;
  readonly owedSince: Instant;
  readonly attempt?: ExitAttempt;
  /** What the attempts before this one have traded, where that is kept; else their orders are asked. */
  readonly exitedBefore?: Decimal;
}
