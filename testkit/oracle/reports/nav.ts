// nav_envelope: a NAV against the band of its backtest, and a NAV with its flows taken out.
import { z } from "zod";
import { navBand, unitNav } from "../../../reports/metrics/nav.ts";
import { firstOrNull, level, numbers, type Solver, sameLength, solver } from "./solver.ts";

const envelope = solver(
  { backtest_log_returns: numbers, nav: numbers, nav0: z.number().positive(), confidence: level },
  ({ backtest_log_returns, nav, nav0, confidence }) => {
    const band = navBand(backtest_log_returns, nav, nav0, confidence);
    if (band === null) return { mu: null, sigma_ddof1: null, t_crit: null };
    return {
      mu: band.mean,
      sigma_ddof1: band.deviation,
      t_crit: band.criticalValue,
      lower: band.lower,
      upper: band.upper,
      standardized_deviation: band.deviations,
      breach_days_1based: band.breaches,
      first_breach_day: firstOrNull(band.breaches),
    };
  },
);

const flows = solver(
  { nav_end_of_day: numbers, external_flow_end_of_day: numbers },
  ({ nav_end_of_day, external_flow_end_of_day }) => {
    sameLength({ nav_end_of_day, external_flow_end_of_day });
    const empty = nav_end_of_day.slice(0, -1).findIndex((nav) => !(nav > 0));
    if (empty !== -1) {
      throw new RangeError(`nav_end_of_day.${empty} is ${nav_end_of_day[empty]}: the day after it has no return.`);
    }
    const { returns, levels, twr } = unitNav(nav_end_of_day, external_flow_end_of_day);
    return { daily_return: returns, unit_nav_base_100: levels, twr };
  },
);

export const navSolvers: readonly Solver[] = [envelope, flows];
