// The replay bench in small: the past that it records is one that the readers take for real, and nothing in it differs. Its figures mean nothing at this size.
import { expect, test } from "vitest";
import { runReplay } from "./replay.ts";

test("moments, pages and a verification are answered from a past of the readers' own kind", {
  timeout: 300_000,
}, async () => {
  const said: string[] = [];
  const extent = { entries: 4_000, days: 1, questions: 6, seed: 1 };
  const { figures, shortfalls } = await runReplay(extent, (line) => said.push(line));
  const timed = { p50_ms: expect.any(Number), p99_ms: expect.any(Number), task_p90_ms: expect.any(Number) };
  expect(figures).toMatchObject({ moment: timed, timeline: timed, verify: { ...timed, different: 0 } });
  const four = Array.from({ length: 4 }, () => expect.any(Number));
  expect(figures).toMatchObject({ halts: { ratio: expect.any(Number), calm_ms: four, beside_ms: four } });
  const { verify, log_entries: log } = figures as { verify: { decisions: number }; log_entries: number };
  expect(verify.decisions).toBeGreaterThan(30);
  expect(log).toBeGreaterThanOrEqual(4_000);
  expect(shortfalls.filter((each) => each.includes("differ"))).toEqual([]);
});
