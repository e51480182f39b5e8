// The two verifiers were written from one page by different hands: on any bytes they must say the same, or the page says too little.
import { expect, test } from "vitest";
import { compareVerifiers } from "./compare-verifiers.ts";

const seed = 20_261_123;

test(`300 bundles and proofs get the same answer from both verifiers (seed ${seed})`, async () => {
  const { differences, answers } = await compareVerifiers(seed, 300);
  expect(differences).toEqual([]);
  expect(answers.size).toBeGreaterThan(9);
});
