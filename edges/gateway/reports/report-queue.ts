// The reports that are asked of the platform: one is made at a time, a few wait, and each is kept with its documents.
//
//  1. What is made, its documents and its entry in the audit log are one transaction.
//  2. A report that fails fails alone. What waited or ran when the platform ended has failed: whoever asked, asks again.
//  3. It is made in the platform's own name: how long it waited does not matter, and no token of its asker is kept.
import { createHash } from "node:crypto";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { ReportFormat, ReportParameters, Restatement } from "../../../contracts/src/records/report.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { StoredReport } from "../../../ports/report-records.ts";
import type { Store } from "../../../ports/store.ts";
import { isReconciled, type ReportDocument, reportDocument } from "../../../reports/document.ts";
import { changesBetween } from "../../../reports/restatement.ts";
import type { MakeReport, ReportOutcome } from "./report-maker.ts";

export const waitingReportsMax = 16;
/** The newest of all; older ones go with their documents, their entries in the audit log stay. */
const keptReportsMax = 1_000;

interface ReportRequest {
  readonly report: string;
  readonly parameters: ReportParameters;
  readonly format: ReportFormat;
  readonly requestedBy: string;
  /** Chosen by who must find it again; any when absent. One that exists already is a STORE_CONFLICT. */
  readonly reportId?: string;
}

export interface ReportQueue {
  /** Rejects with RESOURCE_EXHAUSTED when too many wait. */
  ask(request: ReportRequest): Promise<StoredReport>;
  reports(asked: { readonly countMax: number; readonly after?: string | undefined }): Promise<readonly StoredReport[]>;
  report(reportId: string): Promise<StoredReport | undefined>;
  document(reportId: string, format: ReportFormat): Promise<Uint8Array | undefined>;
  /** Ends what runs; what waits is found again at the next start. */
  stop(): Promise<void>;
}

interface ReportQueueParts {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly make: MakeReport;
  /** A report of this name and fund does not tie, or ties again. */
  unreconciled(about: string, sentence: string | undefined): void;
}

const sha256 = (content: Uint8Array | string): string => createHash("sha256").update(content).digest("hex");

export async function startReportQueue(parts: ReportQueueParts): Promise<ReportQueue> {
  const { store, clock, random, log } = parts;
  const waiting: StoredReport[] = [];
  const ending = new AbortController();
  let storing = 0;
  let running: { report: StoredReport; done: Promise<void> } | undefined;
  await failUnfinished(parts);

  function next(): void {
    const [first] = waiting;
    if (running !== undefined || first === undefined || ending.signal.aborted) return;
    waiting.shift();
    const done = makeOne(first).finally(() => {
      running = undefined;
      next();
    });
    running = { report: first, done };
  }

  async function makeOne(report: StoredReport): Promise<void> {
    const started: StoredReport = { ...report, status: "RUNNING", progress: "Its process starts." };
    const say = (progress: string): void => {
      if (running !== undefined) running.report = { ...running.report, progress: progress.slice(0, 200) };
    };
    try {
      await store.transact("report.progress", (unit) => unit.reports.updateReport(started));
      if (running !== undefined) running.report = started;
      const outcome = await parts.make(report, say, ending.signal);
      if (ending.signal.aborted) return;
      await keep(parts, started, outcome);
    } catch (thrown) {
      log.error("a report could not be made", { report_id: report.reportId, error: messageOf(thrown) });
      await fail(parts, started, "It could not be made or kept: the gateway's log has the reason.");
    }
  }

  return {
    async ask({ report, parameters, format: asked, requestedBy, reportId = random.uuid() }) {
      if (waiting.length + storing >= waitingReportsMax) {
        const sentence = `At most ${waitingReportsMax} reports may wait, and as many do: ask again when one of them is made.`;
        throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
      }
      const stored: StoredReport = {
        reportId,
        report,
        parameters,
        format: asked,
        requestedBy,
        requestedAt: clock.now(),
        status: "QUEUED",
        progress: "It waits for its turn.",
      };
      // Counted before it is stored: two who ask at once do not both get the last place.
      storing += 1;
      try {
        await store.transact("report.ask", (unit) => unit.reports.insertReport(stored));
      } finally {
        storing -= 1;
      }
      waiting.push(stored);
      next();
      return stored;
    },
    reports: (asked) => store.transact("report.look", (unit) => unit.reports.reports(asked)),
    async report(reportId) {
      const found = await store.transact("report.look", (unit) => unit.reports.report(reportId));
      return found?.status === "RUNNING" && running?.report.reportId === reportId ? running.report : found;
    },
    document: (reportId, asked) =>
      store.transact("report.look", (unit) => unit.reports.reportDocument(reportId, asked)),
    async stop() {
      ending.abort();
      await running?.done;
    },
  };
}

