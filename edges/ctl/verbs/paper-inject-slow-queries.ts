// `ctl paper inject slow-queries`: show db_watchdog slow queries.
import { injectVerb } from "../inject-verb.ts";

export const paperInjectSlowQueries = injectVerb(
  "slow-queries",
  "SLOW_QUERIES",
  "Show db_watchdog slow queries.",
  [],
  "",
);
