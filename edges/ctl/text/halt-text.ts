// Halts as people read them: whom they stop, since when, why, and what is still to be done about each.
import type { Instant } from "../../../contracts/src/instant.ts";
import { clean } from "../../words/clean.ts";
import { baselineText, type Halt, type HaltStatus, provenText } from "../../words/halt-words.ts";
import { moment } from "../../words/times.ts";
import type { Column } from "./listing.ts";

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
