// What is kept of runs: the last ones, the whole ones longest, and a median only of at least three.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { gatherTimes, keepRun, keepTimes, readCommitted } from "./test-times.js";
import { trimTransforms } from "./transform-cache.js";

const folder = mkdtempSync(join(tmpdir(), "portcullis-times-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const times = (wall_s: number, more = {}) => ({
  wall_s,
  processor_s: wall_s / 2,
  platforms: 0,
  databases: 0,
  repeats: 0,
  ...more,
});
const run = (wall_s: number, whole = true) => ({
  whole,
  floor: "unit",
  wall_s,
  processor_s: wall_s,
  files: { "a.test.ts": times(wall_s, { platforms: 1 }) },
});

describe("the times of test files", () => {
  test("are gathered from all workers; a file that ran twice says so", () => {
    const lines = join(folder, "7.jsonl");
    const line = (file: string) => JSON.stringify({ file, wall_s: 2, processor_s: 1, platforms: 1, databases: 0 });
    writeFileSync(lines, `${line("a.test.ts")}\n${line("b.test.ts")}\n${line("a.test.ts")}\n`);
    expect(gatherTimes(folder)).toEqual({
      "a.test.ts": { wall_s: 4, processor_s: 2, platforms: 2, databases: 0, repeats: 1 },
      "b.test.ts": { wall_s: 2, processor_s: 1, platforms: 1, databases: 0, repeats: 0 },
    });
  });

  test("are kept of the last five whole runs, which partial ones do not push out", () => {
    const place = join(folder, "kept", "times.json");
    for (const wall of [1, 2, 3, 4, 5, 6]) keepRun(run(wall), place);
    for (const wall of [7, 8]) keepRun(run(wall, false), place);
    const kept = JSON.parse(readFileSync(place, "utf8")) as { runs: { wall_s: number }[] };
    expect(kept.runs.map(({ wall_s }) => wall_s)).toEqual([2, 3, 4, 5, 6, 8]);
  });

  test("are those of npm test where the second floor ran a file again", () => {
    const [from, to] = [join(folder, "floors.json"), join(folder, "floors-committed.json")];
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    for (const wall of [10, 10, 10]) keepRun(run(wall), from);
    keepRun({ ...run(90), floor: "ci", files: { "a.test.ts": times(90), "b.ci.test.ts": times(40) } }, from);
    expect(keepTimes(from, to)).toBe(0);
    expect(Object.entries(readCommitted(to)).map(([name, { wall_s }]) => [name, wall_s])).toEqual([
      ["a.test.ts", 10],
      ["b.ci.test.ts", 40],
    ]);
  });

  test("are committed as the median of at least three whole runs, and reasons stay", () => {
    const [from, to] = [join(folder, "runs.json"), join(folder, "committed.json")];
    writeFileSync(to, JSON.stringify({ "a.test.ts": { wall_s: 1, reason: "kills the platform" } }));
    const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    for (const wall of [10, 30]) keepRun(run(wall), from);
    keepRun(run(99, false), from);
    expect(keepTimes(from, to)).toBe(1);
    expect(said).toHaveBeenCalledWith(expect.stringContaining("2 are kept. Run npm test again"));
    keepRun(run(20), from);
    expect(keepTimes(from, to)).toBe(0);
    expect(readCommitted(to)).toEqual({
      "a.test.ts": { wall_s: 20, processor_s: 10, platforms: 1, reason: "kills the platform" },
    });
    vi.restoreAllMocks();
  });

  test("are none before anything was committed, and a broken file is an error", () => {
    expect(readCommitted(join(folder, "absent.json"))).toEqual({});
    const broken = join(folder, "broken.json");
    writeFileSync(broken, "{");
    expect(() => readCommitted(broken)).toThrow(SyntaxError);
  });
});

test("transformed sources of another compiler or Node go, and all when they are too many", () => {
  const place = mkdtempSync(join(folder, "transforms-"));
  const [ours, others] = [join(place, "ours"), join(place, "others")];
  const fill = () => {
    for (const one of [ours, others]) {
      rmSync(one, { recursive: true, force: true });
      keepRun(run(1), join(one, "some.js"));
    }
  };
  fill();
  trimTransforms(ours, 1_000_000);
  expect(readCommitted(join(ours, "some.js"))).not.toEqual({});
  expect(readCommitted(join(others, "some.js"))).toEqual({});
  trimTransforms(ours, 10);
  expect(readCommitted(join(ours, "some.js"))).toEqual({});
});
