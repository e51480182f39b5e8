// A loss that halted, after that: it follows the loss while its halt is in force, and when people have lifted the halt and kept the baseline it says
// from which loss on the limit halts again.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { LossState, LossTrip } from "../../contracts/src/losses.ts";
import { always, type LossFigure, lossKey } from "./loss-figures.ts";

/** A tenth. */
const step = decimal.fromNumber(0.1);

/** Trips of periods that are over are forgotten when nothing can be judged by them any more. */
export function isRemembered(trip: LossTrip, state: LossState, haltsInForce: ReadonlySet<string>): boolean {
  if (trip.period === always || haltsInForce.has(trip.haltId)) return true;
  const key = lossKey(trip);
  const baselines = [...state.baselines, ...state.before, ...state.pending.map(({ baseline }) => baseline)];
  return baselines.some((baseline) => lossKey(baseline) === key);
}

/** Under its halt it follows the loss; after that it stays, until the loss is well below the limit. */
export function tripAfter(trip: LossTrip, figure: LossFigure, haltsInForce: ReadonlySet<string>): LossTrip | undefined {
  if (haltsInForce.has(trip.haltId)) return { ...trip, loss: figure.loss };
  if (trip.limit === "equity") return figure.isBreach ? trip : undefined;
  if (figure.bound === undefined) return undefined;
  const tenth = decimal.multiply(step, figure.bound, "ceiling");
  return figure.loss < decimal.subtract(figure.bound, tenth) ? undefined : trip;
}

export function hasGrown(trip: LossTrip, figure: LossFigure, haltsInForce: ReadonlySet<string>): boolean {
  if (haltsInForce.has(trip.haltId)) return false;
  // Nobody may lift that a fund trades on with nothing left.
  return trip.limit === "equity" || figure.loss >= lossThatHaltsAgain(trip, figure);
}

/** Of a limit whose halt was lifted with its baseline kept: a tenth of the limit more than what was lost then. */
export function lossThatHaltsAgain(trip: LossTrip, { bound }: LossFigure): Decimal {
  const tenth = decimal.multiply(step, bound ?? decimal.zero, "ceiling");
  return decimal.add(trip.loss, decimal.max(tenth, decimal.zero));
}
