// Halts as people read them: whom they stop, since when, why, and what is still to be done about each.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import type { Column } from "./listing.ts";
import { clean, moment } from "./text.ts";

export type Halt = AnswerOf<"listHalts">[number];
export type HaltStatus = AnswerOf<"getHaltStatus">;

export function scopeText({
  severity,
  fund_id,
  strategy_id,
}: Pick<Halt, "severity" | "fund_id" | "strategy_id">): string {
  if (severity === "FIRM_HALT") return "the firm";
  if (severity === "FUND_HALT") return `fund ${clean(fund_id)}`;
  return `strategy ${clean(strategy_id ?? "")} of ${clean(fund_id)}`;
}

export function haltLine(halt: Halt, now: Instant): string {
  const since = halt.since === undefined ? "" : `, since ${moment(halt.since, now)}`;
  return `${halt.severity}  ${scopeText(halt)}${since}, by ${clean(halt.requested_by)}: ${clean(halt.reason)}`;
}

/** Where losses are counted from once the halts are lifted. */
export function baselineText(baseline: HaltStatus["baseline"]): string {
  return baseline === "rebased"
    ? "Losses are counted from now on."
    : "Losses go on being counted from the baseline that they had.";
}

/** A request to lift everything, for whoever may sign it. */
export function pendingText(status: HaltStatus, now: Instant): readonly string[] {
  if (status.request_id === undefined) return [];
  const until = status.expires_at === undefined ? "" : ` until ${moment(status.expires_at, now)}`;
  const asks =
    status.requested_by === undefined ? "" : ` ${clean(status.requested_by)} asks: ${clean(status.reason ?? "")}`;
  return [
    `The request ${clean(status.request_id)} to lift all of them waits for a co-signer${until}.${asks}`,
    `Once it is signed: ${baselineText(status.baseline)}`,
  ];
}

/** One row of the list: a halt and how far what follows it has come. */
export interface HaltRow extends Halt {
  readonly steps: string;
}

export function haltRows({ halts, progress }: HaltStatus): readonly HaltRow[] {
  return halts.map((halt) => ({ ...halt, steps: stepsText(progress, halt.halt_id) }));
}

/** The same for programs; each with the request to lift all of them, while one waits for its co-signer. */
export function haltsWithSteps(status: HaltStatus) {
  const { halts, progress, request_id, requested_by, reason, baseline, expires_at } = status;
  const waiting =
    request_id === undefined ? {} : { resume_request: { request_id, requested_by, reason, baseline, expires_at } };
  return halts.map((halt) => ({
    ...halt,
    ...waiting,
    steps: progress.find(({ halt_id }) => halt_id === halt.halt_id)?.steps ?? [],
  }));
}

function stepsText(progress: HaltStatus["progress"], haltId: string | undefined): string {
  const steps = progress.find(({ halt_id }) => halt_id === haltId)?.steps ?? [];
  return steps
    .map(({ step, proven, detail }) =>
      proven ? `${step} ${provenText(step, detail)}` : `${step} NOT YET${detail === "" ? "" : ` (${detail})`}`,
    )
    .join(", ");
}

/** How many orders were cancelled, and that a message stands in the log alone; as the server's own words say. */
export function provenText(step: string, detail: string): string {
  if (step === "NOTIFIED" && detail.startsWith("log only")) return "log only";
  const count = step === "CANCELLED" ? /\b([0-9]+) orders? (?:was|were) cancelled/.exec(detail)?.[1] : undefined;
  return count === undefined ? "yes" : `yes (${count} ${count === "1" ? "order" : "orders"})`;
}

export const haltColumns: readonly Column<HaltRow>[] = [
  { name: "severity", always: true, of: (one) => one.severity },
  { name: "fund_id", key: true, of: (one) => one.fund_id },
  { name: "strategy_id", key: true, of: (one) => one.strategy_id },
  { name: "since", key: true, of: (one) => one.since, time: true },
  { name: "requested_by", head: "by", key: true, minor: 1, of: (one) => one.requested_by },
  { name: "reason", text: true, key: true, of: (one) => one.reason },
  { name: "steps", always: true, text: true, of: (one) => one.steps },
  { name: "halt_id", id: true, minor: 2, of: (one) => one.halt_id },
  { name: "epoch", of: (one) => one.epoch, onlyCsv: true },
];
