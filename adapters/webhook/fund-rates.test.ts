// Each fund has a window of its own, and peeking counts nothing.
import { expect, it } from "vitest";
import { fundRates } from "./fund-rates.ts";

it("counts each fund by itself, and only what passes", () => {
  let nowUs = 0;
  const rates = fundRates(2, () => nowUs);
  expect([rates.pass("a"), rates.pass("a"), rates.pass("a"), rates.pass("b")].map(({ passed }) => passed)).toEqual([
    true,
    true,
    false,
    true,
  ]);
  nowUs = 1_000_001;
  for (let look = 0; look < 5; look += 1) expect(rates.peek("a")).toEqual({ passed: true });
  expect(rates.pass("a").passed).toBe(true);
  expect(rates.pass("a").passed).toBe(true);
  expect(rates.peek("a")).toEqual({ passed: false, waitMs: 1_000 });
  expect(rates.peek("never seen")).toEqual({ passed: true });
});
