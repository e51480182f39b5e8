// Random numbers of the distributions that healthy and faulty inputs are drawn from, all from one seed.
import { type Prng, prng } from "../../testkit/virtual/prng.ts";

export interface Draws {
  uniform(): number;
  normal(): number;
  poisson(mean: number): number;
}

export function draws(seed: number, purpose: string): Draws {
  const source: Prng = prng(seed).fork(purpose);
  let spare: number | undefined;
  const uniform = (): number => (source.word() + 0.5) / 0x1_0000_0000;
  const normal = (): number => {
    if (spare !== undefined) {
      const kept = spare;
      spare = undefined;
      return kept;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return { uniform, normal, poisson: (mean) => poisson(uniform, mean) };
}

/** Multiplies uniforms until they fall below exp(-mean): fine for the small means here. */
function poisson(uniform: () => number, mean: number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = uniform(); product > limit; product *= uniform()) count += 1;
  return count;
}

export const normals = ({ normal }: Draws, count: number, mean: number, deviation: number): readonly number[] =>
  Array.from({ length: count }, () => mean + deviation * normal());
