// Halts as people read them: whom they stop, since when, why, and what is still to be done about each.
import type { Instant } from "../../../contracts/src/instant.ts";
import { fieldLines } from "../../words/field-lines.ts";
import { requestGroup } from "../../words/fields.ts";
import { type Halt, type HaltStatus, provenText } from "../../words/halt-words.ts";
import type { Column } from "./listing.ts";

/** A request to lift everything, for whoever may sign it. */
export function pendingText(status: HaltStatus, now: Instant, width: number): readonly string[] {
  if (status.request_id === undefined) return [];
  return ["A request to lift all of them waits for a co-signer.", ...fieldLines([requestGroup(status, now)], width)];
}

/** One row of the list: a halt and how far what follows it has come. */
interface HaltRow extends Halt {
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
