// What the gates share when they judge new risk: which orders those are, what counts as fresh, and what an earlier gate has made sure of.
import { Defect } from "../../contracts/src/fault.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { FundView } from "./view.ts";

/** A proven reduction passes where new risk is judged; what could not be classified is taken for new risk. */
export function reduces(view: FundView): boolean {
  return view.classification === "REDUCE";
}

/** What the gates judge; a proven reduction is none, and neither is what only takes away from an open order. */
export function isNewRisk(view: FundView): boolean {
  return view.classification !== "REDUCE" && view.lowers !== true;
}

/**
 * Whether it answers for its size, its price and its pace. Everything does but a marked exit and what only takes away from an open order:
 * whoever wants a reduction to pass as one says so. (The schema gate has made sure that what is marked reduces.)
 */
export function obeysLimits(order: Order, view: FundView): boolean {
  if (view.lowers === true) return false;
  return view.classification !== "REDUCE" || order.reduce_only !== true;
}

/**
 * A marked exit that is proven: it passes what the envelope and the fund no longer allow, because what it closes was allowed when it was opened. The
 * schema gate asks before it has read the claim, so the proof is asked for here.
 */
export function isMarkedExit(order: Order, view: FundView): boolean {
  return order.reduce_only === true && view.classification === "REDUCE";
}

/**
 * Exactly as old as allowed is fresh. Without an age nothing is, and neither is what claims to come from further ahead than it may lie
 * behind: a clock that runs ahead must not keep a price fresh for hours.
 */
export function isFresh(ageMs: number, ageMsMax: number): boolean {
  return ageMs <= ageMsMax && ageMs >= -ageMsMax;
}

/** An earlier gate denies without it, so here it must be there. */
export function assured<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Defect(`a gate was asked without ${what}, which an earlier gate must have denied`);
  return value;
}
