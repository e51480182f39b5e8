// Metrics with their definitions: how a figure, or its absence, becomes a line of a document.
import * as decimal from "../contracts/src/decimal.ts";
import { definitions, type MetricId } from "./definitions.ts";
import type { Metric, MetricReason } from "./document.ts";
import type { ReportFacts } from "./facts.ts";

/** Below this many observations a figure is marked. */
const confidentFrom = 60;

/** A null value takes the reason; so does a figure of too few observations, unless it is a mere sum. */
export type MetricMaker = (
  id: MetricId,
  value: number | decimal.Decimal | null,
  n: number,
  whenNull?: MetricReason,
  interval?: { readonly lower: number; readonly upper: number } | null,
) => Metric;

const plainSums: ReadonlySet<string> = new Set(["money", "count"]);
/** What is so, however few there are: no sample stands behind it. */
const exact: ReadonlySet<MetricId> = new Set<MetricId>([
  "gross_exposure",
  "net_exposure",
  "concentration",
  "fill_rate",
  "fall_unexplained_share",
  "time_to_detect",
  "time_to_respond",
]);

export function metricMaker(facts: ReportFacts, cutOff: string | null): MetricMaker {
  return (id, value, n, whenNull = "NO_DATA", interval = null) => {
    const { unit, formula, uses } = definitions[id];
    const known = value === null || (typeof value === "number" && !Number.isFinite(value)) ? null : value;
    const marked = !plainSums.has(unit) && !exact.has(id) && n < confidentFrom ? ("LOW_CONFIDENCE" as const) : null;
    return {
      id,
      value: typeof known === "bigint" ? decimal.format(known) : known,
      unit,
      definition: formula,
      n,
      periods_per_year: uses.some((use) => use === "periods_per_year") ? facts.fund.periods_per_year : null,
      rf_annual: uses.some((use) => use === "rf_annual") ? Number(facts.rf_annual) : null,
      cut_off: cutOff,
      reason: known === null ? whenNull : marked,
      ...(interval !== null && known !== null && { interval: [interval.lower, interval.upper] as [number, number] }),
    };
  };
}
