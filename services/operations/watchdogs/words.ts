// What people read about a watchdog's change: what it is about, what was measured, and what was done.
import type { WatchdogName } from "../../../contracts/src/records/values.ts";
import type { Effect, Judgement, NullReason, RestrictionKind } from "../../../core/watchdogs/watchdog.ts";
import type { WatchedScope } from "../../../ports/watchdog-records.ts";

/** "AAPL in alpha", "alpha-momentum", "the firm". */
export function aboutWords({ fundId, strategyId, symbol }: WatchedScope): string {
  if (symbol !== undefined && strategyId !== undefined) return `${symbol} in ${strategyId}`;
  if (symbol !== undefined) return fundId === undefined ? symbol : `${symbol} in ${fundId}`;
  return strategyId ?? fundId ?? "the firm";
}

const restrictionWords: Readonly<Record<RestrictionKind, (about: string, factor: number | null) => string>> = {
  THROTTLE: (about) => `Marketable orders that add risk in ${about} are denied.`,
  COOLDOWN: (about) => `New risk in ${about} is denied during the cooldown.`,
  SHADOW: (about) => `${about} is in shadow: only reductions pass.`,
  NO_SHORT_OPTIONS: (about) => `New short options in ${about} are denied.`,
  GROSS: (about, factor) => `Gross exposure of ${about} is limited to ${factor ?? 1} of what it was.`,
  ALLOCATION: (about, factor) => `The allocation of ${about} is multiplied by ${factor ?? 1}.`,
};

export function effectWords(effect: Effect, about: string): string {
  switch (effect.kind) {
    case "restriction":
      return restrictionWords[effect.restriction](about, effect.factor);
    case "halt":
      return `${effect.level} is requested.`;
    case "hedge":
      return effect.orders.length === 0
        ? "No option is left that would reduce it, or all of it is being closed."
        : `Hedge: ${effect.orders.map(({ side, contracts, symbol }) => `${side} ${contracts} ${symbol}`).join(", ")}.`;
    case "vacuum":
      return effect.tables.length === 0 ? "" : `VACUUM ANALYZE of ${effect.tables.join(", ")}.`;
    case "retry":
      return `Retried after ${Math.round(effect.delayMsMax / 1_000)} s at most.`;
    case "cross_post":
      return "Announced.";
    case "chat":
      return "";
  }
}

const reasonWords: Readonly<Record<NullReason, string>> = {
  INSUFFICIENT_DATA: "there are too few observations yet",
  NO_BACKTEST: "there is no backtest to compare with",
  NO_INPUT: "there is nothing to read",
  INPUT_TOO_OLD: "the newest input is too old",
  NOT_JUDGED: "it was not judged in time",
  NOTHING_TO_WATCH: "there is nothing to watch",
  CONSTANT_BASELINE: "none of the earlier observations differs from the others, so that any change is beyond them",
  MALFORMED_INPUT: "a value that was read is no number",
  MISSING_GREEKS: "an option has no quote with greeks",
  COUNT_FAILED: "it could not be counted",
  UNKNOWN_HEALTH: "it answers without saying how it is",
};

export function measured(watchdog: WatchdogName, about: string, { value, threshold, unit, reason }: Judgement): string {
  if (value === null) {
    const why = reason === null ? "nothing says why" : `${reasonWords[reason]} (${reason})`;
    return `${watchdog} has no value for ${about}: ${why}.`;
  }
  return `${watchdog} of ${about} is ${shown(value)} ${unit}, threshold ${shown(threshold)}.`;
}

function shown(value: number): string {
  const magnitude = Math.abs(value);
  if (value === 0 || (magnitude >= 0.001 && magnitude < 1e9)) return String(Number(value.toPrecision(6)));
  return value.toExponential(3);
}
