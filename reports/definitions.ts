// Every figure of a report with its definition: the one list from which metrics, tooltips and docs/reports.md are made. A figure that is not here cannot
// be in a document.
import type { Metric } from "./document.ts";

interface Definition {
  readonly name: string;
  readonly unit: Metric["unit"];
  /** As it is printed beside the figure. */
  readonly formula: string;
  /** Whether the number of periods in a year, or the riskless rate, is in it. */
  readonly uses: readonly ("periods_per_year" | "rf_annual")[];
}

const define = (name: string, unit: Metric["unit"], formula: string, uses: Definition["uses"] = []): Definition => ({
  name,
  unit,
  formula,
  uses,
});
const yearly = ["periods_per_year"] as const;
const excess = ["periods_per_year", "rf_annual"] as const;

export const definitions = {
  opening_nav: define("Opening NAV", "money", "NAV at the end of the day before the period"),
  closing_nav: define("Closing NAV", "money", "NAV at the end of the last day of the period"),
  profit: define("Profit or loss", "money", "closing NAV - opening NAV - flows"),
  net_flows: define("Flows", "money", "deposits - withdrawals in the period"),
  fees: define("Fees", "money", "broker's and borrow fees of the period"),
  order_fees: define(
    "Fees of the orders",
    "money",
    "brokers' fees of the fills of the costed orders, part of the shortfall",
  ),
  twr: define("Time-weighted return", "fraction", "prod(1 + r_t) - 1, r_t = (NAV_t - flow_t) / NAV_(t-1) - 1"),
  mwr: define(
    "Money-weighted return",
    "fraction",
    "the rate at which opening NAV and flows grow to closing NAV, over the period (not annualised)",
  ),
  modified_dietz: define(
    "Modified Dietz return",
    "fraction",
    "profit / (opening NAV + sum of flows x share of the period left)",
  ),
  cagr: define("Growth per year", "per_year", "(1 + TWR)^(P / n) - 1, from a year on", yearly),
  volatility: define("Volatility", "per_year", "sd(r), n - 1, x sqrt(P)", yearly),
  sharpe: define("Sharpe ratio", "ratio", "mean(x) / sd(x) x sqrt(P), x = r - ((1 + rf)^(1/P) - 1)", excess),
  probabilistic_sharpe: define(
    "Probability that Sharpe > 0",
    "fraction",
    "Phi(SR / sqrt((1 - g3 SR + (g4 - 1)/4 SR^2) / (n - 1))), SR per period, g3, g4 of the population",
    excess,
  ),
  sortino: define("Sortino ratio", "ratio", "mean(x) / sqrt(mean(min(x, 0)^2)) x sqrt(P), over all n", excess),
  max_drawdown: define("Largest drawdown", "fraction", "min(level / highest level so far - 1), the start included"),
  calmar: define("Calmar ratio", "ratio", "growth per year / |largest drawdown|, from a year on", yearly),
  ulcer_index: define("Ulcer index", "fraction", "sqrt(mean(drawdown^2))"),
  var_95: define("Value at risk 95 %", "fraction", "historical: the type-7 quantile of r at 5 %"),
  cvar_95: define("Expected shortfall 95 %", "fraction", "mean of r at or below the historical VaR"),
  skewness: define("Skewness", "ratio", "G1, adjusted"),
  excess_kurtosis: define("Excess kurtosis", "ratio", "G2, adjusted"),
  best_day: define("Best day", "fraction", "max(r)"),
  worst_day: define("Worst day", "fraction", "min(r)"),
  win_rate_days: define("Winning days", "fraction", "days with r > 0 / days with r != 0"),
  tail_ratio: define("Tail ratio", "ratio", "|quantile 95 % / quantile 5 %|"),
  beta: define("Beta", "ratio", "cov(r, b) / var(b)"),
  alpha: define("Alpha", "per_year", "(mean(r) - beta x mean(b)) x P, from a year on", yearly),
  correlation: define("Correlation with the benchmark", "ratio", "Pearson's, of daily returns"),
  tracking_error: define("Tracking error", "per_year", "sd(r - b) x sqrt(P)", yearly),
  information_ratio: define("Information ratio", "ratio", "mean(r - b) / sd(r - b) x sqrt(P)", yearly),
  benchmark_return: define("Benchmark's return", "fraction", "prod(1 + b_t) - 1 over the same days"),
  trades: define("Closed lots", "count", "lots whose closing trade lies in the period"),
  realised_net: define("Realised, net", "money", "sum over closed lots of gross - fees of both sides"),
  trade_win_rate: define("Winning lots", "fraction", "lots with net > 0 / lots"),
  profit_factor: define("Profit factor", "ratio", "sum of winning nets / |sum of losing nets|"),
  expectancy: define("Expectancy", "money", "realised net / lots"),
  average_win: define("Average win", "money", "mean net of winning lots"),
  average_loss: define("Average loss", "money", "mean net of losing lots"),
  payoff: define("Payoff", "ratio", "average win / |average loss|"),
  largest_win: define("Largest win", "money", "largest net above 0"),
  largest_loss: define("Largest loss", "money", "smallest net below 0"),
  longest_win_streak: define("Longest run of wins", "count", "consecutive winning lots, by closing time"),
  longest_loss_streak: define("Longest run of losses", "count", "consecutive losing lots, by closing time"),
  holding_days_median: define("Median holding time", "days", "median of closing date - opening date"),
  turnover: define("Turnover", "ratio", "sum of |quantity x price| of the period's fills / mean NAV"),
  settling_trades: define("Trades", "count", "trades whose date lies in the year"),
  settled_cash: define(
    "Settled cash",
    "money",
    "net cash, fees included, of the year's trades whose settlement date has come",
  ),
  pending_cash: define("Pending cash", "money", "net cash of trades whose settlement date lies after as_of"),
  short_term_net: define(
    "Realised short-term",
    "money",
    "net of lots held a year or less, by the closing trade's date",
  ),
  long_term_net: define(
    "Realised long-term",
    "money",
    "net of long lots held more than a year (from the day after the purchase)",
  ),
  wash_sale_flags: define(
    "Wash-sale flags",
    "count",
    "lots with a loss whose symbol was bought within 30 days of the sale",
  ),
  sold_before_settled: define(
    "Sold before settled",
    "count",
    "lots whose sale's date lies before their purchase's settlement date",
  ),
  attributed_profit: define("Attributed", "money", "sum over days and positions of price + trading - fees + income"),
  price_effect: define("Price moves", "money", "sum of quantity at the open x (close - close of the day before)"),
  trading_effect: define("Trading", "money", "sum of signed traded quantity x (close - trade's price)"),
  fee_effect: define("Fees of trades", "money", "- sum of the fills' fees"),
  income_effect: define("Income and borrow", "money", "dividends - what borrowing cost"),
  linked_sum: define(
    "Sum of linked contributions",
    "fraction",
    "sum of c_it x k_t / K, c = profit / NAV_(t-1), k = ln(1 + r) / r (Carino); equals the return",
  ),
  concentration: define(
    "Concentration",
    "ratio",
    "sum of (|value| / gross)^2 of what is held on the last day (Herfindahl)",
  ),
  regime_linked_sum: define(
    "Sum of the regimes' contributions",
    "fraction",
    "sum over regimes of r_t x k_t / K (Carino); equals the return",
  ),
  labelled_days: define("Days with a label", "count", "days with 20 market returns before them"),
  cut_low: define("Calm up to", "per_year", "first tercile of the market's volatility of 20 days", yearly),
  cut_high: define("Turbulent from", "per_year", "second tercile of the market's volatility of 20 days", yearly),
  factor_days: define("Days with every factor", "count", "days on which the fund and all factors have a return"),
  factor_alpha: define("Alpha of a day", "fraction", "the constant a of r = a + F b, not annualised"),
  factor_r2: define("R2", "fraction", "1 - sum of squared residuals / sum of squared deviations of r"),
  factor_adjusted_r2: define("R2, adjusted", "fraction", "R2 with (n - 1) / (n - k - 1)"),
  durbin_watson: define(
    "Durbin and Watson",
    "ratio",
    "sum of squared differences of neighbouring residuals / sum of their squares",
  ),
  factor_common: define("Common return", "fraction", "sum over days of exposure at the open x factor's return"),
  factor_specific: define("Specific return", "fraction", "sum over days of r - common return"),
  brinson_active: define(
    "Active return",
    "fraction",
    "the fund's return - that of its universe in equal weights, over the same days",
  ),
  brinson_effects: define(
    "Sum of Brinson's effects",
    "fraction",
    "linked allocation + selection + interaction + trading; equals the active return",
  ),
  gross_exposure: define("Gross exposure", "fraction", "sum of |value| / NAV of what is held, options left out"),
  net_exposure: define("Net exposure", "fraction", "sum of value / NAV of what is held, options left out"),
  var_historical_95: define(
    "VaR 95 %, historical",
    "fraction",
    "- type-7 quantile at 5 % of past days of what is held now",
  ),
  var_parametric_95: define("VaR 95 %, parametric", "fraction", "z(95 %) x sqrt(w' S w), normal, mean zero"),
  var_cornish_fisher_95: define(
    "VaR 95 %, Cornish and Fisher",
    "fraction",
    "the normal quantile corrected for skewness and tails",
  ),
  var_historical_99: define(
    "VaR 99 %, historical",
    "fraction",
    "- type-7 quantile at 1 % of past days of what is held now",
  ),
  var_parametric_99: define("VaR 99 %, parametric", "fraction", "z(99 %) x sqrt(w' S w), normal, mean zero"),
  var_cornish_fisher_99: define(
    "VaR 99 %, Cornish and Fisher",
    "fraction",
    "the normal quantile corrected for skewness and tails",
  ),
  shortfall_975: define("Expected shortfall 97.5 %", "fraction", "deviation x density(z) / 2.5 %, normal, mean zero"),
  component_var_sum: define(
    "Sum of component VaRs",
    "fraction",
    "sum of w_i (S w)_i / deviation x z(99 %); equals the parametric VaR",
  ),
  diversification_ratio: define("Diversification ratio", "ratio", "sum of |w_i| deviation_i / deviation of the whole"),
  var_exceptions: define(
    "Days beyond the VaR",
    "count",
    "days with r below the historical VaR of 99 % of the 100 days before",
  ),
  kupiec_p: define(
    "Kupiec's p",
    "fraction",
    "probability of so many exceptions or a stranger number, were the VaR right",
  ),
  ic_mean: define(
    "IC, mean",
    "ratio",
    "mean over days of the rank correlation of signal and next day's return (backtest)",
  ),
  ic_deviation: define("IC, deviation", "ratio", "sd of the daily IC, n - 1"),
  ic_ratio: define("IC ratio", "ratio", "mean IC / its deviation"),
  ic_t: define("IC, t", "ratio", "mean IC / its error (Newey and West)"),
  half_life_days: define("Half-life", "days", "ln 2 / rate, ln IC(h) = ln IC(0) - rate x h over horizons with IC > 0"),
  signal_turnover: define(
    "Turnover of the signal",
    "fraction",
    "share of the better half that was not in it the day before",
  ),
  live_ic_mean: define(
    "Live IC, mean",
    "ratio",
    "mean over moments of the rank correlation of signal and realised return",
  ),
  live_ic_deviation: define("Live IC, deviation", "ratio", "sd over moments, n - 1"),
  orders: define("Orders", "count", "orders that were made in the period, whatever became of them"),
  orders_denied: define("Denied orders", "count", "orders that the gates denied"),
  orders_unfilled: define("Unfilled orders", "count", "approved orders without a fill"),
  orders_costed: define("Orders with a cost", "count", "orders whose quotes at making and routing were kept"),
  fill_rate: define("Fill rate", "fraction", "mean over orders of filled / asked quantity; denied orders count as 0"),
  shortfall: define(
    "Implementation shortfall",
    "money",
    "delay s(Pa - Pd)f + execution s(avg - Pa)f + opportunity s(Pe - Pd)(Q - f) + fees; above 0 is a cost",
  ),
  shortfall_bps: define("Shortfall, basis points", "ratio", "shortfall / sum of Q x Pd x 10,000"),
  arrival_slippage_bps: define(
    "Arrival slippage, basis points",
    "ratio",
    "s(avg - Pa) / Pa x 10,000, weighted by f x Pa",
  ),
  arrival_slippage_median_bps: define("Arrival slippage, median", "ratio", "median over filled orders, basis points"),
  arrival_slippage_error_bps: define(
    "Arrival slippage, error",
    "ratio",
    "sd over filled orders / sqrt(n), basis points",
  ),
  effective_spread_bps: define(
    "Effective spread, basis points",
    "ratio",
    "2s(P - mid at the fill) / that mid x 10,000, weighted by the quantity of each order's fills, then by f x Pa over orders",
  ),
  realised_spread_bps: define(
    "Realised spread after 300 s, basis points",
    "ratio",
    "2s(P - mid 300 seconds after the fill) / mid at the fill x 10,000, weighted as the effective spread",
  ),
  fall: define("Profit or loss of the fall", "money", "closing NAV - opening NAV - flows"),
  fall_explained: define("Explained", "money", "sum of the waterfall's parts"),
  fall_unexplained: define("UNEXPLAINED", "money", "profit or loss - sum of the parts"),
  fall_unexplained_share: define(
    "UNEXPLAINED, share",
    "fraction",
    "|unexplained| / |profit or loss|; above 5 % the report failed",
  ),
  time_to_detect: define("Time to detect", "seconds", "first notice in the audit log at or after the onset - onset"),
  time_to_respond: define("Time to respond", "seconds", "first act in the audit log at or after the onset - onset"),
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricId = keyof typeof definitions;
