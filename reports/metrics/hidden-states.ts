// A market of two states that cannot be seen: Hamilton's filter says how likely each is from the returns so far, Kim's smoother from all of them. The
// smoothed figure knows the future: it is for looking back, never for a label that could have been used on the day.

export interface TwoStates {
  readonly means: readonly [number, number];
  readonly deviations: readonly [number, number];
  /** The probability of staying, per state. */
  readonly stay: readonly [number, number];
  /** The probability of state 1 before the first return; absent: that of the long run. */
  readonly initial?: number;
}

interface StateProbabilities {
  readonly logLikelihood: number;
  /** Of state 1 after each return. */
  readonly filtered: readonly number[];
  readonly smoothed: readonly number[];
}

export function stateProbabilities(returns: readonly number[], model: TwoStates): StateProbabilities {
  const [stay0, stay1] = model.stay;
  let before = model.initial ?? stationary(model);
  let logLikelihood = 0;
  const predicted: number[] = [];
  const filtered = returns.map((each) => {
    predicted.push(before);
    // In logarithms: on the day of a crash both densities would round to zero, and the state that explains it far better would be lost.
    const zero = Math.log(1 - before) + logDensity(each, model.means[0], model.deviations[0]);
    const one = Math.log(before) + logDensity(each, model.means[1], model.deviations[1]);
    const larger = Math.max(zero, one);
    const both = Math.exp(zero - larger) + Math.exp(one - larger);
    logLikelihood += larger + Math.log(both);
    const now = Math.exp(one - larger) / both;
    before = now * stay1 + (1 - now) * (1 - stay0);
    return now;
  });
  return { logLikelihood, filtered, smoothed: smooth(filtered, predicted, model) };
}

/** The long run's share of state 1; a half where both states keep for ever. */
function stationary({ stay: [stay0, stay1] }: TwoStates): number {
  const leaving = 2 - stay0 - stay1;
  return leaving === 0 ? 0.5 : (1 - stay0) / leaving;
}

const logDensity = (value: number, mean: number, deviation: number): number =>
  -(((value - mean) / deviation) ** 2) / 2 - Math.log(deviation) - Math.log(2 * Math.PI) / 2;

function smooth(filtered: readonly number[], predicted: readonly number[], { stay }: TwoStates): readonly number[] {
  const smoothed = [...filtered];
  for (let index = filtered.length - 2; index >= 0; index -= 1) {
    const now = filtered[index] ?? 0;
    const [next, expected] = [smoothed[index + 1] ?? 0, predicted[index + 1] ?? 0];
    const ratio = (numerator: number, denominator: number): number => (denominator > 0 ? numerator / denominator : 0);
    smoothed[index] = now * (stay[1] * ratio(next, expected) + (1 - stay[1]) * ratio(1 - next, 1 - expected));
  }
  return smoothed;
}
