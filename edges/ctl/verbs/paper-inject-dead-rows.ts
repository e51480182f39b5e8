// `ctl paper inject dead-rows`: leave dead rows in a table that nobody reads, for db_watchdog.
import { injectVerb } from "../inject-verb.ts";

export const paperInjectDeadRows = injectVerb(
  "dead-rows",
  "DEAD_ROWS",
  "Leave dead rows in a table that nobody reads, for db_watchdog.",
  [],
  "",
);
