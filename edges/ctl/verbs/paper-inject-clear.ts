// `ctl paper inject clear`: end everything that was injected, and what it opened.
import { injectVerb } from "../inject-verb.ts";

export const paperInjectClear = injectVerb(
  "clear",
  "CLEAR",
  "End everything that was injected, and what it opened.",
  [],
  "",
);
