// Money that comes and goes, kept apart from profit and loss the way funds do it: a flow buys or gives back units at what a unit is worth in that
// moment, and losses are counted per unit. So no flow makes a loss, hides one, or changes the share of the fund that was lost before it.
//
// A value x of the past is worth (x - shift) * units now / units then + shift now. Flows of a fund that is worth something scale the units; of
// one that is worth nothing no share can be told, and they are added as plain money. What comes in between two valuations counts as there from the
// first on, what goes as there until the second, so neither makes more of the market's moves in between than they were. When more than 10 s lie between
// them, money that comes counts as of the lower of the two, so that no deposit hides what was lost while nobody could value the fund.
//
// A strategy's loss is a share of the fund too. No unit stands for its profit, so where it is counted from is restated with every flow: what it had lost
// by then stays the same share of the fund, and the limit goes on with the money that is there after it.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Baseline, FundValuation, LossState, PendingLoss, UnitCount } from "../../contracts/src/losses.ts";

/** Many, so that a fund that shrinks to a small part of itself still has digits to count with. */
const unitsFirst = decimal.fromInteger(1_000_000n);
/** Of a value that flows have scaled; what none has stays exact. */
const scaledPlaces = 8;
/** Valuations come every second. What happened in a longer time without one happened before the money came. */
const apartMsMax = 10_000;

interface Counted extends UnitCount {
  readonly value: Decimal;
  readonly netFlows: Decimal;
}

/** What a value of the past would be worth now with the flows since then, and nothing else, behind it. */
export function withFlows(past: Counted, now: Counted): Decimal {
  const [shiftThen, shiftNow] = [shiftOf(past), shiftOf(now)];
  const [unitsThen, unitsNow] = [unitsOf(past), unitsOf(now)];
  if (unitsThen === unitsNow) return decimal.add(past.value, decimal.subtract(shiftNow, shiftThen));
  const perUnits = scaled(decimal.subtract(past.value, shiftThen), unitsNow, unitsThen);
  return decimal.round(decimal.add(perUnits, shiftNow), scaledPlaces, "half-even");
}

interface CountedOn {
  readonly state: LossState;
  readonly valuation: FundValuation;
}

/**
 * The valuation with its units counted on from the newest one, and what had halted restated with them. Undefined when all of the money was
 * withdrawn: there is nothing to lose then, and when other money comes the count goes on as if it had never been away.
 */
export function countUnits(known: LossState, heard: FundValuation, jump: Decimal | undefined): CountedOn | undefined {
  const { newest } = known;
  const flow = decimal.subtract(heard.netFlows, newest.netFlows);
  if (flow === decimal.zero) return { state: known, valuation: { ...heard, ...unitCount(newest) } };
  const before = valueBefore(known, heard, flow, jump ?? decimal.zero);
  const after = decimal.add(before, flow);
  if (before > 0n && after === heard.value && after <= 0n && heard.holds !== true) return undefined;
  const [units, shift] = [unitsOf(newest), shiftOf(newest)];
  if (before <= 0n || after <= 0n) {
    return { state: known, valuation: { ...heard, units, shift: decimal.add(shift, flow) } };
  }
  const counted = { units: scaled(units, after, before), shift: scaled(shift, after, before) };
  const trips = known.trips.map((trip) => ({ ...trip, loss: scaled(trip.loss, after, before) }));
  // Where the market's moves in between count as from before the flow, so do the strategies'.
  const isMovedBefore = before === decimal.subtract(heard.value, flow);
  const [first, second] = isMovedBefore ? [heard, newest] : [newest, heard];
  const restate = (baseline: Baseline): Baseline => {
    const profit = profitOf(first, baseline) ?? profitOf(second, baseline);
    if (baseline.limit !== "strategy" || profit === undefined) return baseline;
    const lost = decimal.subtract(baseline.value, profit);
    return { ...baseline, value: decimal.add(profit, scaled(lost, after, before)) };
  };
  const state = {
    ...known,
    trips,
    baselines: known.baselines.map(restate),
    before: known.before.map(restate),
    pending: known.pending.map((one): PendingLoss => ({ ...one, baseline: restate(one.baseline) })),
  };
  return { state, valuation: { ...heard, ...counted } };
}

function profitOf({ strategies }: FundValuation, { strategyId }: Baseline): Decimal | undefined {
  return strategies?.find((one) => one.strategyId === strategyId)?.profit;
}

/** The count as it stands in a record; absent while no flow has changed it. */
export function unitCount({ units, shift }: UnitCount): UnitCount {
  return { ...(units !== undefined && { units }), ...(shift !== undefined && { shift }) };
}

/**
 * What the fund was worth when the flow came. While a jump waits for its confirmation nobody knows whether the newest value is a bad mark: the
 * one that is nearer to what came after is taken. And what came after is believed only as far as it is no jump itself.
 */
function valueBefore(
  { newest, steady, jump }: LossState,
  heard: FundValuation,
  flow: Decimal,
  share: Decimal,
): Decimal {
  const meant = decimal.subtract(heard.value, flow);
  const distance = (value: Decimal): Decimal => decimal.abs(decimal.subtract(value, meant));
  const calm = withFlows(steady, newest);
  const before = jump !== undefined && distance(calm) < distance(newest.value) ? calm : newest.value;
  const isLong = millisecondsBetween(newest.at, heard.at) > apartMsMax;
  if (flow > 0n && isLong) return decimal.min(before, meant);
  const isNear = distance(before) < decimal.multiply(share, before, "half-even");
  return flow < 0n && isNear ? meant : before;
}

/** Rounded once, to the nearest; the product may have more digits than a decimal. */
export function scaled(value: Decimal, numerator: Decimal, denominator: Decimal): Decimal {
  const product = 2n * value * numerator;
  const half = product < 0n ? -denominator : denominator;
  // A sum is checked for its size.
  return decimal.add(((product + half) / (2n * denominator)) as Decimal, decimal.zero);
}

function unitsOf({ units }: UnitCount): Decimal {
  return units ?? unitsFirst;
}

export function shiftOf({ shift, netFlows }: Counted): Decimal {
  return shift ?? netFlows;
}
