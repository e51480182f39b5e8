// The shape of a gate: a name, one human sentence, the oldest inputs it accepts, and one pure function. A gate says no by returning a
// denial; what it read it writes into the notes either way, so that the record can answer "why" without asking anybody.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { GateName } from "../../contracts/src/records/values.ts";
import type { Amount } from "../money/amount.ts";
import type { Notional } from "../money/exact.ts";
import type { InputAges } from "./input-ages.ts";
import type { FundView } from "./view.ts";

/** Where a gate writes the figures it read. Nothing is formatted here: that happens when a record is made. */
export interface Notes {
  decimal(name: string, value: Amount, ageMs?: number): void;
  /** A product of two amounts; it is shown rounded up to the cent. */
  exact(name: string, value: Notional): void;
  word(name: string, value: string, ageMs?: number): void;
  count(name: string, value: number): void;
  /** How much of a limit would be used: from half of it on it becomes a warning. The limit is the envelope's field. */
  share(limit: string, used: Notional, allowed: Notional): void;
}

/**
 * When a gate is asked. "key": once, before anything else is known of the order. "order": about the order by itself, before the risk officer's model
 * and again with its answer, because limits and reference data change while it thinks. "risk": the same about exposure and halts, which move as well.
 * "model": after it, with its answer.
 */
export type GatePhase = "key" | "order" | "risk" | "model";

export interface Gate {
  readonly name: GateName;
  /** Shown by ctl, the web desk and the decision record. */
  readonly question: string;
  readonly phase: GatePhase;
  /** The oldest inputs that it accepts for new risk, by name, as they stand in `InputAges`. */
  readonly inputs: readonly (keyof InputAges)[];
  /** Undefined lets the order pass. */
  decide(order: Order, view: FundView, at: Instant, notes: Notes): Denial | undefined;
}
