// The figures of the reports against files of expected ones: one pure function from a file's name, a case's name and its inputs to figures under the
// file's names. Reports compute with the same functions.
import { brinsonSolvers, positionSolvers, regimeSolvers, regressionSolvers } from "./reports/attribution.ts";
import { decaySolvers } from "./reports/decay.ts";
import { navSolvers } from "./reports/nav.ts";
import { performanceSolvers } from "./reports/performance.ts";
import { postMortemSolvers, riskSolvers } from "./reports/risk.ts";
import { type Solver, solved } from "./reports/solver.ts";
import { specialFunctions } from "./reports/special-functions.ts";
import { lotSolvers, settlementSolvers, tcaSolvers } from "./reports/trades.ts";

const solvers: Readonly<Record<string, readonly Solver[]>> = {
  special_functions: specialFunctions,
  nav_envelope: navSolvers,
  performance_metrics: performanceSolvers,
  trade_lots: lotSolvers,
  tca: tcaSolvers,
  settlement: settlementSolvers,
  risk_envelope: riskSolvers,
  alpha_decay: decaySolvers,
  regime_attribution: regimeSolvers,
  factor_regression: regressionSolvers,
  brinson: brinsonSolvers,
  position_attribution: positionSolvers,
  postmortem_rca: postMortemSolvers,
};

export const evaluated: readonly string[] = Object.keys(solvers);

export function evaluate(oracle: string, caseName: string, inputs: object): object {
  const known = Object.hasOwn(solvers, oracle) ? solvers[oracle] : undefined;
  if (known === undefined) {
    throw new RangeError(`There is no oracle ${JSON.stringify(oracle)} here. There are ${evaluated.join(", ")}.`);
  }
  return solved(known, oracle, caseName, inputs);
}
