// What the gates share when they judge new risk: which orders those are, what counts as fresh, and what an earlier gate has made sure of.
import { Defect } from "../../contracts/src/fault.ts";
import type { FundView } from "../view.ts";

/** A proven reduction passes where new risk is judged; what could not be classified is taken for new risk. */
export function reduces(view: FundView): boolean {
  return view.classification === "REDUCE";
}

/** What the gates judge; a proven reduction is none, and neither is what only takes away from an open order. */
export function isNewRisk(view: FundView): boolean {
  return view.classification !== "REDUCE" && view.lowers !== true;
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
