// Has the runs that are due made, by the queue that makes every report. The id of a run's report is kept before it is asked for: whoever goes on after a
// crash finds what became of it, and no report is made twice for one attempt.
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import type { StoredReport } from "../../../ports/report-records.ts";
import type { ReportRun } from "../../../ports/report-run-records.ts";
import type { Store } from "../../../ports/store.ts";
import { runBegun, runFailed, runMade, runPutBack } from "../../../reports/schedules/run-steps.ts";
import { aboutMaking, referenceOf } from "./deliver-report.ts";
import { publishRun } from "./enter-due-runs.ts";
import type { ReportQueue } from "./report-queue.ts";

/** Of the queue's places; the others are for people. */
const makingMax = 4;

interface RunMaking {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly queue: Pick<ReportQueue, "ask" | "report">;
  /** This process as the leases name it. */
  holder(): string;
  /** What is not made, or was not and is; no sentence: it is. */
  undelivered(about: string, sentence: string | undefined): void;
}

/** Takes each run a step further, as far as this process may. */
export async function makeRuns(
  parts: RunMaking,
  open: readonly ReportRun[],
  alive: ReadonlySet<string>,
): Promise<void> {
  const self = parts.holder();
  const mine = ({ holder }: ReportRun): boolean => holder === undefined || holder === self || !alive.has(holder);
  let making = open.filter(({ status, holder }) => status === "MAKING" && holder === self).length;
  for (const run of open.filter(mine)) {
    if (run.status === "MAKING") await look(parts, run);
    else if (run.nextAt <= parts.clock.now() && making < makingMax) {
      making += 1;
      await begin(parts, run);
    }
  }
}

async function begin(parts: RunMaking, run: ReportRun): Promise<void> {
  const { store, clock, random, queue, log } = parts;
  const reportId = random.uuid();
  const begun = await step(store, { ...runBegun(run), holder: parts.holder(), reportId });
  if (begun === undefined) return;
  const { report, parameters, format, requestedBy } = begun;
  try {
    await queue.ask({ report, parameters, format, requestedBy, reportId });
  } catch (thrown) {
    const isFull = thrown instanceof Fault && thrown.code === "RESOURCE_EXHAUSTED";
    if (!isFull) log.warn("a scheduled report could not be asked for", { run: run.runId, error: messageOf(thrown) });
    if (isFull) await step(store, runPutBack(begun, clock.now()));
    else await failed(parts, begun, "It could not be asked for: the gateway's log has the reason.");
  }
}

async function look(parts: RunMaking, run: ReportRun): Promise<void> {
  const report = run.reportId === undefined ? undefined : await parts.queue.report(run.reportId);
  if (report?.status === "DONE") return made(parts, run, report);
  if (report?.status === "FAILED") return failed(parts, run, report.detail ?? "No reason is known.");
  const isOurs = run.holder === parts.holder();
  if (report !== undefined && isOurs) return undefined;
  return failed(parts, run, "The process that had it made ended.");
}

async function made({ store, clock, undelivered }: RunMaking, run: ReportRun, report: StoredReport): Promise<void> {
  const now = clock.now();
  await store.transact("report.run-step", async (unit) => {
    const { detail: _before, ...clean } = run;
    const reconciled = report.made?.reconciled ?? false;
    const kept = await unit.reportRuns.updateRun({ ...runMade(clean, now), reconciled });
    if (kept === undefined) return;
    for (const target of kept.targets) {
      await unit.reportRuns.insertDelivery({
        runId: kept.runId,
        target,
        reportId: report.reportId,
        status: "PENDING",
        createdAt: kept.createdAt,
        attempts: 0,
        nextAt: now,
        version: 1,
        reference: referenceOf(target, kept),
      });
    }
  });
  undelivered(aboutMaking(run), undefined);
}

async function failed({ store, clock, log }: RunMaking, run: ReportRun, detail: string): Promise<void> {
  const now: Instant = clock.now();
  const next = runFailed(run, detail, now);
  log.warn("a scheduled report was not made", { run: run.runId, schedule: run.schedule, status: next.status, detail });
  if (next.status !== "FAILED") return void (await step(store, next));
  await store.transact("report.run-ended", async (unit) => {
    const kept = await unit.reportRuns.updateRun(next);
    if (kept !== undefined) await publishRun(unit, kept, now);
  });
}

const step = (store: Pick<Store, "transact">, run: ReportRun): Promise<ReportRun | undefined> =>
  store.transact("report.run-step", (unit) => unit.reportRuns.updateRun(run));
