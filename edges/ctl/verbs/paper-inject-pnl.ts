// `ctl paper inject pnl`: show strategy_watchdog days of a strategy's profit or loss.
import { injectVerb, strategyOptions } from "../inject-verb.ts";

export const paperInjectPnl = injectVerb(
  "pnl",
  "PNL",
  "Show strategy_watchdog days of a strategy's profit or loss.",
  strategyOptions,
  " --strategy-id alpha-momentum --z -3",
);
