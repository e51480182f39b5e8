// The suite that every store passes with the platform's reports: ports/report-records.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { StoredReport } from "../../ports/report-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import { rejection } from "./waiting.ts";

export interface ReportFixture {
  readonly store: Store;
  close(): Promise<void>;
}

export function exampleReport(reportId: string, second: number, more: Partial<StoredReport> = {}): StoredReport {
  return {
    reportId,
    report: "nav_report",
    parameters: { fund_id: "alpha", window: "30d", include: ["summary"], year: 2026 },
    format: "pdf",
    requestedBy: "operator:duty",
    requestedAt: fromMicroseconds(1_700_000_000_000_000 + second * 1_000_000),
    status: "QUEUED",
    progress: "It waits.",
    ...more,
  };
}

const made = (question: string): NonNullable<StoredReport["made"]> => ({
  title: "NAV report: alpha",
  reconciled: true,
  factsSha256: "ab".repeat(32),
  question,
  documents: { pdf: { sha256: "cd".repeat(32), bytes: 4 } },
  restates: { report_id: "r-0", changes: ["twr was 0.1 and is 0.2"] },
});

export function reportConformance(name: string, open: () => Promise<ReportFixture>): void {
  const withStore = async (
    run: (doing: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>) => Promise<void>,
  ) => {
    const { store, close } = await open();
    try {
      await run((work) => store.transact("conformance.reports", work));
    } finally {
      await close();
    }
  };

  it(`reports, ${name}: come back as they were, with their documents, and are changed`, () =>
    withStore(async (doing) => {
      const one = exampleReport("r-1", 1);
      await doing((unit) => unit.reports.insertReport(one));
      expect(await doing((unit) => unit.reports.report("r-1"))).toEqual(one);
      expect(await doing((unit) => unit.reports.report("r-2"))).toBeUndefined();
      const again = doing((unit) => unit.reports.insertReport(one));
      expect(await rejection(again, "an id that is taken")).toMatchObject({ code: "STORE_CONFLICT" });
      const done: StoredReport = { ...one, status: "DONE", made: made("q"), endedAt: one.requestedAt };
      const content = Uint8Array.from([0, 255, 10, 128]);
      await doing(async (unit) => {
        await unit.reports.updateReport(done);
        await unit.reports.putReportDocument("r-1", "pdf", content);
      });
      expect(await doing((unit) => unit.reports.report("r-1"))).toEqual(done);
      expect(await doing((unit) => unit.reports.reportDocument("r-1", "pdf"))).toEqual(content);
      expect(await doing((unit) => unit.reports.reportDocument("r-1", "html"))).toBeUndefined();
    }));

  it(`reports, ${name}: are listed newest first, page after page, and the newest answer to a question is found`, () =>
    withStore(async (doing) => {
      const rows = [
        exampleReport("r-1", 1, { status: "DONE", made: made("q") }),
        exampleReport("r-2", 2, { status: "RUNNING" }),
        exampleReport("r-3", 2, { status: "DONE", made: made("q") }),
        exampleReport("r-4", 3),
        exampleReport("r-5", 4, { status: "FAILED", detail: "It died." }),
      ];
      for (const row of rows) await doing((unit) => unit.reports.insertReport(row));
      const ids = async (asked: { countMax: number; after?: string }) =>
        (await doing((unit) => unit.reports.reports(asked))).map(({ reportId }) => reportId);
      expect(await ids({ countMax: 3 })).toEqual(["r-5", "r-4", "r-3"]);
      expect(await ids({ countMax: 3, after: "r-3" })).toEqual(["r-2", "r-1"]);
      expect(await ids({ countMax: 3, after: "r-9" })).toEqual([]);
      const unfinished = await doing((unit) => unit.reports.unfinishedReports());
      expect(unfinished.map(({ reportId }) => reportId)).toEqual(["r-2", "r-4"]);
      expect((await doing((unit) => unit.reports.newestAnswer("q")))?.reportId).toBe("r-3");
      expect(await doing((unit) => unit.reports.newestAnswer("other"))).toBeUndefined();
    }));

  it(`reports, ${name}: those beyond the newest go with their documents, but none that is not over`, () =>
    withStore(async (doing) => {
      await doing((unit) => unit.reports.insertReport(exampleReport("r-1", 1)));
      await doing((unit) => unit.reports.insertReport(exampleReport("r-2", 2, { status: "DONE", made: made("q") })));
      await doing((unit) => unit.reports.putReportDocument("r-2", "json", Uint8Array.from([1])));
      await doing((unit) => unit.reports.insertReport(exampleReport("r-3", 3, { status: "FAILED" })));
      expect(await doing((unit) => unit.reports.trimReports(1))).toBe(1);
      const left = await doing((unit) => unit.reports.reports({ countMax: 10 }));
      expect(left.map(({ reportId }) => reportId)).toEqual(["r-3", "r-1"]);
      expect(await doing((unit) => unit.reports.reportDocument("r-2", "json"))).toBeUndefined();
    }));
}
