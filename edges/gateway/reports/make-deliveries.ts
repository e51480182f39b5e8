// Delivers what was made, each target by itself: one that is away is tried again with back-off and holds up no other.
//
//  1. An attempt is counted before it is sent, by the one process that holds it. What was sent is recorded before anything else is done about it.
//  2. A crash between the two leaves it pending: it is sent again with the same Message-ID, key or name, and only there can somebody see it twice.
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { ReportDelivery, ReportRun } from "../../../ports/report-run-records.ts";
import type { Store } from "../../../ports/store.ts";
import type { Timers } from "../../../ports/timers.ts";
import { reportDocument } from "../../../reports/document.ts";
import { deliveryBegun, deliveryRefused, deliveryTaken } from "../../../reports/schedules/run-steps.ts";
import { aboutOf, type Delivered, type DeliveryParts, deliverReport, undeliveredSentence } from "./deliver-report.ts";
import type { ReportQueue } from "./report-queue.ts";

const atOnceMax = 8;
const recordEveryMs = 1_000;
/** The store was away for longer than this: what was sent is sent again. */
const recordTriesMax = 600;

export interface DeliveryMaking {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly queue: Pick<ReportQueue, "document">;
  holder(): string;
  readonly delivery: DeliveryParts;
  /** What is not made or not delivered a day after it was due, or never will be; no sentence: it is. */
  undelivered(about: string, sentence: string | undefined): void;
  readonly ending: AbortSignal;
}

interface Deliveries {
  /** Begins those whose turn it is; does not wait for them. */
  begin(open: readonly ReportDelivery[], alive: ReadonlySet<string>): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function makeDeliveries(parts: DeliveryMaking): Deliveries {
  const underWay = new Map<string, Promise<void>>();
  const nameOf = ({ runId, target }: ReportDelivery): string => `${runId} ${target}`;
  return {
    begin(open, alive) {
      const [now, self] = [parts.clock.now(), parts.holder()];
      for (const one of open) {
        const isOthers = one.holder !== undefined && one.holder !== self && alive.has(one.holder);
        if (isOthers || one.nextAt > now || underWay.has(nameOf(one)) || underWay.size >= atOnceMax) continue;
        const done = deliver(parts, one)
          .catch((thrown: unknown) =>
            parts.log.error("a delivery could not be made or kept", { run: one.runId, error: messageOf(thrown) }),
          )
          .finally(() => underWay.delete(nameOf(one)));
        underWay.set(nameOf(one), done);
      }
    },
    async idle() {
      await Promise.all(underWay.values());
    },
  };
}

type Attempt = Delivered | { readonly refusal: { readonly detail: string; readonly isFinal: boolean } };

async function deliver(parts: DeliveryMaking, pending: ReportDelivery): Promise<void> {
  const { store, clock, log } = parts;
  const claimed = await store.transact("report.deliver", async (unit) => {
    const run = await unit.reportRuns.run(pending.runId);
    const begun = await unit.reportRuns.updateDelivery({
      ...deliveryBegun(pending, clock.now()),
      holder: parts.holder(),
    });
    return run === undefined || begun === undefined ? undefined : { run, begun };
  });
  if (claimed === undefined) return;
  const { run, begun } = claimed;
  const attempt = await attempted(parts, run, begun);
  const now = clock.now();
  if (!("refusal" in attempt)) {
    const taken = deliveryTaken(begun, now);
    const { remark } = attempt;
    return record(parts, run, remark === undefined ? taken : { ...taken, detail: remark.slice(0, 500) }, now);
  }
  const next = deliveryRefused(begun, attempt.refusal, now);
  log.warn("a report was not delivered", {
    run: run.runId,
    target: begun.target,
    attempts: begun.attempts,
    ...attempt.refusal,
  });
  if (next.status !== "PENDING") return record(parts, run, next, now);
  await store.transact("report.deliver", (unit) => unit.reportRuns.updateDelivery(next));
}

async function attempted({ queue, delivery }: DeliveryMaking, run: ReportRun, begun: ReportDelivery): Promise<Attempt> {
  const { reportId, target } = begun;
  try {
    const json = await queue.document(reportId, "json");
    if (json === undefined) {
      const detail = `The report ${reportId} is not kept any more: run the schedule again.`;
      return { refusal: { detail, isFinal: true } };
    }
    const document = reportDocument.parse(parseJson(new TextDecoder().decode(json)));
    const pdf = await queue.document(reportId, "pdf");
    return await deliverReport(target, { run, reportId, document, pdf }, delivery);
  } catch (thrown) {
    const isFinal = thrown instanceof Fault && thrown.retry === "never";
    return { refusal: { detail: messageOf(thrown), isFinal } };
  }
}

/** What happened outside is kept at any price: while the store is away it is tried again, and nothing is sent. */
async function record(parts: DeliveryMaking, run: ReportRun, ended: ReportDelivery, now: Instant): Promise<void> {
  const isDelivered = ended.status === "DELIVERED";
  parts.undelivered(aboutOf(run, ended.target), isDelivered ? undefined : undeliveredSentence(run, ended));
  for (let tries = 1; ; tries += 1) {
    try {
      return await parts.store.transact("report.delivered", async (unit) => {
        const kept = await unit.reportRuns.updateDelivery(ended);
        if (kept === undefined) return;
        await unit.events.publish(subjects.reportDelivered, {
          run_id: run.runId,
          report_id: ended.reportId,
          schedule: run.schedule,
          fund_id: run.fundId,
          target: ended.target,
          status: ended.status,
          reference: ended.reference,
          attempts: ended.attempts,
          ...(ended.detail !== undefined && { detail: ended.detail.replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ") }),
          at: format(now),
        });
      });
    } catch (thrown) {
      if (tries >= recordTriesMax || parts.ending.aborted) throw thrown;
      parts.log.warn("a delivery could not be recorded yet", { run: run.runId, error: messageOf(thrown) });
      await parts.timers.sleep(recordEveryMs, parts.ending);
    }
  }
}
