// Losses over a change of the currency that a fund is valued in: every value that losses are counted from is restated by the ratio of the first value
// in the new currency to the last in the old one. What was lost is lost after it, as the same share; what waits, waits; what has halted halted.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Baseline, FundValuation, LossSample, LossState, UnitCount } from "../../contracts/src/losses.ts";
import type { WindowSamples } from "./loss-figures.ts";
import { scaled, shiftOf, unitCount, withFlows } from "./loss-units.ts";

interface Restated {
  readonly state: LossState;
  /** To be written down. */
  readonly baselines: readonly Baseline[];
  /** What the windows begin with from now on. */
  readonly sample: LossSample;
}

/** Undefined where there is no ratio, because one of the two is not above zero. */
export function inCurrencyOf(
  known: LossState,
  heard: FundValuation,
  windows: WindowSamples,
  at: Instant,
): Restated | undefined {
  const { newest } = known;
  if (newest.value <= 0n || heard.value <= 0n) return undefined;
  const inNew = (amount: Decimal): Decimal => scaled(amount, heard.value, newest.value);
  const flowsOf = ({ netFlows }: Counted): Decimal =>
    decimal.subtract(heard.netFlows, inNew(decimal.subtract(newest.netFlows, netFlows)));
  const restate = <Of extends Counted>(of: Of): Of => ({
    ...of,
    value: inNew(of.value),
    netFlows: flowsOf(of),
    shift: inNew(shiftOf(of)),
  });
  const valuation = (of: FundValuation): FundValuation => ({
    ...restate(of),
    currency: heard.currency,
    ...(of.strategies !== undefined && {
      strategies: of.strategies.map((made) => ({ ...made, profit: inNew(made.profit) })),
    }),
  });
  const reason = `Restated: the fund is valued in ${heard.currency} from now on, and was in ${newest.currency}.`;
  const anew = (of: Baseline): Baseline => {
    return { ...restate(of), version: of.version + 1, setBy: "riskengine", reason, setAt: at };
  };
  const baselines = known.baselines.map(anew);
  const last = valuation(newest);
  const begun = [windows.rolling_24h, windows.rolling_5d].flatMap((sample) =>
    sample === undefined ? [] : [inNew(withFlows(sample, newest))],
  );
  const sample: LossSample = {
    at: heard.at,
    netFlows: heard.netFlows,
    ...unitCount(last),
    value: begun.reduce(decimal.max, heard.value),
  };
  const state: LossState = {
    ...known,
    newest: last,
    steady: valuation(known.steady),
    baselines,
    before: [],
    peak: restate(known.peak),
    ...(known.higher !== undefined && { higher: restate(known.higher) }),
    sampledAt: heard.at,
    windowsFrom: heard.at,
    windowsVersion: known.windowsVersion + 1,
    pending: known.pending.map((one) => ({
      ...one,
      baseline: anew(one.baseline),
      ...(one.shareOf !== undefined && { shareOf: anew(one.shareOf) }),
    })),
    trips: known.trips.map((trip) => ({ ...trip, version: trip.version + 1, loss: inNew(trip.loss) })),
  };
  return { state, baselines, sample };
}

interface Counted extends UnitCount {
  readonly value: Decimal;
  readonly netFlows: Decimal;
}
