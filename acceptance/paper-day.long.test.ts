// A compressed day on the paper platform, with its books kept a second time.
import { expect, test } from "vitest";
import { runPaperDay } from "../testkit/paper-day/day.ts";

test("23: a day with shorts, options, a split, dividends, flows, a halted symbol and three kills: every book to the last decimal", {
  timeout: 1_800_000,
}, async () => {
  const summary = await runPaperDay((line) => void process.stderr.write(`${line}\n`));
  process.stderr.write(`${JSON.stringify(summary)}\n`);
  expect(summary.fills).toBeGreaterThan(40);
  expect(summary.cashEntries).toBeGreaterThan(5);
  expect(summary.values).toBeGreaterThan(100);
  expect(summary.looksAtBooks).toBeGreaterThan(20);
});
