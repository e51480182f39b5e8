// Which kind of market a return was earned in, and what each kind contributed. A day's label uses the market up to the day BEFORE: a label that knew
// the day itself would be looking ahead.
import { mean, sum } from "../../core/stats/moments.ts";
import { sharpe, volatility } from "../../core/stats/performance.ts";
import { quantile } from "../../core/stats/quantiles.ts";
import { compounded, linkingFactors } from "./linking.ts";

export type Regime = "low" | "mid" | "high" | "warmup";
const regimes: readonly Regime[] = ["low", "mid", "high", "warmup"];

interface RegimeLabels {
  /** Null while there is no volatility to cut. */
  readonly cuts: readonly [number, number] | null;
  readonly labels: readonly Regime[];
}

/** The volatility of the `window` returns before each day; null where there are not so many. */
function laggedVolatility(
  market: readonly number[],
  window: number,
  periodsPerYear: number,
): readonly (number | null)[] {
  return market.map((_each, index) =>
    index < window ? null : volatility(market.slice(index - window, index), periodsPerYear),
  );
}

/** Cuts may come from elsewhere (a backtest); else they are the terciles of the row itself. */
export function volatilityRegimes(
  market: readonly number[],
  window: number,
  periodsPerYear: number,
  given?: readonly [number, number],
): RegimeLabels {
  const lagged = laggedVolatility(market, window, periodsPerYear);
  const known = lagged.filter((each) => each !== null);
  const [lower, upper] = [quantile(known, 1 / 3), quantile(known, 2 / 3)];
  const cuts = given ?? (lower === null || upper === null ? null : ([lower, upper] as const));
  return { cuts, labels: lagged.map((each) => labelOf(each, cuts)) };
}

function labelOf(value: number | null, cuts: readonly [number, number] | null): Regime {
  if (value === null || cuts === null) return "warmup";
  if (value <= cuts[0]) return "low";
  return value <= cuts[1] ? "mid" : "high";
}

interface RegimeResult {
  readonly days: number;
  /** Linked, so that the regimes sum to the compounded return; null after a total loss. */
  readonly contribution: number | null;
  readonly logReturn: number;
  readonly mean: number;
  readonly volatility: number | null;
  readonly sharpe: number | null;
  readonly hitRate: number;
}

interface RegimeAttribution {
  readonly byRegime: ReadonlyMap<Regime, RegimeResult>;
  readonly total: number;
  readonly linkedSum: number | null;
}

/** Regimes without a day are left out. */
export function regimeAttribution(
  returns: readonly number[],
  labels: readonly Regime[],
  periodsPerYear: number,
): RegimeAttribution {
  const factors = linkingFactors(returns);
  const byRegime = new Map<Regime, RegimeResult>();
  for (const regime of regimes) {
    const chosen = returns.flatMap((_each, index) => (labels[index] === regime ? [index] : []));
    const own = chosen.map((index) => returns[index] ?? 0);
    const middle = mean(own);
    if (middle === null) continue;
    byRegime.set(regime, {
      days: own.length,
      contribution: factors === null ? null : sum(chosen.map((at) => (returns[at] ?? 0) * (factors[at] ?? 0))),
      logReturn: sum(own.map(Math.log1p)),
      mean: middle,
      volatility: volatility(own, periodsPerYear),
      sharpe: sharpe(own, periodsPerYear),
      hitRate: own.filter((each) => each > 0).length / own.length,
    });
  }
  const linked = [...byRegime.values()].map(({ contribution }) => contribution ?? 0);
  return { byRegime, total: compounded(returns), linkedSum: factors === null ? null : sum(linked) };
}
