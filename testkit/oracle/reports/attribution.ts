// factor_regression, brinson, position_attribution and regime_attribution: where a return came from.
import { z } from "zod";
import * as decimal from "../../../contracts/src/decimal.ts";
import { linkedEffects, sectorEffects } from "../../../reports/metrics/brinson.ts";
import { stateProbabilities } from "../../../reports/metrics/hidden-states.ts";
import {
  contribution,
  type DayProfit,
  dayProfit,
  linkedContributions,
} from "../../../reports/metrics/position-attribution.ts";
import { regimeAttribution, volatilityRegimes } from "../../../reports/metrics/regimes.ts";
import { type Errors, factorFit, holdingsAttribution } from "../../../reports/metrics/regression.ts";
import { numbers, numbersOrNull, probability, type Solver, sameLength, solver } from "./solver.ts";

const errors = ({ errors: se, t }: Errors) => ({ se, t });

const regression = solver(
  {
    y: numbers,
    factors: z.array(numbers),
    factor_names: z.array(z.string()).optional(),
    periods_per_year: z.number().default(252),
  },
  ({ y, factors, factor_names, periods_per_year }) => {
    sameLength({ y, factors });
    const columns = factor_names ?? factors[0] ?? [];
    for (const [row, each] of factors.entries()) sameLength({ factor_names: columns, [`factors[${row}]`]: each });
    const fit = factorFit(y, factors, periods_per_year);
    if ("reason" in fit) return { rank_deficient: fit.rankDeficient, rank_with_const: fit.rank };
    const names = factor_names ?? factors[0]?.map((_factor, index) => `f${index + 1}`) ?? [];
    return {
      rank_deficient: false,
      rank_with_const: fit.coefficients.length,
      params: fit.coefficients,
      ols: errors(fit.plain),
      r2: fit.r2,
      adj_r2: fit.adjustedR2,
      dw: fit.durbinWatson,
      newey_west_lag: fit.lag,
      nw_small_sample: errors(fit.neweyWest),
      nw_small_sample_p_t_dist: fit.p,
      alpha_ann: fit.alphaAnnual,
      contribution_mean_daily: Object.fromEntries(
        ["alpha", ...names].map((name, index) => [name, fit.contributions[index] ?? null]),
      ),
      mean_y: fit.mean,
      contribution_sum: fit.contributions.reduce((total, each) => total + each, 0),
      variance_systematic: fit.varianceSystematic,
      variance_specific: fit.varianceSpecific,
      variance_share_by_factor: fit.varianceShares,
      variance_total: fit.varianceTotal,
    };
  },
);

const holdings = solver(
  {
    weights: z.array(numbers),
    loadings: z.array(numbers),
    factor_returns: z.array(numbers),
    portfolio_returns: numbers,
  },
  ({ weights, loadings, factor_returns, portfolio_returns }) => {
    sameLength({ weights, factor_returns, portfolio_returns });
    for (const [row, each] of weights.entries()) sameLength({ loadings, [`weights[${row}]`]: each });
    const columns = loadings[0] ?? [];
    for (const [row, each] of loadings.entries()) sameLength({ "loadings[0]": columns, [`loadings[${row}]`]: each });
    for (const [row, each] of factor_returns.entries()) {
      sameLength({ "loadings[0]": columns, [`factor_returns[${row}]`]: each });
    }
    const { byFactor, ...rest } = holdingsAttribution(weights, loadings, factor_returns, portfolio_returns);
    return { ...rest, by_factor: byFactor };
  },
);

const sectorShape = { wp: numbers, wb: numbers, rp: numbersOrNull, rb: numbersOrNull };
type Sectors = z.infer<z.ZodObject<typeof sectorShape>>;

function sectorsOf({ wp, wb, rp, rb }: Sectors) {
  sameLength({ wp, wb, rp, rb });
  return {
    portfolioWeights: wp,
    benchmarkWeights: wb,
    portfolioReturns: sectorReturns(rp, wp),
    benchmarkReturns: sectorReturns(rb, wb),
  };
}

/** A sector without weight has no return; one with weight must have one, which is never taken as zero. */
function sectorReturns(returns: readonly (number | null)[], weights: readonly number[]): readonly number[] {
  return returns.map((each, index) => {
    if (each === null && weights[index] !== 0) {
      throw new RangeError(`The sector at place ${index + 1} has a weight and no return. Give its return.`);
    }
    return each ?? 0;
  });
}

const brinsonOne = solver(sectorShape, (inputs) => {
  const found = sectorEffects(sectorsOf(inputs));
  return {
    Rp: found.portfolio,
    Rb: found.benchmark,
    active: found.active,
    allocation_bf: found.allocation,
    selection: found.selection,
    interaction: found.interaction,
    selection_incl_interaction: found.selection.map((each, index) => each + (found.interaction[index] ?? 0)),
    sum_effects: found.sum,
  };
});

