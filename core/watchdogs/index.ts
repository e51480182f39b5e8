// The ten watchdogs. One more is a file beside this one and a line here.
import { dbWatchdog } from "./db-watchdog.ts";
import { dependencyWatchdog } from "./dependency-watchdog.ts";
import { driftMonitor } from "./drift-monitor.ts";
import { newsSpike } from "./news-spike.ts";
import { portfolioVolDd } from "./portfolio-vol-dd.ts";
import { positionAnomaly } from "./position-anomaly.ts";
import { predictiveHealth } from "./predictive-health.ts";
import { strategyWatchdog } from "./strategy-watchdog.ts";
import { thetaWatchdog } from "./theta-watchdog.ts";
import { vpin } from "./vpin.ts";

export const watchdogsByName = {
  predictive_health: predictiveHealth,
  drift_monitor: driftMonitor,
  vpin,
  news_spike: newsSpike,
  position_anomaly: positionAnomaly,
  db_watchdog: dbWatchdog,
  strategy_watchdog: strategyWatchdog,
  theta_watchdog: thetaWatchdog,
  dependency_watchdog: dependencyWatchdog,
  portfolio_vol_dd: portfolioVolDd,
} as const;

export const watchdogs = Object.values(watchdogsByName);
