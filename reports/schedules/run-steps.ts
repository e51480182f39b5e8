// How a run and a delivery go on, as functions of what they are and what happened. What is kept is theirs; who keeps it is the gateway.
//
//  1. A run ends once: MADE, FAILED or MISSED. A delivery ends once: DELIVERED or UNDELIVERED. Nothing leaves an end.
//  2. Between two attempts lies at least the back-off, and the number of attempts has an end.
//  3. What stands open a day after it was entered is overdue; a run that is not made by then has failed, a delivery goes on once an hour for a week.
import { type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { DeliveryStatus, RunStatus } from "../../contracts/src/records/report-schedule.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const firstWaitMs = 5_000;
const longestWaitMs = hourMs;
export const overdueMs = 24 * hourMs;
/** A delivery that nobody took for so long is given up. */
export const givenUpMs = 7 * 24 * hourMs;
const detailLengthMax = 500;

export interface RunState {
  readonly status: RunStatus;
  readonly createdAt: Instant;
  readonly attempts: number;
  readonly nextAt: Instant;
  readonly detail?: string;
  readonly endedAt?: Instant;
}

export interface DeliveryState {
  readonly status: DeliveryStatus;
  readonly createdAt: Instant;
  readonly attempts: number;
  readonly nextAt: Instant;
  readonly detail?: string;
  readonly endedAt?: Instant;
}

/** After the first attempt 5 seconds, then twice as long each time, up to an hour. */
export function backOffMs(attempts: number): number {
  return Math.min(firstWaitMs * 2 ** Math.min(attempts - 1, 20), longestWaitMs);
}

export const isOverdue = ({ createdAt }: Pick<RunState, "createdAt">, now: Instant): boolean =>
  now >= plusMilliseconds(createdAt, overdueMs);

export function runBegun<Run extends RunState>(run: Run): Run {
  mustBe(run, "DUE");
  return { ...run, status: "MAKING", attempts: run.attempts + 1 };
}

export function runMade<Run extends RunState>(run: Run, now: Instant): Run {
  mustBe(run, "MAKING");
  return { ...run, status: "MADE", endedAt: now };
}

/** Tried again, or failed for good. */
export function runFailed<Run extends RunState>(run: Run, detail: string, now: Instant): Run {
  mustBe(run, "MAKING");
  const why = { detail: detail.slice(0, detailLengthMax) };
  if (isOverdue(run, now)) return { ...run, ...why, status: "FAILED", endedAt: now };
  return { ...run, ...why, status: "DUE", nextAt: plusMilliseconds(now, backOffMs(run.attempts)) };
}

/** It found no place to be made in: that is no attempt. */
export function runPutBack<Run extends RunState>(run: Run, now: Instant): Run {
  mustBe(run, "MAKING");
  return { ...run, status: "DUE", attempts: run.attempts - 1, nextAt: plusMilliseconds(now, firstWaitMs) };
}

/** A later one is due, and this one was not begun, or waits after a failure. */
export function runSuperseded<Run extends RunState>(run: Run, now: Instant): Run {
  mustBe(run, "DUE");
  const why = ["The next one was due before it was made.", run.detail ?? ""].join(" ").trim();
  return { ...run, status: "MISSED", detail: why.slice(0, detailLengthMax), endedAt: now };
}

/** Counted before it is sent. */
export function deliveryBegun<Delivery extends DeliveryState>(delivery: Delivery, now: Instant): Delivery {
  mustBe(delivery, "PENDING");
  const attempts = delivery.attempts + 1;
  return { ...delivery, attempts, nextAt: plusMilliseconds(now, backOffMs(attempts)) };
}

export function deliveryTaken<Delivery extends DeliveryState>(delivery: Delivery, now: Instant): Delivery {
  mustBe(delivery, "PENDING");
  const { detail: _before, ...taken } = delivery;
  return { ...(taken as Delivery), status: "DELIVERED", endedAt: now };
}

/** Tried again, or given up: at once where trying again cannot help. */
export function deliveryRefused<Delivery extends DeliveryState>(
  delivery: Delivery,
  refusal: { readonly detail: string; readonly isFinal: boolean },
  now: Instant,
): Delivery {
  mustBe(delivery, "PENDING");
  const why = { detail: refusal.detail.slice(0, detailLengthMax) };
  if (refusal.isFinal || now >= plusMilliseconds(delivery.createdAt, givenUpMs)) {
    return { ...delivery, ...why, status: "UNDELIVERED", endedAt: now };
  }
  return { ...delivery, ...why, nextAt: plusMilliseconds(now, backOffMs(delivery.attempts)) };
}

function mustBe({ status }: { readonly status: string }, expected: RunStatus | DeliveryStatus): void {
  if (status !== expected) throw new Error(`it is ${status}, and only what is ${expected} goes on like this`);
}
