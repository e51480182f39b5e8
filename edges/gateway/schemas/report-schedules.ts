// What the routes of scheduled reports take and answer.
import { z } from "zod";
import * as instant from "../../../contracts/src/instant.ts";
import { reportFormat } from "../../../contracts/src/records/report.ts";
import { deliveryStatus, reportTarget, runStatus, runTrigger } from "../../../contracts/src/records/report-schedule.ts";
import type { ReportDelivery } from "../../../ports/report-run-records.ts";
import type { RunWithDeliveries, ScheduleStanding } from "../reports/report-scheduler.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { actorText, reasonLine, timeText } from "./fields.ts";

const runId = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, "expected the id of a run");
const scheduleName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "expected the name of a schedule")
  .meta({ examples: ["daily-nav"] });

export const scheduleParams = z.strictObject({ name: scheduleName });
export const runScheduleBody = z.strictObject({ reason: reasonLine });
export const reportRunsQuery = z.strictObject({
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many, 100 when absent; the next page is in the Link header." }),
  after: runId.optional().meta({ description: "Continue after this id, towards older ones." }),
});

const deliveryAnswer = z.object({
  target: reportTarget,
  status: deliveryStatus,
  attempts: z.number(),
  next_attempt_at: timeText.nullable().meta({ description: "Of one that is pending." }),
  reference: z
    .string()
    .meta({ description: "By which a repetition is recognised: a Message-ID, a key, a file's name." }),
  ended_at: timeText.nullable(),
  detail: z.string().nullable().meta({ description: "What the target said last, or where the file is." }),
});

export const reportRunAnswer = z.object({
  run_id: runId,
  schedule: scheduleName,
  report: z.string(),
  fund_id: z.string(),
  due_at: timeText,
  trigger: runTrigger.meta({ description: "SCHEDULE on time, MADE_UP late, OPERATOR where somebody asked for it." }),
  requested_by: actorText,
  reason: z.string().nullable().meta({ description: "Of whoever asked for it." }),
  format: reportFormat,
  status: runStatus,
  attempts: z.number(),
  report_id: z.string().nullable(),
  reconciled: z.boolean().nullable(),
  detail: z.string().nullable().meta({ description: "Why it failed or was missed." }),
  ended_at: timeText.nullable(),
  deliveries: z
    .array(deliveryAnswer)
    .meta({ description: "One for each target, from the moment at which it is made." }),
});

export const scheduleAnswer = z.object({
  name: scheduleName,
  report: z.string(),
  cron: z.string(),
  time_zone: z.string(),
  window: z.string().nullable(),
  funds: z.array(z.string()).nullable().meta({ description: "Null: all of them." }),
  distribute: z.array(reportTarget),
  next_at: timeText.nullable(),
  last_runs: z.array(reportRunAnswer).meta({ description: "The newest of each fund." }),
});

const timeOf = (at: instant.Instant | undefined): string | null => (at === undefined ? null : instant.format(at));

export function reportRunJson({ run, deliveries }: RunWithDeliveries): z.infer<typeof reportRunAnswer> {
  return {
    run_id: run.runId,
    schedule: run.schedule,
    report: run.report,
    fund_id: run.fundId,
    due_at: instant.format(run.dueAt),
    trigger: run.trigger,
    requested_by: run.requestedBy,
    reason: run.reason ?? null,
    format: run.format,
    status: run.status,
    attempts: run.attempts,
    report_id: run.reportId ?? null,
    reconciled: run.reconciled ?? null,
    detail: run.detail ?? null,
    ended_at: timeOf(run.endedAt),
    deliveries: deliveries.map(deliveryJson),
  };
}

function deliveryJson(delivery: ReportDelivery): z.infer<typeof deliveryAnswer> {
  return {
    target: delivery.target,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: timeOf(delivery.status === "PENDING" ? delivery.nextAt : undefined),
    reference: delivery.reference,
    ended_at: timeOf(delivery.endedAt),
    detail: delivery.detail ?? null,
  };
}

export function scheduleJson({ plan, nextAt, lastRuns }: ScheduleStanding): z.infer<typeof scheduleAnswer> {
  return {
    name: plan.name,
    report: plan.report,
    cron: plan.cron,
    time_zone: plan.timeZone,
    window: plan.window ?? null,
    funds: plan.funds === undefined ? null : [...plan.funds],
    distribute: [...plan.targets],
    next_at: timeOf(nextAt),
    last_runs: lastRuns.map(reportRunJson),
  };
}
