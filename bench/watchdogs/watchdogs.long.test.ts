// Every trial of the watchdogs in small: promises are kept with another seed, too.
import { expect, test } from "vitest";
import { runWatchdogs } from "./watchdogs.ts";

test("every watchdog keeps its promises in small", () => {
  const { figures, shortfalls } = runWatchdogs(
    { seed: 1, scale: 0.02, loadMinutes: 1, loadScale: 0.02 },
    () => undefined,
  );
  expect(shortfalls).toEqual([]);
  expect(Object.keys(figures)).toEqual(
    expect.arrayContaining(["predictive_health", "vpin", "db_watchdog", "portfolio_vol_dd", "load"]),
  );
});
