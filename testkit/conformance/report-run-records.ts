// The suite that every store passes with the runs of scheduled reports: ports/report-run-records.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { ReportDelivery, ReportRun } from "../../ports/report-run-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";

export interface ReportRunFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const second = (count: number) => fromMicroseconds(1_700_000_000_000_000 + count * 1_000_000);

export function exampleRun(runId: string, due: number, more: Partial<ReportRun> = {}): ReportRun {
  return {
    runId,
    schedule: "daily-nav",
    report: "nav_report",
    fundId: "alpha",
    dueAt: second(due),
    trigger: "SCHEDULE",
    requestedBy: "service:gateway",
    createdAt: second(due),
    parameters: { fund_id: "alpha", window: "1d" },
    format: "pdf",
    targets: ["email", "chat"],
    status: "DUE",
    attempts: 0,
    nextAt: second(due),
    version: 1,
    ...more,
  };
}

const exampleDelivery = (runId: string, more: Partial<ReportDelivery> = {}): ReportDelivery => ({
  runId,
  target: "email",
  reportId: "r-1",
  status: "PENDING",
  createdAt: second(1),
  attempts: 0,
  nextAt: second(1),
  version: 1,
  reference: "run.x@portcullis",
  ...more,
});

export function reportRunConformance(name: string, open: () => Promise<ReportRunFixture>): void {
  it(`report runs, ${name}: one for each schedule, fund and moment; changed once; listed, delivered and trimmed`, async () => {
    const { store, close } = await open();
    const doing = <T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
      store.transact("conformance.reports", work);
    const insert = (run: ReportRun) => doing((unit) => unit.reportRuns.insertRun(run));
    try {
      await onePerMoment(doing, insert);
      await changedOnce(doing);
      await listed(doing, insert);
      await trimmed(doing);
    } finally {
      await close();
    }
  });
}

type Doing = <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>;

/** Promise 1. */
async function onePerMoment(doing: Doing, insert: (run: ReportRun) => Promise<boolean>): Promise<void> {
  expect(await doing((unit) => unit.reportRuns.cursor("daily-nav", "alpha"))).toBeUndefined();
  for (const considered of [second(1), second(2)]) {
    const cursor = { definition: "0 6 * * * in UTC", considered };
    await doing((unit) => unit.reportRuns.putCursor("daily-nav", "alpha", cursor));
    expect(await doing((unit) => unit.reportRuns.cursor("daily-nav", "alpha"))).toEqual(cursor);
  }
  const two = await Promise.all([insert(exampleRun("a-1", 1)), insert(exampleRun("a-2", 1))]);
  expect(two.filter((isNew) => isNew).length).toBe(1);
  expect(await insert(exampleRun("a-3", 1))).toBe(false);
  expect(await insert(exampleRun("b-1", 1, { fundId: "beta" }))).toBe(true);
  expect(await insert(exampleRun("asked", 1, { trigger: "OPERATOR", reason: "look" }))).toBe(true);
  const run = await doing((unit) => unit.reportRuns.run("b-1"));
  expect(run).toEqual(exampleRun("b-1", 1, { fundId: "beta" }));
}

/** Promise 2. */
async function changedOnce(doing: Doing): Promise<void> {
  const run = exampleRun("b-1", 1, { fundId: "beta", status: "MAKING", holder: "one", reportId: "r-1" });
  const [first, second_] = await Promise.all(
    [1, 2].map(() => doing((unit) => unit.reportRuns.updateRun(run)).catch(() => undefined)),
  );
  expect([first, second_].filter((one) => one !== undefined)).toEqual([{ ...run, version: 2 }]);
  expect(await doing((unit) => unit.reportRuns.updateRun(run))).toBeUndefined();
  await doing((unit) => unit.reportRuns.insertDelivery(exampleDelivery("b-1")));
  await doing((unit) => unit.reportRuns.insertDelivery(exampleDelivery("b-1", { attempts: 9 })));
  await doing((unit) => unit.reportRuns.insertDelivery(exampleDelivery("b-1", { target: "chat", nextAt: second(0) })));
  const open = await doing((unit) => unit.reportRuns.openDeliveries(10));
  expect(open.map(({ target, attempts }) => [target, attempts])).toEqual([
    ["chat", 0],
    ["email", 0],
  ]);
  const sent: ReportDelivery = { ...exampleDelivery("b-1"), status: "DELIVERED", endedAt: second(3), detail: "taken" };
  expect(await doing((unit) => unit.reportRuns.updateDelivery(sent))).toEqual({ ...sent, version: 2 });
  expect(await doing((unit) => unit.reportRuns.updateDelivery(sent))).toBeUndefined();
  const both = await doing((unit) => unit.reportRuns.deliveries("b-1"));
  expect(both.map(({ target, status }) => [target, status])).toEqual([
    ["chat", "PENDING"],
    ["email", "DELIVERED"],
  ]);
}

async function listed(doing: Doing, insert: (run: ReportRun) => Promise<boolean>): Promise<void> {
  await insert(exampleRun("a-9", 9, { status: "MISSED", endedAt: second(9) }));
  await insert(exampleRun("other", 5, { schedule: "weekly-tca", report: "tca_report", status: "MADE" }));
  const ids = (asked: { countMax: number; after?: string; fundId?: string }) =>
    doing(async (unit) => (await unit.reportRuns.runs({ schedule: "daily-nav", ...asked })).map(({ runId }) => runId));
  expect((await ids({ countMax: 10 }))[0]).toBe("a-9");
  expect(await ids({ countMax: 10, fundId: "beta" })).toEqual(["b-1"]);
  const rest = await ids({ countMax: 10, after: "a-9" });
  expect(rest.length).toBe(3);
  expect(await ids({ countMax: 1, after: rest[0] ?? "" })).toEqual([rest[1]]);
  expect(await ids({ countMax: 10, after: "nobody" })).toEqual([]);
  const open = await doing((unit) => unit.reportRuns.openRuns(10));
  expect(open.map(({ status }) => status).sort()).toEqual(["DUE", "DUE", "MAKING"]);
}

/** Promise 3: `b-1` is open, and so would it be for its pending delivery. */
async function trimmed(doing: Doing): Promise<void> {
  const made = exampleRun("b-1", 1, { fundId: "beta", status: "MADE", version: 2 });
  await doing((unit) => unit.reportRuns.updateRun(made));
  expect(await doing((unit) => unit.reportRuns.trimRuns(1))).toBe(1);
  const chat = exampleDelivery("b-1", { target: "chat", status: "UNDELIVERED", endedAt: second(4) });
  await doing((unit) => unit.reportRuns.updateDelivery(chat));
  expect(await doing((unit) => unit.reportRuns.trimRuns(1))).toBe(1);
  expect(await doing((unit) => unit.reportRuns.run("b-1"))).toBeUndefined();
  expect(await doing((unit) => unit.reportRuns.deliveries("b-1"))).toEqual([]);
  expect(await doing((unit) => unit.reportRuns.trimRuns(0))).toBe(1);
  expect((await doing((unit) => unit.reportRuns.openRuns(10))).length).toBe(2);
}
