// The ranges that counts are held against. Every trial in small: watchdogs.long.test.ts.
import { expect, test } from "vitest";
import { countRange, faultOf, rateRange } from "./scenario.ts";

test("a range holds the count of its own probability and not one of twice that", () => {
  const { expected_low, expected_high } = countRange(1_000, 0.1, 0.12);
  expect([expected_low, expected_high]).toEqual([68, 154]);
  expect(rateRange(0, 0)).toEqual({ expected_low: 0, expected_high: 0 });
  expect(rateRange(100, 100)).toEqual({ expected_low: 67, expected_high: 135 });
});

test("a fault that is never found is a share of zero", () => {
  expect(faultOf("none", "days", 10, () => undefined)).toMatchObject({ detected_share: 0, delay: -1 });
  let turn = 0;
  expect(faultOf("some", "days", 4, () => (turn++ % 2 === 0 ? turn : undefined))).toMatchObject({
    detected_share: 0.5,
  });
});
