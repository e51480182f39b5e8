// A condition that denies new risk, as its source hands it in: data alone. What it means for an order (which gate, which sentence, who passes) says its entry
// in core/blocks/index.ts.
import type { DenialCode } from "../../contracts/src/codes.ts";
import type { Instant } from "../../contracts/src/instant.ts";

/** What the record notes of it: a name and a value. */
export type Fact = readonly [name: string, value: string];

export interface StandingCondition {
  readonly code: DenialCode;
  /** Why, as the denial has it; empty where the code says all. */
  readonly reason: string;
  /** Whom it is about. With a fund and a symbol it is about that symbol in that fund; without any of the three about the whole firm. */
  readonly fundId?: string | undefined;
  readonly strategyId?: string | undefined;
  readonly symbol?: string | undefined;
  /** About funds of that mode alone: those see other prices. */
  readonly isPaper?: boolean | undefined;
  readonly facts?: readonly Fact[] | undefined;
  /** It stands for every decision at or after this moment, in microseconds; from the beginning when absent. */
  readonly from?: number | undefined;
  /** For people: since when it stands. Undefined when nobody knows. */
  readonly since?: Instant | undefined;
  /** How many of the same code cover the order, this one among them; 1 when absent. */
  readonly count?: number | undefined;
}

/** One array for every view in which nothing stands, so that nothing is made for it. */
export const noneStands: readonly StandingCondition[] = [];
