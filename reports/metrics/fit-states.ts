// Two hidden states fitted to a row of returns: expectation and maximisation from four fixed starts, the likeliest kept, so that the same row gives the same
// states. State 1 is the one with the larger deviation.
import { isConstant, mean, standardDeviation } from "../../core/stats/moments.ts";
import { stateProbabilities, type TwoStates } from "./hidden-states.ts";

/** Fewer returns have no two states worth naming. */
export const fittedMin = 60;
const roundsMax = 300;
const starts = [
  { spread: 0.5, stay: 0.9 },
  { spread: 0.5, stay: 0.97 },
  { spread: 0.25, stay: 0.9 },
  { spread: 0.25, stay: 0.97 },
] as const;

/** Null of too few returns and of a row that never moves. */
export function fitTwoStates(returns: readonly number[]): TwoStates | null {
  const [middle, deviation] = [mean(returns), standardDeviation(returns)];
  if (returns.length < fittedMin || middle === null || deviation === null || isConstant(returns)) return null;
  const fitted = starts.map(({ spread, stay }) =>
    maximised(returns, deviation, {
      means: [middle, middle],
      deviations: [deviation * (1 - spread), deviation * (1 + spread)],
      stay: [stay, stay],
    }),
  );
  const best = fitted.reduce((one, other) => (other.logLikelihood > one.logLikelihood ? other : one));
  return ordered(best.model);
}

function maximised(returns: readonly number[], deviation: number, start: TwoStates) {
  let model = start;
  let found = stateProbabilities(returns, model);
  for (let round = 0; round < roundsMax; round += 1) {
    const next = step(returns, deviation, model, found);
    const after = stateProbabilities(returns, next);
    const gained = after.logLikelihood - found.logLikelihood;
    if (!(gained > 0)) break;
    [model, found] = [next, after];
    if (gained < 1e-9 * returns.length) break;
  }
  return { model, logLikelihood: found.logLikelihood };
}

const clamped = (value: number): number => Math.min(0.999, Math.max(0.01, value));

function step(
  returns: readonly number[],
  deviation: number,
  { stay }: TwoStates,
  { filtered, smoothed }: { readonly filtered: readonly number[]; readonly smoothed: readonly number[] },
): TwoStates {
  let [kept0, kept1, from0, from1] = [0, 0, 0, 0];
  for (let at = 0; at + 1 < returns.length; at += 1) {
    const [now, next] = [filtered[at] ?? 0, smoothed[at + 1] ?? 0];
    const expected = now * stay[1] + (1 - now) * (1 - stay[0]);
    kept1 += expected > 0 ? (now * stay[1] * next) / expected : 0;
    kept0 += expected < 1 ? ((1 - now) * stay[0] * (1 - next)) / (1 - expected) : 0;
    from1 += smoothed[at] ?? 0;
    from0 += 1 - (smoothed[at] ?? 0);
  }
  const moments = (weightOf: (at: number) => number): readonly [number, number] => {
    const weight = returns.reduce((sum, _each, at) => sum + weightOf(at), 0);
    if (!(weight > 0)) return [0, deviation];
    const middle = returns.reduce((sum, each, at) => sum + weightOf(at) * each, 0) / weight;
    const squares = returns.reduce((sum, each, at) => sum + weightOf(at) * (each - middle) ** 2, 0) / weight;
    return [middle, Math.max(Math.sqrt(squares), deviation * 1e-3)];
  };
  const zero = moments((at) => 1 - (smoothed[at] ?? 0));
  const one = moments((at) => smoothed[at] ?? 0);
  return {
    means: [zero[0], one[0]],
    deviations: [zero[1], one[1]],
    stay: [clamped(from0 > 0 ? kept0 / from0 : stay[0]), clamped(from1 > 0 ? kept1 / from1 : stay[1])],
  };
}

function ordered({ means, deviations, stay }: TwoStates): TwoStates {
  if (deviations[0] <= deviations[1]) return { means, deviations, stay };
  return { means: [means[1], means[0]], deviations: [deviations[1], deviations[0]], stay: [stay[1], stay[0]] };
}
