// Reports that are made by the clock: which there are, where they go, and how one run and one delivery stand.
import { z } from "zod";
import { countNumber, idText, instantText, lineText, nameText, reasonText } from "./fields.ts";

/** What a fund and a moment are enough for; a post-mortem is of a drawdown, and alpha_decay of a strategy. */
export const scheduledReports = [
  "nav_report",
  "trade_report",
  "tca_report",
  "settlement_report",
  "risk_envelope_report",
  "regime_attribution",
  "factor_attribution",
  "position_attribution",
] as const;
export type ScheduledReport = (typeof scheduledReports)[number];

export const reportTargets = ["email", "chat", "pdf-to-storage"] as const;
export const reportTarget = z.enum(reportTargets);
export type ReportTarget = z.infer<typeof reportTarget>;

/** Larger ones are not attached: the mail says where the report is. */
export const mailAttachmentBytesMax = 10_000_000;

/** The words by which a schedule's name says which report it is. */
export const reportWords: Readonly<Record<string, ScheduledReport>> = {
  nav: "nav_report",
  trade: "trade_report",
  trades: "trade_report",
  tca: "tca_report",
  settlement: "settlement_report",
  risk: "risk_envelope_report",
  envelope: "risk_envelope_report",
  regime: "regime_attribution",
  factor: "factor_attribution",
  factors: "factor_attribution",
  position: "position_attribution",
  positions: "position_attribution",
};

/** `daily-nav` is nav_report; undefined where a name says none, or several. */
export function reportNamedBy(schedule: string): ScheduledReport | undefined {
  const words = schedule.toLowerCase().split(/[^a-z]+/);
  const named = new Set(words.flatMap((word) => (Object.hasOwn(reportWords, word) ? [reportWords[word]] : [])));
  return named.size === 1 ? [...named][0] : undefined;
}

/** DUE waits to be made, also after a failure; MISSED was never made, because the platform was away or a later one was due. */
const runStatuses = ["DUE", "MAKING", "MADE", "FAILED", "MISSED"] as const;
export const runStatus = z.enum(runStatuses);
export type RunStatus = z.infer<typeof runStatus>;

/** MADE_UP: by its schedule, later than it was due. */
const runTriggers = ["SCHEDULE", "MADE_UP", "OPERATOR"] as const;
export const runTrigger = z.enum(runTriggers);
export type RunTrigger = z.infer<typeof runTrigger>;

const deliveryStatuses = ["PENDING", "DELIVERED", "UNDELIVERED"] as const;
export const deliveryStatus = z.enum(deliveryStatuses);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

/** Published when a run is entered, as due or as missed, and when it fails for good. */
export const reportRunRecorded = z.object({
  run_id: idText,
  schedule: nameText,
  report: nameText,
  fund_id: idText,
  due_at: instantText,
  trigger: runTrigger,
  status: runStatus,
  requested_by: nameText,
  reason: reasonText.optional(),
  detail: lineText(2_000).optional(),
  at: instantText,
});

/** Published when a target has taken a report, and when it is given up. */
export const reportDelivered = z.object({
  run_id: idText,
  report_id: idText,
  schedule: nameText,
  fund_id: idText,
  target: reportTarget,
  status: deliveryStatus,
  /** By which a repetition is recognised: a Message-ID, an object's key, a message's key. */
  reference: lineText(1_024),
  attempts: countNumber,
  detail: lineText(2_000).optional(),
  at: instantText,
});
