// The statistics against figures that others computed, file by file, and the program that compares.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { normalQuantile, studentQuantile } from "../../core/stats/distributions.ts";
import { mismatches } from "./compare.ts";
import { main } from "./main.ts";
import { evaluate, evaluated } from "./reports.ts";
import { type OracleFile, oracleFile, oracleNames, runOracle } from "./run-oracle.ts";

const fixtures = join(dirname(fileURLToPath(import.meta.url)), "fixtures");
const read = (name: string): OracleFile =>
  oracleFile.parse(JSON.parse(readFileSync(join(fixtures, `${name}.json`), "utf8")));

describe.each(oracleNames)("%s", (name) => {
  it("agrees in every case", () => {
    const missed = runOracle(read(name)).cases.flatMap((each) => (each.mismatches ?? []).map(({ path }) => path));
    expect(missed).toEqual([]);
  });

  it("needs no more than the inputs", () => {
    const file = read(name);
    const bare = { ...file, cases: file.cases.map(({ expected: _unused, ...rest }) => rest) };
    const { cases, passed, failed } = runOracle(bare);
    expect([passed, failed]).toEqual([0, 0]);
    expect(cases).toEqual(runOracle(file).cases.map(({ name: caseName, got }) => ({ name: caseName, got })));
  });
});

/** The one name that two cases of one shape share, which only the case's name can tell apart. */
const named = (name: string, caseName: string): boolean => name === "alpha_decay" && caseName.includes("nls");

it.each(oracleNames)(
  "takes %s from the inputs, whatever the case is called and in whatever order its keys come",
  (name) => {
    const file = read(name);
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, each]) => [key, turned(each)]),
      );
    };
    const cases = file.cases.map(({ inputs, ...rest }, index) => ({
      ...rest,
      name: named(name, rest.name) ? rest.name : String(index),
      inputs: turned({ ...inputs, same_tape_as: undefined, ...tapeOf(file, inputs) }) as typeof inputs,
    }));
    const missed = runOracle({ ...file, cases }).cases.flatMap((each) =>
      (each.mismatches ?? []).map(({ path }) => path),
    );
    expect(missed).toEqual([]);
  },
);

const tapeOf = ({ cases }: OracleFile, { same_tape_as: other, ...inputs }: OracleFile["cases"][number]["inputs"]) => ({
  ...cases.find((each) => each.name === other)?.inputs,
  ...inputs,
});

it("has a fixture for every oracle, and one of edges for every report's", () => {
  const files = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".json"));
  expect(files(fixtures).sort()).toEqual(oracleNames.map((name) => `${name}.json`).sort());
  expect(files(join(fixtures, "edges")).sort()).toEqual(evaluated.map((name) => `${name}.json`).sort());
});

it.each(evaluated)("agrees at the edges of %s: none, one, ties, no movement, other sizes and magnitudes", (name) => {
  const { cases } = runOracle(read(`edges/${name}`));
  expect(cases.flatMap((each) => (each.mismatches ?? []).map(({ path }) => `${each.name} ${path}`))).toEqual([]);
});

it("knows the normal quantile as far out as there are probabilities", () => {
  expect(normalQuantile(1e-300)).toBeCloseTo(-37.047_096_299_361_2, 10);
});

/**
 * The file's own figures are off by more than its tolerance in three places: with 2 degrees of freedom the quantile is (2p - 1) / sqrt(2p (1 - p)), which
 * is 6.964556734283274 at 0.99 and not 6.964556718755855. The comparison allows the files 1e-8 there; ours are held against the exact ones.
 */
it("knows Student's quantiles exactly where there is a closed form", () => {
  for (const p of [0.6, 0.9, 0.95, 0.99, 0.995, 0.9999]) {
    expect(Math.abs(studentQuantile(p, 2) / ((2 * p - 1) / Math.sqrt(2 * p * (1 - p))) - 1), `2, ${p}`).toBeLessThan(
      1e-12,
    );
    expect(Math.abs(studentQuantile(p, 1) / Math.tan(Math.PI * (p - 0.5)) - 1), `1, ${p}`).toBeLessThan(1e-12);
    const t = studentQuantile(p, 4);
    const s = 1 + (t * t) / 4;
    expect(Math.abs(0.5 + (3 / 8) * (t / Math.sqrt(s)) * (1 - (t * t) / (12 * s)) - p), `4, ${p}`).toBeLessThan(1e-14);
  }
});

describe("the comparison", () => {
  const tight = { abs: 1e-9, rel: 1e-9 };
  it("names the path of what differs, and takes null, infinities and lengths seriously", () => {
    expect(mismatches({ a: [1, { b: 2 }] }, { a: [1, { b: 2.1 }] }, tight)).toEqual([
      { path: "a[1].b", expected: 2, got: 2.1 },
    ]);
    expect(mismatches({ a: null }, { a: 0 }, tight)).toHaveLength(1);
    expect(mismatches({ a: 0 }, { a: null }, tight)).toHaveLength(1);
    expect(mismatches({ a: "Infinity" }, { a: 1e300 }, tight)).toHaveLength(1);
    expect(mismatches({ a: [1] }, { a: [1, 2] }, tight)).toEqual([{ path: "a.length", expected: 1, got: 2 }]);
    expect(mismatches({ a: 1 }, { a: 1 + 1.9e-9 }, tight)).toEqual([]);
    expect(mismatches({ a: 1 }, { a: 1 + 2.1e-9 }, tight)).toHaveLength(1);
  });
  it("allows Student's quantiles of the files what their search leaves, and nothing else so much", () => {
    expect(mismatches({ t_ppf: [[2]] }, { t_ppf: [[2 + 1.5e-8]] }, tight)).toEqual([]);
    expect(mismatches({ t_ppf: [[2]] }, { t_ppf: [[2 + 2.5e-8]] }, tight)).toHaveLength(1);
    expect(mismatches({ t_cdf: [[2]] }, { t_cdf: [[2 + 1.5e-8]] }, tight)).toHaveLength(1);
  });
  it("misses a figure that is not there, unless nobody decides by it", () => {
    expect(mismatches({ z_welch: 1, drift_zscore: 2 }, {}, tight)).toEqual([
      { path: "drift_zscore", expected: 2, got: null },
    ]);
    expect(mismatches({ z_welch: 1 }, { z_welch: 2 }, tight)).toHaveLength(1);
  });
});

