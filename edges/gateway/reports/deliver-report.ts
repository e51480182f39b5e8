// One report to one target: by mail with its PDF, as a chat message in five figures, or as a file. What each is known by follows from the run alone, so
// that a repetition after a crash is recognised: the file is there once, and a message carries the same id.
import { createHash } from "node:crypto";
import { Fault } from "../../../contracts/src/fault.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { mailAttachmentBytesMax, type ReportTarget } from "../../../contracts/src/records/report-schedule.ts";
import type { Chat } from "../../../ports/chat.ts";
import type { Mail } from "../../../ports/mail.ts";
import type { ReportDelivery, ReportRun } from "../../../ports/report-run-records.ts";
import type { ReportStorage } from "../../../ports/report-storage.ts";
import type { ReportDocument } from "../../../reports/document.ts";
import { type Summary, summaryOf } from "../../../reports/schedules/summary.ts";

export interface DeliveryParts {
  readonly mail: Mail;
  readonly chat: Chat;
  readonly storage: ReportStorage;
  /** Where people reach the platform. */
  baseUrl(): string;
}

export interface Delivered {
  /** What is worth knowing of it all the same. */
  readonly remark?: string;
}

interface ReportToDeliver {
  readonly run: ReportRun;
  readonly reportId: string;
  readonly document: ReportDocument;
  readonly pdf: Uint8Array | undefined;
}

const deliveryMsMax = 60_000;

/** Of one schedule, fund and moment; those that people ask for have the moment of asking. */
export function runIdOf(schedule: string, fundId: string, dueAt: Instant, isAsked: boolean): string {
  const text = JSON.stringify([schedule, fundId, dueAt, isAsked]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** By which a repetition is recognised. */
export function referenceOf(
  target: ReportTarget,
  run: Pick<ReportRun, "runId" | "schedule" | "fundId" | "dueAt" | "report">,
): string {
  switch (target) {
    case "email":
      return `run.${run.runId}@portcullis`;
    case "chat":
      return `report-run ${run.runId}`;
    case "pdf-to-storage":
      return `${run.schedule}/${run.fundId.replaceAll(/[^A-Za-z0-9._-]/g, "_")}/${run.report.replaceAll("_", "-")}-${momentName(run.dueAt)}.pdf`;
  }
}

/** 20261118T060000Z; with the fraction where there is one, as where people asked. */
function momentName(at: Instant): string {
  return format(at)
    .replaceAll(/[-:]/g, "")
    .replace(/\.0+Z$/, "Z");
}

/** Rejects with what the target says; whether to try again is in the fault. */
export async function deliverReport(
  target: ReportTarget,
  report: ReportToDeliver,
  parts: DeliveryParts,
): Promise<Delivered> {
  const summary = summaryOf(report.document);
  if (target === "chat") return byChat(report, summary, parts);
  if (target === "email") return byMail(report, summary, parts);
  if (report.pdf === undefined) throw gone(report.reportId);
  const key = referenceOf(target, report.run);
  const where = await parts.storage.put({ key, contentType: "application/pdf", content: report.pdf }, deliveryMsMax);
  return { remark: where };
}

async function byChat(
  { run, reportId }: ReportToDeliver,
  summary: Summary,
  { chat, baseUrl }: DeliveryParts,
): Promise<Delivered> {
  await chat.send(
    {
      key: referenceOf("chat", run),
      level: summary.reconciled ? "info" : "critical",
      title: `${summary.title} (${summary.mode})`,
      text: `${summary.period}, ${summary.standing}. ${linkOf(baseUrl(), reportId)} (ctl report show ${reportId})`,
      facts: { ...Object.fromEntries(summary.figures), schedule: `${run.schedule}${askedNote(run)}`, run: run.runId },
    },
    deliveryMsMax,
  );
  return {};
}

async function byMail(report: ReportToDeliver, summary: Summary, { mail, baseUrl }: DeliveryParts): Promise<Delivered> {
  const { run, reportId, pdf } = report;
  if (pdf === undefined) throw gone(reportId);
  const isTooLarge = pdf.byteLength > mailAttachmentBytesMax;
  const name = referenceOf("pdf-to-storage", run).split("/").at(-1) ?? "report.pdf";
  const lines = [
    `${summary.title} (${summary.mode}), ${summary.period}`,
    `${summary.standing[0]?.toUpperCase()}${summary.standing.slice(1)}.`,
    "",
    ...summary.figures.map(([label, value]) => `${label}: ${value}`),
    "",
    isTooLarge
      ? `It has ${pdf.byteLength} bytes, which is more than a mail carries (${mailAttachmentBytesMax}): read it where it is kept.`
      : "The report is attached.",
    `${linkOf(baseUrl(), reportId)} (ctl report show ${reportId})`,
    `Schedule ${run.schedule}${askedNote(run)}, due ${format(run.dueAt)}, run ${run.runId}.`,
    "",
  ];
  const { refused } = await mail.send(
    {
      messageId: referenceOf("email", run),
      subject: `${summary.reconciled ? "" : "DOES NOT RECONCILE: "}${summary.title} (${summary.mode}), ${summary.period}`,
      text: lines.join("\n"),
      attachments: isTooLarge ? [] : [{ name, contentType: "application/pdf", content: pdf }],
    },
    deliveryMsMax,
  );
  const who = refused.length === 0 ? "" : ` It refused ${refused.join(", ")}.`;
  const remark = `${isTooLarge ? "Without the PDF, which is too large." : ""}${who}`.trim();
  return remark === "" ? {} : { remark };
}

const linkOf = (baseUrl: string, reportId: string): string => `${baseUrl}/v1/reports/${reportId}`;

const askedNote = ({ trigger, requestedBy }: ReportRun): string =>
  trigger === "OPERATOR" ? ` (asked for by ${requestedBy})` : trigger === "MADE_UP" ? " (made up late)" : "";

function gone(reportId: string): Fault {
  return new Fault("NOT_FOUND", `The PDF of the report ${reportId} is not kept any more: have it made again.`, {
    retry: "never",
  });
}

const wordsOf = ({ schedule, fundId, dueAt }: ReportRun): string => `${schedule} for ${fundId}, due ${format(dueAt)},`;

/** What an alarm is about: a run that is not made, or one of its targets. */
export const aboutOf = (run: ReportRun, what: string): string =>
  `${run.schedule} ${run.fundId} ${format(run.dueAt)} ${what}`;

/** One alarm for each schedule and fund, however often it is due: it ends with the first that is made. */
export const aboutMaking = ({ schedule, fundId }: ReportRun): string => `${schedule} ${fundId} not made`;

export function unmadeSentence(run: ReportRun): string {
  return `The report of ${wordsOf(run)} is not made: ${run.detail ?? "it waits"}`;
}

export function undeliveredSentence(run: ReportRun, { target, attempts, detail = "it waits" }: ReportDelivery): string {
  return `The report of ${wordsOf(run)} is not delivered to ${target} after ${attempts} attempts: ${detail}`;
}
