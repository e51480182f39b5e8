// Ten in a second means ten in every second, wherever it begins.
import fc from "fast-check";
import { expect, it } from "vitest";
import { rateWindow } from "./rate-window.ts";

it("lets ten pass at once, refuses the eleventh, and lets it pass when the first is over a second old", () => {
  const rate = rateWindow(10);
  for (let count = 0; count < 10; count += 1) expect(rate.pass(5_000)).toEqual({ passed: true });
  expect(rate.pass(5_000)).toEqual({ passed: false, waitMs: 1_000 });
  expect(rate.pass(6_000)).toEqual({ passed: false, waitMs: 0 });
  expect(rate.pass(6_000.5)).toEqual({ passed: true });
});

it("never lets more than ten pass in any window of a second, and never refuses without reason", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }), (gaps) => {
      const rate = rateWindow(10);
      const passed: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        const recent = passed.filter((at) => now - at <= 1_000).length;
        const { passed: isPassed } = rate.pass(now);
        expect(isPassed).toBe(recent < 10);
        if (isPassed) passed.push(now);
      }
      expect(rate.isIdle(now + 1_001)).toBe(true);
    }),
  );
});