describe("inputs that do not fit", () => {
  const returns = { dates: ["2026-03-02", "2026-03-03"], returns: [0.01, -0.01], rf_annual: 0, periods_per_year: 252 };
  const performance = (change: object) => () => evaluate("performance_metrics", "two days", { ...returns, ...change });
  it("are refused with the place and the case, not taken as those of a smaller shape", () => {
    expect(performance({ returns: [0.01, null] })).toThrow(
      /"two days" of performance_metrics do not fit: returns\.1: .*null/,
    );
    expect(performance({ returns: [0.01, "0.02"] })).toThrow(/returns\.1: .*string/);
    expect(performance({ dates: ["2026-03-02", "2026-02-30"] })).toThrow(/dates\.1/);
    expect(performance({ returns: "none" })).toThrow(/returns: .*string/);
    expect(performance({ periods_per_year: 0 })).toThrow(/periods_per_year/);
    // Without degrees of freedom these would be the inputs of a normal distribution.
    expect(() => evaluate("special_functions", "student_t", { df: null, p: [0.5], x: [0] })).toThrow(/df: .*null/);
    expect(() => evaluate("special_functions", "chi2", { df: [-1], p: [0.5], x: [1] })).toThrow(/more than 0 degrees/);
  });
  it("are refused when rows that belong together differ in length", () => {
    expect(performance({ dates: [] })).toThrow("dates has 0 values and returns has 2.");
    expect(performance({ benchmark: [0.01] })).toThrow("benchmark has 1.");
    const sector = { wp: [1], wb: [1], rp: [0.01], rb: [0.01, 0.02] };
    expect(() => evaluate("brinson", "one", sector)).toThrow("wp has 1 values and rb has 2.");
    const days = { nav_end_of_day: [100, 101], external_flow_end_of_day: [0] };
    expect(() => evaluate("nav_envelope", "flows", days)).toThrow("external_flow_end_of_day has 1.");
  });
  it("are refused where a day would have no return", () => {
    const days = { nav_end_of_day: [100, 0, 50], external_flow_end_of_day: [0, -100, 50] };
    expect(() => evaluate("nav_envelope", "flows", days)).toThrow(
      "nav_end_of_day.1 is 0: the day after it has no return.",
    );
  });
  it("differ from what is merely empty, which has null figures", () => {
    expect(performance({ dates: [], returns: [] })()).toMatchObject({
      total_return: null,
      sharpe: null,
      monthly_returns: [],
    });
    expect(() => evaluate("performance_metrics", "other", { prices: [] })).toThrow("have no known shape: prices.");
    expect(() => evaluate("toString", "any", {})).toThrow('There is no oracle "toString" here.');
  });
});

describe("npm run oracle", () => {
  let folder: string;
  let out: string;
  let complaint: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "oracle-"));
    [out, complaint] = ["", ""];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      out += String(text);
      return true;
    });
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      complaint += String(text);
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });
  const written = (value: unknown): string => {
    const path = join(folder, "file.json");
    writeFileSync(path, JSON.stringify(value));
    return path;
  };

  it("prints one object, and exits 1 on a miss", async () => {
    const theta = join(fixtures, "theta.json");
    expect(await main([theta, "--json"])).toBe(0);
    const { files } = JSON.parse(out) as { files: { oracle: string; passed: number; failed: number }[] };
    expect(files).toMatchObject([{ oracle: "theta", passed: 2, failed: 0 }]);
    out = "";
    const cases = [
      { name: "a", inputs: { base_ms: 1, cap_ms: 4, attempts: 4 }, expected: { max_delay_ms: [1, 2, 4, 8] } },
    ];
    expect(await main([written({ oracle: "dependency_watchdog", cases }), "--json"])).toBe(1);
    expect(JSON.parse(out)).toEqual({
      files: [
        {
          oracle: "dependency_watchdog",
          passed: 0,
          failed: 1,
          cases: [
            {
              name: "a",
              passed: false,
              got: { max_delay_ms: [1, 2, 4, 4] },
              mismatches: [{ path: "max_delay_ms[3]", expected: 8, got: 4 }],
            },
          ],
        },
      ],
    });
  });

  it("exits 2 on what it cannot read, does not know or was not asked", async () => {
    expect(await main([])).toBe(2);
    expect(await main(["--nonesuch"])).toBe(2);
    expect(await main([join(folder, "missing.json")])).toBe(2);
    expect(await main([written({ oracle: "nonesuch", cases: [] })])).toBe(2);
    expect(complaint).toContain('There is no oracle "nonesuch"');
    expect(await main([written({ oracle: "theta", cases: [{ name: "a", inputs: { b: 1 } }] })])).toBe(2);
    expect(complaint).toContain("have no known shape: b");
  });
});
