// Holds what was computed against what a file expects. A figure that is expected and was not computed is a miss, unless it is one of the
// variants that nobody decides by.
export interface Tolerance {
  readonly abs: number;
  readonly rel: number;
}

export interface Mismatch {
  readonly path: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** Other definitions and tables that stand in the files beside the ones that are used. */
const optional: ReadonlySet<string> = new Set([
  "pearson",
  "pearson_ic",
  "kendall_tau_b",
  "skew_biased_g1",
  "kurt_excess_biased_g2",
  "lower_normal_no_param_uncertainty",
  "upper_normal_no_param_uncertainty",
  "z_simple_known_mean",
  "z_welch",
  "zero_mean_vol",
  "historical_overlapping_horizons",
  "historical_overlapping_q005_q995_logret",
  "empirical_lower",
  "empirical_upper",
  "outside_empirical",
  "expected_vpin",
]);
/** Other libraries' definitions, which the reports' files carry beside ours to tell them apart. */
const foreign = /quantstats|empyrical|no_correction|white|bhb/;

/**
 * Student's quantiles in the files come from a search that ends at a relative 1e-8, and are off by up to 4.6e-9 where others are exact. Ours are held
 * to 1e-12 by closed forms in oracle.test.ts.
 */
const searched: ReadonlySet<string> = new Set(["t_ppf", "t_crit"]);
const searchedRel = 1e-8;

export function mismatches(expected: unknown, got: unknown, tolerance: Tolerance, path = ""): readonly Mismatch[] {
  if (Array.isArray(expected)) return ofArray(expected, got, tolerance, path);
  if (isRecord(expected)) return ofRecord(expected, got, tolerance, path);
  return isSame(expected, got, tolerance) ? [] : [{ path, expected, got: got ?? null }];
}

function ofArray(expected: readonly unknown[], got: unknown, tolerance: Tolerance, path: string): readonly Mismatch[] {
  if (!Array.isArray(got)) return [{ path, expected, got: got ?? null }];
  const found = expected.flatMap((each, index) => mismatches(each, got[index], tolerance, `${path}[${index}]`));
  if (got.length === expected.length) return found;
  return [{ path: `${path}.length`, expected: expected.length, got: got.length }, ...found];
}

function ofRecord(
  expected: Readonly<Record<string, unknown>>,
  got: unknown,
  tolerance: Tolerance,
  path: string,
): readonly Mismatch[] {
  if (!isRecord(got)) return [{ path, expected, got: got ?? null }];
  return Object.entries(expected).flatMap(([name, each]) => {
    if (!Object.hasOwn(got, name) && (optional.has(name) || foreign.test(name))) return [];
    const own = searched.has(name) ? { ...tolerance, rel: Math.max(tolerance.rel, searchedRel) } : tolerance;
    return mismatches(each, got[name], own, path === "" ? name : `${path}.${name}`);
  });
}

function isSame(expected: unknown, got: unknown, { abs, rel }: Tolerance): boolean {
  if (typeof expected !== "number" || typeof got !== "number") return expected === got;
  return Math.abs(got - expected) <= abs + rel * Math.abs(expected);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
