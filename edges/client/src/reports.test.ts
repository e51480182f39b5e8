// The reports as functions: asked for under the specification's names, waited for, and handed over as text or bytes.
import { describe, expect, it } from "vitest";
import { createReports, ReportFailedError } from "./reports.ts";

type Client = Parameters<typeof createReports>[0];
type Standing = Awaited<ReturnType<Client["getReport"]>>;

function fakeClient(standings: readonly Partial<Standing>[]) {
  const left = [...standings];
  const asked: unknown[] = [];
  const client = {
    makeReport: async (given: unknown) => {
      asked.push(given);
      return { report_id: "r-1" };
    },
    getReport: async () => ({ progress: "", ...(left.shift() ?? { status: "DONE" }) }),
    reportDocument: async (given: unknown) => {
      asked.push(given);
      return new TextEncoder().encode("content");
    },
  };
  return { client: client as unknown as Client, asked };
}

describe("createReports", () => {
  it("asks by position, waits until it is done, and gives text", async () => {
    const { client, asked } = fakeClient([{ status: "QUEUED" }, { status: "RUNNING", progress: "Reading values" }]);
    const heard: string[] = [];
    const options = { as_of: "2026-11-18T00:00:00Z", onProgress: (text: string) => heard.push(text) };
    const text = await createReports(client).trade_report(
      "alpha",
      "2026-01-01",
      "2026-06-30",
      "csv",
      ["summary"],
      options,
    );
    expect(text).toBe("content");
    expect(asked).toEqual([
      {
        report: "trade_report",
        parameters: {
          as_of: "2026-11-18T00:00:00Z",
          fund_id: "alpha",
          start: "2026-01-01",
          end: "2026-06-30",
          include: ["summary"],
        },
        format: "csv",
      },
      { reportId: "r-1", format: "csv" },
    ]);
    expect(heard).toContain("Reading values");
  });
  it("gives a PDF as bytes, and html when no format is named", async () => {
    const { client, asked } = fakeClient([]);
    const reports = createReports(client);
    expect(await reports.navReport("alpha", "30d", "pdf")).toEqual(new TextEncoder().encode("content"));
    expect(await reports.postmortem_auto_rca("alpha", "2026-01-01", "2026-01-09")).toBe("content");
    expect(asked[2]).toMatchObject({ report: "postmortem_auto_rca", format: "html" });
  });
  it("has every function of the specification under both names", () => {
    const reports: object = createReports(fakeClient([]).client);
    const names = Object.keys(reports);
    expect(names.filter((name) => name.includes("_"))).toHaveLength(10);
    for (const name of names.filter((each) => each.includes("_"))) {
      const camel = name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase()) as keyof typeof reports;
      expect(reports[camel]).toBe(reports[name as keyof typeof reports]);
    }
  });
  it("says why the platform could not make it", async () => {
    const { client } = fakeClient([{ status: "FAILED", detail: "There is no fund nobody." }]);
    const failing = createReports(client).nav_report("nobody", "30d");
    await expect(failing).rejects.toThrow(ReportFailedError);
    await expect(failing).rejects.toThrow("There is no fund nobody.");
  });
});
