// Scheduled reports: enters what is due, has it made, delivers it, and raises the alarm for what is neither a day later. Everything that must survive is
// in the store; another gateway, or the next one, goes on where this one ended.
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Random } from "../../../ports/random.ts";
import type { ReportDelivery, ReportRun } from "../../../ports/report-run-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { isOverdue } from "../../../reports/schedules/run-steps.ts";
import { aboutMaking, aboutOf, undeliveredSentence, unmadeSentence } from "./deliver-report.ts";
import { dueRuns, entered, newRun, openRunsMax } from "./enter-due-runs.ts";
import { type DeliveryMaking, makeDeliveries } from "./make-deliveries.ts";
import { makeRuns } from "./make-runs.ts";
import type { ReportQueue } from "./report-queue.ts";
import type { SchedulePlan } from "./schedule-plan.ts";

const keptRunsMax = 10_000;
const tickMs = 1_000;
/** How long others' work, or what an earlier process left, may lie unseen while this process has none. */
const quietMs = 15_000;
const stopMsMax = 2_000;

export interface RunWithDeliveries {
  readonly run: ReportRun;
  readonly deliveries: readonly ReportDelivery[];
}

export interface ScheduleStanding {
  readonly plan: SchedulePlan;
  readonly nextAt: Instant | undefined;
  /** The newest of each fund. */
  readonly lastRuns: readonly RunWithDeliveries[];
}

export interface ReportScheduler {
  schedules(): Promise<readonly ScheduleStanding[]>;
  /** Rejects with NOT_FOUND where no schedule is called so. */
  runs(
    name: string,
    page: { readonly countMax: number; readonly after?: string | undefined },
  ): Promise<readonly RunWithDeliveries[]>;
  /** Enters a run now for each of its funds. */
  runNow(name: string, requestedBy: string, reason?: string): Promise<readonly ReportRun[]>;
  /** One step of everything. */
  tick(): Promise<void>;
  /** Resolves when no delivery is under way. */
  idle(): Promise<void>;
}

export interface SchedulerParts extends DeliveryMaking {
  readonly queue: ReportQueue;
  readonly random: Random;
  readonly plans: readonly SchedulePlan[];
  /** Every fund that there is. */
  funds(): Promise<readonly string[]>;
}

export function createReportScheduler(parts: SchedulerParts): ReportScheduler {
  const { store, clock, plans } = parts;
  const due = dueRuns(parts);
  const deliveries = makeDeliveries(parts);
  let quietSince: Instant | undefined;

  async function planOf(name: string): Promise<SchedulePlan> {
    const found = plans.find((plan) => plan.name === name);
    if (found !== undefined) return found;
    const known = plans.map((plan) => plan.name).join(", ");
    const sentence = `There is no schedule ${name}. ${known === "" ? "None is configured." : `There are ${known}.`}`;
    throw new Fault("NOT_FOUND", sentence, { retry: "never" });
  }

  return {
    schedules: () => standingOf(parts),
    async runs(name, page) {
      const { name: schedule } = await planOf(name);
      return store.transact("report.run-look", async (unit) =>
        withDeliveries(unit, await unit.reportRuns.runs({ schedule, ...page })),
      );
    },
    async runNow(name, requestedBy, reason) {
      const plan = await planOf(name);
      const now = clock.now();
      const funds = plan.funds ?? (await parts.funds());
      const asked = { trigger: "OPERATOR", requestedBy, ...(reason !== undefined && { reason }), now } as const;
      const runs = funds.map((fundId) => newRun(plan, fundId, now, asked));
      await store.transact("report.run", async (unit) => {
        if ((await unit.reportRuns.openRuns(openRunsMax)).length + runs.length > openRunsMax) {
          const sentence = `At most ${openRunsMax} runs may wait: ask again when some are made.`;
          throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
        }
        for (const run of runs) await entered(unit, run, now);
      });
      quietSince = undefined;
      return runs;
    },
    async tick() {
      if (await due.enter(clock.now())) quietSince = undefined;
      if (quietSince !== undefined && millisecondsBetween(quietSince, clock.now()) < quietMs) return;
      const seen = await store.transact("report.run-look", async (unit) => ({
        runs: await unit.reportRuns.openRuns(openRunsMax),
        deliveries: await unit.reportRuns.openDeliveries(openRunsMax),
        alive: new Set((await unit.instances.alive(clock.now())).map(({ incarnation }) => incarnation)),
      }));
      quietSince = seen.runs.length + seen.deliveries.length === 0 ? clock.now() : undefined;
      await makeRuns(parts, seen.runs, seen.alive);
      deliveries.begin(seen.deliveries, seen.alive);
      await tellOverdue(parts, seen.runs, seen.deliveries);
    },
    idle: () => deliveries.idle(),
  };
}

/** Ticks until it is stopped; then waits a little for what is being sent. */
export function runReportScheduler(
  scheduler: ReportScheduler,
  { timers, log, store, ending }: Pick<SchedulerParts, "timers" | "log" | "store" | "ending">,
): { stop(): Promise<void> } {
  async function loop(): Promise<void> {
    for (let count = 0; !ending.aborted; count += 1) {
      try {
        await scheduler.tick();
        if (count % 3_600 === 0) await store.transact("report.trim", (unit) => unit.reportRuns.trimRuns(keptRunsMax));
      } catch (thrown) {
        if (!ending.aborted) log.warn("scheduled reports wait for their next turn", { error: messageOf(thrown) });
      }
      await timers.sleep(tickMs, ending);
    }
  }
  const looping = loop();
  return {
    async stop() {
      await looping;
      await Promise.race([scheduler.idle(), timers.sleep(stopMsMax)]);
    },
  };
}

async function standingOf({ store, clock, plans, funds }: SchedulerParts): Promise<readonly ScheduleStanding[]> {
  const all = plans.some((plan) => plan.funds === undefined) ? await funds() : [];
  const now = clock.now();
  return store.transact("report.run-look", async (unit) => {
    const found: ScheduleStanding[] = [];
    for (const plan of plans) {
      const lastRuns: RunWithDeliveries[] = [];
      for (const fundId of plan.funds ?? all) {
        const newest = await unit.reportRuns.runs({ schedule: plan.name, fundId, countMax: 1 });
        lastRuns.push(...(await withDeliveries(unit, newest)));
      }
      found.push({ plan, nextAt: plan.next(now), lastRuns });
    }
    return found;
  });
}

async function withDeliveries(unit: UnitOfWork, runs: readonly ReportRun[]): Promise<readonly RunWithDeliveries[]> {
  const found: RunWithDeliveries[] = [];
  for (const run of runs) found.push({ run, deliveries: await unit.reportRuns.deliveries(run.runId) });
  return found;
}

/** Raised while it stands; cleared by whoever makes or delivers it. */
async function tellOverdue(
  { store, clock, undelivered }: SchedulerParts,
  runs: readonly ReportRun[],
  deliveries: readonly ReportDelivery[],
): Promise<void> {
  const now = clock.now();
  const overdue = new Map<string, string>();
  for (const run of runs.filter((one) => isOverdue(one, now))) {
    overdue.set(aboutMaking(run), unmadeSentence(run));
  }
  for (const one of deliveries.filter((each) => isOverdue(each, now))) {
    const run = await store.transact("report.run-look", (unit) => unit.reportRuns.run(one.runId));
    if (run === undefined) continue;
    overdue.set(aboutOf(run, one.target), undeliveredSentence(run, one));
  }
  for (const [about, sentence] of overdue) undelivered(about, sentence);
}
