// The full count: every answer that a bundle can get comes up, and on every one the two verifiers agree.
import { expect, test } from "vitest";
import { compareVerifiers, countsText } from "./compare-verifiers.ts";

const seed = 20_261_124;
const count = 20_000;

test(`${count} bundles and proofs get the same answer from both verifiers (seed ${seed})`, async () => {
  const { differences, answers } = await compareVerifiers(seed, count);
  process.stdout.write(`${count} compared, ${differences.length} differ: ${countsText(answers)}\n`);
  expect(differences).toEqual([]);
  // All but INDEX_MISMATCH, which no bundle can have, and the three levels.
  expect(answers.size).toBe(15 + 3);
});
