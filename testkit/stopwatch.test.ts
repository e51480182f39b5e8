// The stopwatch counts what was waited for, and not what the process stood still.
import { expect, test } from "vitest";
import { pause } from "./platform.ts";
import { stopwatch } from "./stopwatch.ts";

function standStill(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test("waiting counts, standing still does not", async () => {
  const [waited, stood] = [stopwatch(), stopwatch()];
  standStill(300);
  expect(stood()).toBeLessThan(100);
  await pause(300);
  // Less by what the machine itself stood still meanwhile.
  expect(waited()).toBeLessThan(450);
  let longest = 0;
  await expect
    .poll(async () => {
      const took = stopwatch();
      await pause(300);
      longest = Math.max(longest, took());
      return longest;
    })
    .toBeGreaterThan(200);
});
