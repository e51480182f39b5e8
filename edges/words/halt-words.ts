// Halts in the words of every face: whom they stop, which is strictest, how far each has come, and what is counted once it is lifted.

import type { Instant } from "../../contracts/src/instant.ts";
import { clean } from "../../contracts/src/text/clean.ts";
import type { AnswerOf } from "../client/src/types.ts";
import { moment } from "./times.ts";

export type HaltStatus = AnswerOf<"getHaltStatus">;
export type Halt = HaltStatus["halts"][number];
type Scoped = Pick<Halt, "severity" | "fund_id" | "strategy_id">;

/** Strictest first, then the newest. */
export function byStrictness(list: readonly Halt[]): readonly Halt[] {
  const order = ["FIRM_HALT", "FUND_HALT", "STRATEGY_HALT"];
  return [...list].sort(
    (one, other) =>
      order.indexOf(one.severity) - order.indexOf(other.severity) ||
      (other.since ?? "").localeCompare(one.since ?? "", "en"),
  );
}

/** "firm", "fund alpha", "strategy alpha-momentum". */
export function scopeOf({ severity, fund_id, strategy_id }: Scoped): string {
  if (severity === "FIRM_HALT") return "firm";
  return severity === "FUND_HALT" ? `fund ${fund_id}` : `strategy ${strategy_id ?? ""}`;
}

/** As ctl takes it; empty for the firm. */
export function scopeIdOf({ severity, fund_id, strategy_id }: Scoped): string {
  if (severity === "FIRM_HALT") return "";
  return severity === "FUND_HALT" ? fund_id : (strategy_id ?? "");
}

/** In a sentence: "the firm", "fund alpha", "strategy alpha-momentum of alpha". */
export function scopeText({ severity, fund_id, strategy_id }: Scoped): string {
  if (severity === "FIRM_HALT") return "the firm";
  if (severity === "FUND_HALT") return `fund ${clean(fund_id)}`;
  return `strategy ${clean(strategy_id ?? "")} of ${clean(fund_id)}`;
}

/** Which level a fund is halted at; empty when it is not. */
export function scopeWord(severity: Halt["severity"] | undefined): string {
  if (severity === undefined) return "";
  return { FIRM_HALT: "firm", FUND_HALT: "fund", STRATEGY_HALT: "strategy" }[severity];
}

/** What somebody wrote, in a line of ours: where it begins and ends can be seen, and it cannot end itself. */
function quoted(text: string): string {
  return `“${clean(text).replaceAll(/[“”]/g, '"')}”`;
}

export function haltLine(halt: Halt, now: Instant): string {
  const since = halt.since === undefined ? "" : `, since ${moment(halt.since, now)}`;
  return `${halt.severity}  ${scopeText(halt)}${since}, by ${clean(halt.requested_by)}. Reason: ${quoted(halt.reason)}`;
}

/** Where losses are counted from once the halts are lifted. */
export function baselineText(baseline: HaltStatus["baseline"]): string {
  return baseline === "rebased"
    ? "Losses are counted from now on."
    : "Losses go on being counted from the baseline that they had.";
}

/** How many orders were cancelled, and that a message stands in the log alone; as the server's own words say. */
export function provenText(step: string, detail: string): string {
  if (step === "NOTIFIED" && detail.startsWith("log only")) return "log only";
  const count = step === "CANCELLED" ? /\b([0-9]+) orders? (?:was|were) cancelled/.exec(detail)?.[1] : undefined;
  return count === undefined ? "yes" : `yes (${count} ${count === "1" ? "order" : "orders"})`;
}
