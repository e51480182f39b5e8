// The shape of a condition that denies new risk while it stands: what it is about, which gate asks for it, which orders pass all the same, and what people
// read of it. An entry is data and one pure function.
import type { DenialCode } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { GateName } from "../../contracts/src/records/values.ts";
import { isNewRisk } from "../state/new-risk.ts";
import type { StandingCondition } from "../state/standing-condition.ts";
import type { FundView } from "../state/view.ts";

export type ConditionScope = "firm" | "fund" | "strategy" | "symbol";

/** The gates that ask for conditions. position_risk asks for new risk alone. */
export const conditionGates = ["static", "position_risk", "drawdown_halt"] as const satisfies readonly GateName[];
export type ConditionGate = (typeof conditionGates)[number];

/** What the sentence of a denial may name beside the condition. */
interface Asked {
  readonly order: Pick<Order, "symbol" | "strategy_id">;
  /** What kind of order it is, as the gate drawdown_halt says it; empty elsewhere. */
  readonly hint: string;
}

export interface Condition {
  readonly code: DenialCode;
  readonly scope: ConditionScope;
  /** Of one about a symbol: whether it is listed with each fund that it covers; else once, as the symbol's own. */
  readonly ofFund?: true;
  /** Whether each that stands is listed by itself, with its id. */
  readonly oneByOne?: true;
  readonly gate: ConditionGate;
  /** Of several that stand in one gate the lowest is said. */
  readonly rank: number;
  /** Whether a proven reduction passes that is marked as an exit. What only lowers an open order passes as well, unless nothing does. */
  readonly exits: "ALWAYS" | "AS_THE_ENVELOPE_SAYS" | "NEVER";
  /** Whether a proven reduction passes that is not marked. */
  readonly unmarked: "PASS" | "DENIED";
  /** Whether new risk passes that can only wait for others. */
  readonly passive: "PASS" | "DENIED";
  /** What the record notes of it, where its source hands in no facts; without a value the reason. */
  readonly figure?: readonly [name: string, value?: string];
  /** What is as old as this, and therefore not asked for while it stands. */
  readonly hides?: readonly DenialCode[];
  /** Whether drawdown_halt says it instead while nobody knows whether a halt is in force: that is graver. */
  readonly leavesToHalts?: true;
  sentence(standing: StandingCondition, asked: Asked): string;
  /** For people. Both may name {fund_id}, {strategy_id}, {symbol} and {block_id}. */
  readonly ends: string;
  readonly command?: string;
  /** Why it is not known since when, where it is not. */
  readonly sinceUnknown?: string;
}

/** Whether the order passes although it stands. An order that can only wait is none of this: who asks knows the market. */
export function letsThrough(
  { exits, unmarked }: Condition,
  order: Pick<Order, "reduce_only">,
  view: FundView,
): boolean {
  if (exits === "NEVER") return false;
  if (view.lowers === true) return true;
  if (isNewRisk(view)) return false;
  if (order.reduce_only !== true) return unmarked === "PASS";
  return exits === "ALWAYS" || view.envelope?.haltAllowReduceOnly === true;
}
