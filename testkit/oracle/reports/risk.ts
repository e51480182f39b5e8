// risk_envelope and postmortem_rca: what may be lost, whether past limits held, when a fall began and what it was made of.
import { z } from "zod";
import * as decimal from "../../../contracts/src/decimal.ts";
import { onset, waterfall } from "../../../reports/metrics/post-mortem.ts";
import { portfolioRisk, varBacktest } from "../../../reports/metrics/value-at-risk.ts";
import { level, numbers, type Solver, sameLength, solver } from "./solver.ts";

const portfolio = solver({ returns: z.array(numbers), weights: numbers }, ({ returns, weights }) => {
  for (const [day, row] of returns.entries()) sameLength({ weights, [`returns[${day}]`]: row });
  const risk = portfolioRisk(returns, weights, 0.99);
  return {
    portfolio_std: risk?.deviation ?? null,
    var99_param_zero_mean: risk?.parametricVar ?? null,
    component_var99: risk?.components ?? null,
    component_sum: risk?.components?.reduce((total, each) => total + each, 0) ?? null,
    marginal_var99: risk?.marginals ?? null,
    var99_hist_loss: risk?.historicalVar ?? null,
    es99_hist_loss: risk?.historicalShortfall ?? null,
    es975_param_zero_mean: risk?.parametricShortfall ?? null,
    cornish_fisher_z: risk?.cornishFisherQuantile ?? null,
    var99_cornish_fisher_loss: risk?.cornishFisherVar ?? null,
    gross: risk?.gross ?? null,
    net: risk?.net ?? null,
    diversification_ratio: risk?.diversificationRatio ?? null,
    hhi: risk?.concentration ?? null,
  };
});

const backtest = solver(
  { exceedance: z.array(z.union([z.number(), z.boolean()])), var_level: level },
  ({ exceedance, var_level }) => {
    const found = varBacktest(
      exceedance.map((each) => Number(each) > 0),
      var_level,
    );
    return {
      exceptions: found?.exceptions ?? null,
      kupiec_lr: found?.kupiec ?? null,
      kupiec_p: found?.kupiecP ?? null,
      christoffersen_ind_lr: found?.independence ?? null,
      christoffersen_ind_p: found?.independenceP ?? null,
      conditional_coverage_lr: found?.coverage ?? null,
      conditional_coverage_p: found?.coverageP ?? null,
      basel_zone: found?.zone ?? null,
    };
  },
);

const cusum = solver(
  {
    standardized_pnl: numbers,
    k: z.number().nonnegative(),
    h: z.number().nonnegative(),
    side: z.enum(["low", "high"]).default("low"),
  },
  ({ standardized_pnl, k, h, side }) => {
    const found = onset(standardized_pnl, k, h, side);
    return { cusum: found.sums, alarm_index: found.alarm, estimated_onset_index: found.onset };
  },
);

const loss = solver(
  {
    actual_pnl: z.number(),
    components: z.record(z.string(), z.number()),
    unexplained_tolerance_fraction: z.number().nonnegative(),
  },
  ({ actual_pnl, components, unexplained_tolerance_fraction }) => {
    const parts = new Map(Object.entries(components).map(([name, amount]) => [name, decimal.fromNumber(amount)]));
    const found = waterfall(decimal.fromNumber(actual_pnl), parts, unexplained_tolerance_fraction);
    return {
      explained: decimal.toNumber(found.explained),
      unexplained: decimal.toNumber(found.unexplained),
      unexplained_fraction: found.unexplainedFraction,
      unexplained_ok: found.accepted,
      ranked: found.ranked,
      share_of_gross_loss: Object.fromEntries(found.shareOfLoss),
    };
  },
);

export const riskSolvers: readonly Solver[] = [portfolio, backtest];
export const postMortemSolvers: readonly Solver[] = [cusum, loss];
