// The runs of scheduled reports and their deliveries in a transaction of the memory store.
import type { ReportDelivery, ReportRun, ReportRunRecords, ScheduleCursor } from "../../../ports/report-run-records.ts";
import type { RecordTools } from "../layered-map.ts";

export interface ReportRunTables {
  readonly cursors: Map<string, ScheduleCursor>;
  readonly runs: Map<string, ReportRun>;
  readonly deliveries: Map<string, ReportDelivery>;
}

export function reportRunTables(): ReportRunTables {
  return { cursors: new Map(), runs: new Map(), deliveries: new Map() };
}

const byId = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
const newestFirst = (one: ReportRun, other: ReportRun): number =>
  other.dueAt - one.dueAt || byId(other.runId, one.runId);
const nextFirst = (one: ReportDelivery, other: ReportDelivery): number =>
  one.nextAt - other.nextAt || byId(one.runId, other.runId) || byId(one.target, other.target);
const isOpen = ({ status }: ReportRun): boolean => status === "DUE" || status === "MAKING";
const isSame = (one: ReportRun, other: ReportRun): boolean =>
  one.schedule === other.schedule &&
  one.fundId === other.fundId &&
  one.dueAt === other.dueAt &&
  (one.trigger === "OPERATOR") === (other.trigger === "OPERATOR");

export function reportRunChanges(tables: ReportRunTables, { inTurn, lock, table }: RecordTools): ReportRunRecords {
  const cursors = table("report_schedule", tables.cursors);
  const runs = table("report_run", tables.runs);
  const deliveries = table("report_delivery", tables.deliveries);
  const nameOf = ({ runId, target }: Pick<ReportDelivery, "runId" | "target">): string => `${runId} ${target}`;
  const all = (): ReportRun[] => runs.sorted().sort(newestFirst);
  return {
    cursor: (schedule, fundId) => inTurn(async () => cursors.get(`${schedule} ${fundId}`)),
    putCursor: (schedule, fundId, cursor) =>
      inTurn(async () => {
        await lock(`report_schedule ${schedule} ${fundId}`);
        cursors.set(`${schedule} ${fundId}`, cursor);
      }),
    insertRun: (run) =>
      inTurn(async () => {
        await lock(`report_run ${run.schedule} ${run.fundId} ${run.dueAt}`);
        if (runs.has(run.runId) || runs.filter((one) => isSame(one, run)).length > 0) return false;
        runs.set(run.runId, run);
        return true;
      }),
    updateRun: (run) =>
      inTurn(async () => {
        await lock(`report_run ${run.runId}`);
        if (runs.get(run.runId)?.version !== run.version) return undefined;
        const next: ReportRun = { ...run, version: run.version + 1 };
        runs.set(run.runId, next);
        return next;
      }),
    run: (runId) => inTurn(async () => runs.get(runId)),
    openRuns: (countMax) => inTurn(async () => all().filter(isOpen).reverse().slice(0, countMax)),
    runs: ({ schedule, fundId, countMax, after }) =>
      inTurn(async () => {
        const named = after === undefined ? undefined : runs.get(after);
        if (after !== undefined && named === undefined) return [];
        return all()
          .filter((one) => one.schedule === schedule && (fundId === undefined || one.fundId === fundId))
          .filter((one) => named === undefined || newestFirst(named, one) < 0)
          .slice(0, countMax);
      }),
    insertDelivery: (delivery) =>
      inTurn(async () => {
        await lock(`report_delivery ${nameOf(delivery)}`);
        if (!deliveries.has(nameOf(delivery))) deliveries.set(nameOf(delivery), delivery);
      }),
    updateDelivery: (delivery) =>
      inTurn(async () => {
        await lock(`report_delivery ${nameOf(delivery)}`);
        if (deliveries.get(nameOf(delivery))?.version !== delivery.version) return undefined;
        const next: ReportDelivery = { ...delivery, version: delivery.version + 1 };
        deliveries.set(nameOf(delivery), next);
        return next;
      }),
    deliveries: (runId) =>
      inTurn(async () =>
        deliveries.filter((one) => one.runId === runId).sort((one, other) => byId(one.target, other.target)),
      ),
    openDeliveries: (countMax) =>
      inTurn(async () =>
        deliveries
          .filter(({ status }) => status === "PENDING")
          .sort(nextFirst)
          .slice(0, countMax),
      ),
    trimRuns: (keep) =>
      inTurn(async () => {
        const isPending = ({ runId }: ReportRun): boolean =>
          deliveries.filter((one) => one.runId === runId && one.status === "PENDING").length > 0;
        const gone = all()
          .slice(keep)
          .filter((one) => !isOpen(one) && !isPending(one));
        for (const { runId } of gone) {
          runs.delete(runId);
          for (const one of deliveries.filter((each) => each.runId === runId)) deliveries.delete(nameOf(one));
        }
        return gone.length;
      }),
  };
}
