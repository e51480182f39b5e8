// One file of cases: computes each from its inputs alone, and compares where the file says what it expects.
import { z } from "zod";
import { newsSolvers, positionSolvers, volatilitySolvers } from "./anomalies.ts";
import { isRecord, type Mismatch, mismatches, type Tolerance } from "./compare.ts";
import { profitSolvers } from "./profit.ts";
import { type Solver, solved } from "./reports/solver.ts";
import { evaluate, evaluated } from "./reports.ts";
import { dbSolvers, dependencySolvers, thetaSolvers } from "./services.ts";
import { skillSolvers } from "./skill.ts";
import { vpinSolvers } from "./vpin.ts";

/** The watchdogs' files; those of the reports are evaluated where the reports are. */
const solvers: Readonly<Record<string, readonly Solver[]>> = {
  vpin: vpinSolvers,
  ic_drift: skillSolvers,
  strategy_pnl_30d: profitSolvers,
  news_spike: newsSolvers,
  position_anomaly: positionSolvers,
  realized_vol: volatilitySolvers,
  theta: thetaSolvers,
  dependency_watchdog: dependencySolvers,
  db_watchdog: dbSolvers,
};

export const oracleNames: readonly string[] = [...evaluated, ...Object.keys(solvers)];

const tolerance = z.object({ abs: z.number(), rel: z.number() });
const oracleCase = z.object({
  name: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  expected: z.record(z.string(), z.unknown()).optional(),
  tolerance: tolerance.optional(),
});
export const oracleFile = z.object({
  oracle: z.string(),
  tolerance: tolerance.default({ abs: 1e-9, rel: 1e-9 }),
  cases: z.array(oracleCase),
});
export type OracleFile = z.infer<typeof oracleFile>;
type OracleCase = z.infer<typeof oracleCase>;

export interface CaseResult {
  readonly name: string;
  /** Absent, like the mismatches, where the file expects nothing. */
  readonly passed?: boolean;
  readonly got: unknown;
  readonly mismatches?: readonly Mismatch[];
}

export interface FileResult {
  readonly oracle: string;
  readonly passed: number;
  readonly failed: number;
  readonly cases: readonly CaseResult[];
}

/** The names of oracles and the shapes of inputs are the files' own: what is not known is an error, never a pass. */
export function runOracle(file: OracleFile): FileResult {
  if (!oracleNames.includes(file.oracle)) {
    throw new RangeError(
      `There is no oracle ${JSON.stringify(file.oracle)}. The oracles are ${oracleNames.join(", ")}.`,
    );
  }
  const cases = file.cases.map((each) => runCase(file, each));
  return {
    oracle: file.oracle,
    passed: cases.filter(({ passed }) => passed === true).length,
    failed: cases.filter(({ passed }) => passed === false).length,
    cases,
  };
}

function runCase(file: OracleFile, { name, inputs, expected, tolerance: own }: OracleCase): CaseResult {
  const whole = withTape(file, inputs);
  const got = evaluated.includes(file.oracle) ? evaluate(file.oracle, name, whole) : judged(file.oracle, name, whole);
  if (expected === undefined) return { name, got };
  const missed = mismatches(expected, got, (own ?? file.tolerance) satisfies Tolerance);
  return { name, passed: missed.length === 0, got, mismatches: missed };
}

function judged(oracle: string, name: string, inputs: Readonly<Record<string, unknown>>): unknown {
  return solved(Object.hasOwn(solvers, oracle) ? (solvers[oracle] ?? []) : [], oracle, name, inputs);
}

/** A case may use the tape of another one of its file. */
function withTape(file: OracleFile, inputs: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { same_tape_as: other } = inputs;
  if (other === undefined) return inputs;
  const tape = file.cases.find(({ name }) => name === other)?.inputs;
  if (!isRecord(tape)) throw new RangeError(`There is no case ${JSON.stringify(other)} whose tape could be used.`);
  return { ...tape, ...inputs };
}
