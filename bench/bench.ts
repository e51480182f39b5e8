// The shape of a benchmark: it compares with the same work done by hand in the same run, and says which promise it broke.
export interface BenchResult {
  /** What `--json` prints. */
  readonly figures: object;
  /** For people. */
  readonly table: string;
  /** Promises that were not kept; empty is good. */
  readonly shortfalls: readonly string[];
}

export interface Bench {
  readonly name: string;
  readonly sentence: string;
  run(progress: (line: string) => void): Promise<BenchResult>;
}
