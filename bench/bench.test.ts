// How a bench is asked for, and what they share. Each bench in small stands beside it or in bench.long.test.ts.
import { expect, test } from "vitest";
import { median } from "./bus/contender.ts";
import { main } from "./main.ts";

test("an unknown bench is refused with the list of those that exist", async () => {
  expect(await main(["nonesuch"])).toBe(2);
  expect(await main(["bus", "--nonesuch"])).toBe(2);
  expect(await main(["halt", "--nonesuch"])).toBe(2);
});

test("a median of an even number of windows lies between the two in the middle", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([3, 1, 2])).toBe(2);
});
