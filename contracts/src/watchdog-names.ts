// The watchdogs' names alone, for whoever lists them and validates nothing: the command line's start loads no schema library.

export const watchdogNames = [
  "predictive_health",
  "drift_monitor",
  "vpin",
  "news_spike",
  "position_anomaly",
  "db_watchdog",
  "strategy_watchdog",
  "theta_watchdog",
  "dependency_watchdog",
  "portfolio_vol_dd",
] as const;