async function failUnfinished({ store, clock }: ReportQueueParts): Promise<void> {
  const detail = "The platform ended before it was made: ask for it again.";
  await store.transact("report.progress", async (unit) => {
    for (const report of await unit.reports.unfinishedReports()) {
      await unit.reports.updateReport({
        ...report,
        status: "FAILED",
        progress: "It failed.",
        detail,
        endedAt: clock.now(),
      });
    }
  });
}

async function fail({ store, clock, log }: ReportQueueParts, report: StoredReport, detail: string): Promise<void> {
  const failed: StoredReport = { ...report, status: "FAILED", progress: "It failed.", detail, endedAt: clock.now() };
  await store
    .transact("report.progress", (unit) => unit.reports.updateReport(failed))
    // It is found at the next start.
    .catch((thrown: unknown) => log.error("a report's failure could not be kept", { error: messageOf(thrown) }));
}

async function keep(parts: ReportQueueParts, report: StoredReport, outcome: ReportOutcome): Promise<void> {
  if (outcome.kind === "failed") return fail(parts, report, outcome.detail);
  const document = documentIn(outcome.files);
  const { store, clock } = parts;
  const question = sha256(JSON.stringify([document.report, document.fund_id, document.period, document.parameters]));
  const reconciled = isReconciled(document);
  const files = [...outcome.files];
  const documents = Object.fromEntries(
    files.map(([name, content]) => [name, { sha256: sha256(content), bytes: content.byteLength }]),
  );
  await store.transact("report.made", async (unit) => {
    const before = await unit.reports.newestAnswer(question);
    const kept = before && (await unit.reports.reportDocument(before.reportId, "json"));
    const restates = restatementOf(before, kept, document);
    const made = { title: document.title, reconciled, factsSha256: document.facts_sha256, question, documents };
    const [at, restated] = [clock.now(), restates === undefined ? {} : { restates }];
    await unit.reports.updateReport({
      ...report,
      status: "DONE",
      progress: "It is made.",
      endedAt: at,
      made: { ...made, ...restated },
    });
    for (const [name, content] of files) await unit.reports.putReportDocument(report.reportId, name, content);
    await unit.events.publish(subjects.reportMade, {
      report_id: report.reportId,
      report: report.report,
      parameters: report.parameters,
      requested_by: report.requestedBy,
      reconciled,
      facts_sha256: document.facts_sha256,
      documents,
      ...restated,
      at: format(at),
    });
  });
  tellReconciled(parts, document);
  await store.transact("report.trim", (unit) => unit.reports.trimReports(keptReportsMax));
}

function documentIn(files: ReadonlyMap<ReportFormat, Uint8Array>): ReportDocument {
  const bytes = files.get("json");
  if (bytes === undefined) throw new Error("a report came without its document");
  return reportDocument.parse(parseJson(new TextDecoder().decode(bytes)));
}

/** Nothing is restated where the same facts were read, or where others say the same. */
function restatementOf(
  before: StoredReport | undefined,
  kept: Uint8Array | undefined,
  document: ReportDocument,
): Restatement | undefined {
  if (before?.made === undefined || kept === undefined || before.made.factsSha256 === document.facts_sha256)
    return undefined;
  const changes = changesBetween(documentIn(new Map([["json", kept]])), document);
  return changes.length === 0 ? undefined : { report_id: before.reportId, changes: [...changes] };
}

function tellReconciled({ unreconciled }: ReportQueueParts, document: ReportDocument): void {
  const about = `${document.report} ${document.fund_id}`;
  const differing = document.reconciliation.filter(({ difference }) => Number(difference) !== 0);
  const [first, ...others] = differing;
  const { start, end } = document.period;
  const more = others.length === 0 ? "" : `, and ${others.length} more lines`;
  const sentence =
    first &&
    `The ${document.report} of ${document.fund_id}, ${start} to ${end}, does not reconcile: ${first.name} differs by ${first.difference}${more}.`;
  unreconciled(about, sentence);
}
