// `ctl paper inject skill`: show drift_monitor days of a strategy without skill.
import { injectVerb, strategyOptions } from "../inject-verb.ts";

export const paperInjectSkill = injectVerb(
  "skill",
  "SKILL",
  "Show drift_monitor days of a strategy without skill.",
  strategyOptions,
  " --strategy-id alpha-momentum --z -1.2",
);
