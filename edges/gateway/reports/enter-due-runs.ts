// Enters the runs that are due: one for each schedule, fund and moment, whoever looks and however often. What was missed while the platform was away is
// entered as missed, but for the newest of a day, which is made up.
import { format, type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { newNameComplaint } from "../../../contracts/src/text/new-name.ts";
import type { ReportRun } from "../../../ports/report-run-records.ts";
import type { Store, UnitOfWork } from "../../../ports/store.ts";
import { dueMoments } from "../../../reports/schedules/due-moments.ts";
import { formatOf, parametersOf } from "../../../reports/schedules/run-request.ts";
import { runSuperseded } from "../../../reports/schedules/run-steps.ts";
import { aboutMaking, runIdOf, unmadeSentence } from "./deliver-report.ts";
import type { SchedulePlan } from "./schedule-plan.ts";

/** As it stands in records when no person asked. */
const byTheClock = "service:gateway";
/** What is entered later than this was made up. */
const onTimeMs = 60_000;
export const openRunsMax = 256;

interface DueRuns {
  /** Answers whether any was entered. */
  enter(now: Instant): Promise<boolean>;
}

interface Watched {
  readonly considered: Instant;
  readonly next: Instant | undefined;
}

export function dueRuns(parts: {
  readonly store: Pick<Store, "transact">;
  readonly plans: readonly SchedulePlan[];
  funds(): Promise<readonly string[]>;
  /** What will never be made. */
  undelivered(about: string, sentence: string): void;
}): DueRuns {
  const { store, plans } = parts;
  /** As many as there are schedules and funds. */
  const watched = new Map<string, Watched>();
  const nameOf = (plan: SchedulePlan, fundId: string): string => `${plan.name} ${fundId}`;

  async function enterOne(plan: SchedulePlan, fundId: string, now: Instant): Promise<boolean> {
    const known = watched.get(nameOf(plan, fundId));
    if (known !== undefined && (known.next === undefined || known.next > now)) return false;
    const entered = await store.transact("report.run", (unit) => enterInto(unit, plan, fundId, now));
    if (entered.complaint !== undefined) {
      // It is asked again after the next start, which is when its name can be another.
      watched.set(nameOf(plan, fundId), { considered: now, next: undefined });
      parts.undelivered(`schedule ${plan.name}`, entered.complaint);
      return false;
    }
    for (const run of entered.superseded) parts.undelivered(aboutMaking(run), unmadeSentence(run));
    watched.set(nameOf(plan, fundId), { considered: entered.considered, next: plan.next(entered.considered) });
    return entered.any;
  }

  return {
    async enter(now) {
      let any = false;
      let all: readonly string[] | undefined;
      for (const plan of plans) {
        all ??= plan.funds === undefined ? await parts.funds() : undefined;
        for (const fundId of plan.funds ?? all ?? []) any = (await enterOne(plan, fundId, now)) || any;
      }
      return any;
    },
  };
}

async function enterInto(unit: UnitOfWork, plan: SchedulePlan, fundId: string, now: Instant) {
  const { reportRuns } = unit;
  const definition = `${plan.cron} in ${plan.timeZone}`;
  const cursor = await reportRuns.cursor(plan.name, fundId);
  const complaint = cursor === undefined ? newNameComplaint(plan.name) : undefined;
  if (complaint !== undefined && (await reportRuns.runs({ schedule: plan.name, countMax: 1 })).length === 0) {
    return { any: false, considered: now, superseded: [], complaint };
  }
  // One that is new, or means other moments than before, begins now: nothing was owed under it.
  const considered = cursor?.definition === definition ? cursor.considered : now;
  const found = dueMoments(plan.next, considered, now);
  let any = false;
  let superseded: readonly ReportRun[] = [];
  for (const [index, dueAt] of found.missed.entries()) {
    const more = index === 0 && found.passedOver > 0 ? ` So were ${found.passedOver} before it.` : "";
    const missed = { status: "MISSED", endedAt: now, detail: `Nobody was there to make it.${more}` } as const;
    any = (await entered(unit, { ...runOf(plan, fundId, dueAt, now), ...missed }, now)) || any;
  }
  if (found.due !== undefined) {
    superseded = await supersede(unit, plan, fundId, now);
    any = (await entered(unit, runOf(plan, fundId, found.due, now), now)) || any;
  }
  await reportRuns.putCursor(plan.name, fundId, { definition, considered: found.considered });
  return { any, considered: found.considered, superseded, complaint: undefined };
}

/** At most one waits for each schedule and fund, however slowly they are made. */
async function supersede(
  unit: UnitOfWork,
  plan: SchedulePlan,
  fundId: string,
  now: Instant,
): Promise<readonly ReportRun[]> {
  const superseded: ReportRun[] = [];
  for (const run of await unit.reportRuns.openRuns(openRunsMax)) {
    const isBefore = run.schedule === plan.name && run.fundId === fundId && run.status === "DUE";
    if (!isBefore || run.trigger === "OPERATOR") continue;
    const ended = await unit.reportRuns.updateRun(runSuperseded(run, now));
    if (ended === undefined) continue;
    await publishRun(unit, ended, now);
    superseded.push(ended);
  }
  return superseded;
}

function runOf(plan: SchedulePlan, fundId: string, dueAt: Instant, now: Instant): ReportRun {
  const isLate = millisecondsBetween(dueAt, now) > onTimeMs;
  return newRun(plan, fundId, dueAt, { trigger: isLate ? "MADE_UP" : "SCHEDULE", requestedBy: byTheClock, now });
}

export function newRun(
  plan: SchedulePlan,
  fundId: string,
  dueAt: Instant,
  {
    trigger,
    requestedBy,
    reason,
    now,
  }: Pick<ReportRun, "trigger" | "requestedBy" | "reason"> & { readonly now: Instant },
): ReportRun {
  return {
    runId: runIdOf(plan.name, fundId, dueAt, trigger === "OPERATOR"),
    schedule: plan.name,
    report: plan.report,
    fundId,
    dueAt,
    trigger,
    requestedBy,
    ...(reason !== undefined && { reason }),
    createdAt: now,
    parameters: parametersOf({ report: plan.report, fundId, window: plan.window, dueAt, day: plan.day }),
    format: formatOf(plan.targets),
    targets: plan.targets,
    status: "DUE",
    attempts: 0,
    nextAt: now,
    version: 1,
  };
}

/** False when there is one already. */
export async function entered(unit: UnitOfWork, run: ReportRun, now: Instant): Promise<boolean> {
  const isNew = await unit.reportRuns.insertRun(run);
  if (isNew) await publishRun(unit, run, now);
  return isNew;
}

export async function publishRun(unit: UnitOfWork, run: ReportRun, now: Instant): Promise<void> {
  await unit.events.publish(subjects.reportRunRecorded, {
    run_id: run.runId,
    schedule: run.schedule,
    report: run.report,
    fund_id: run.fundId,
    due_at: format(run.dueAt),
    trigger: run.trigger,
    status: run.status,
    requested_by: run.requestedBy,
    ...(run.reason !== undefined && { reason: run.reason }),
    ...(run.detail !== undefined && { detail: run.detail }),
    at: format(now),
  });
}