const brinsonMany = solver({ periods: z.array(z.object(sectorShape)) }, ({ periods }) => {
  for (const [index, { wp }] of periods.entries()) {
    sameLength({ "periods[0].wp": periods[0]?.wp ?? [], [`periods[${index}].wp`]: wp });
  }
  const found = linkedEffects(periods.map(sectorsOf));
  return {
    Rp: found?.periods.map((each) => each.portfolio) ?? null,
    Rb: found?.periods.map((each) => each.benchmark) ?? null,
    cum_Rp: found?.portfolio ?? null,
    cum_Rb: found?.benchmark ?? null,
    active: found?.active ?? null,
    carino_coefficients: found?.factors ?? null,
    allocation: found?.allocation ?? null,
    selection: found?.selection ?? null,
    interaction: found?.interaction ?? null,
    sum_effects: found?.sum ?? null,
  };
});

const money = z.number().transform((value) => decimal.fromNumber(value));
const plain = decimal.toNumber;

const positions = solver(
  {
    days: z.array(
      z.object({
        nav_open: money,
        positions: z.array(
          z.object({
            symbol: z.string(),
            qty_open: money,
            price_open: money,
            price_close: money,
            fx_open: money,
            fx_close: money,
            trades: z.array(z.object({ qty: money, price: money, fee: money })),
            dividend_local: money,
          }),
        ),
      }),
    ),
  },
  ({ days: given }) => {
    const days = given.map((day) =>
      dayProfit(
        day.nav_open,
        day.positions.map((each) => ({
          symbol: each.symbol,
          openQuantity: each.qty_open,
          openPrice: each.price_open,
          closePrice: each.price_close,
          openRate: each.fx_open,
          closeRate: each.fx_close,
          trades: each.trades.map(({ qty, price, fee }) => ({ quantity: qty, price, fee })),
          income: each.dividend_local,
          multiplier: decimal.one,
        })),
      ),
    );
    const linked = linkedContributions(days);
    return {
      days: days.map(asDay),
      cumulative_return: linked?.total ?? null,
      linked_contribution_by_symbol: linked === null ? null : Object.fromEntries(linked.bySymbol),
      linked_sum: linked?.sum ?? null,
    };
  },
);

const asDay = (day: DayProfit) => ({
  by_symbol: day.positions.map((each) => ({
    symbol: each.symbol,
    price_pnl: plain(each.price),
    fx_pnl: plain(each.currency),
    trading_pnl: plain(each.trading),
    fees: plain(each.fees),
    dividend: plain(each.income),
    total: plain(each.total),
    contribution_return: contribution(each.total, day.openNav),
  })),
  total_pnl: plain(day.total),
  portfolio_return: day.return,
  nav_close: plain(day.closeNav),
});

const terciles = solver(
  {
    market_returns: numbers,
    strategy_returns: numbers,
    vol_window: z.number().int().min(2),
    periods_per_year: z.number().default(252),
  },
  ({ market_returns, strategy_returns, vol_window, periods_per_year }) => {
    sameLength({ market_returns, strategy_returns });
    const { cuts, labels } = volatilityRegimes(market_returns, vol_window, periods_per_year);
    const { byRegime, total, linkedSum } = regimeAttribution(strategy_returns, labels, periods_per_year);
    return {
      tercile_cuts: cuts,
      labels,
      by_regime: Object.fromEntries(
        [...byRegime].map(([regime, each]) => [
          regime,
          {
            days: each.days,
            contribution_linked: each.contribution,
            sum_log_return: each.logReturn,
            mean_daily: each.mean,
            ann_vol: each.volatility,
            sharpe: each.sharpe,
            hit_rate: each.hitRate,
          },
        ]),
      ),
      total_return: total,
      linked_sum: linkedSum,
    };
  },
);

const pair = z.tuple([z.number(), z.number()]);
const deviation = z.number().positive();

const hidden = solver(
  {
    returns: numbers,
    mean: pair,
    std: z.tuple([deviation, deviation]),
    p00: probability,
    p11: probability,
    initial: z.union([z.literal("stationary"), z.tuple([probability, probability])]).default("stationary"),
  },
  ({ returns, mean, std, p00, p11, initial }) => {
    const found = stateProbabilities(returns, {
      means: mean,
      deviations: std,
      stay: [p00, p11],
      ...(initial === "stationary" ? {} : { initial: initial[1] }),
    });
    return {
      loglik: found.logLikelihood,
      filtered_prob_state1: found.filtered,
      smoothed_prob_state1: found.smoothed,
    };
  },
);

export const regressionSolvers: readonly Solver[] = [regression, holdings];
export const brinsonSolvers: readonly Solver[] = [brinsonOne, brinsonMany];
export const positionSolvers: readonly Solver[] = [positions];
export const regimeSolvers: readonly Solver[] = [terciles, hidden];
