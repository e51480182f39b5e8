// Reports that the platform makes, on the running platform with its seeded year: every report as a PDF and as text, by functions of the client; who may ask;
// what the audit log says; and that a report's process, or the gateway, killed in the middle, fails that report and nothing else.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import { createReports } from "../edges/client/src/reports.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";

let platform: Platform;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  platform = startPlatform({ funds: "as configured" });
  await platform.ready();
  for (const name of ["duty", "viewer"]) tokens[name] = (await logInAs(platform, name)).access_token;
}, 300_000);
afterAll(() => platform.end());

const clientOf = (name: string) => createClient({ baseUrl: operatorUrl(platform), token: () => tokens[name] ?? "" });
const asked = { report: "nav_report", parameters: { fund_id: "alpha", window: "1y" }, format: "pdf" } as const;

/** Found by its module, among the processes of this machine that are this platform's. */
function reportProcess(): number | undefined {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "latin1");
        const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
        return line.includes("report-process.js") && environment.includes(platform.dataFolder);
      } catch {
        // It ended meanwhile.
        return false;
      }
    });
}

test("a report is made, kept with its hashes and audited; everybody reads it, not everybody makes it", async () => {
  const duty = clientOf("duty");
  // In the first moments of a platform, while it takes in its first positions.
  const first = JSON.parse(await createReports(duty).nav_report("alpha", "1y", "json"));
  const lines = first.reconciliation as { readonly name: string; readonly difference: string }[];
  expect(lines.filter(({ difference }) => Number(difference) !== 0)).toEqual([]);
  const pdf = await createReports(duty).nav_report("alpha", "1y", "pdf");
  expect(Buffer.from(pdf).subarray(0, 5).toString()).toBe("%PDF-");
  const [report] = await clientOf("viewer").listReports();
  const sha256 = createHash("sha256").update(pdf).digest("hex");
  expect(report).toMatchObject({ status: "DONE", reconciled: true, documents: { pdf: { sha256, bytes: pdf.length } } });
  const { report_id: reportId = "" } = report ?? {};
  expect(await clientOf("viewer").reportDocument({ reportId, format: "pdf" })).toEqual(pdf);
  await expect(clientOf("viewer").makeReport(asked)).rejects.toMatchObject({ status: 403 });
  await eventually("the audit log has it", async () => {
    const entries = await duty.getAuditTrail({ subjectId: reportId });
    return entries.some((entry) => entry.action === "report.made" && JSON.stringify(entry).includes(sha256));
  });
}, 180_000);

test("what cannot be made fails with a sentence", async () => {
  const reports = createReports(clientOf("duty"));
  await expect(reports.nav_report("nobody", "1y")).rejects.toThrow("There is no fund nobody.");
  await expect(reports.nav_report("alpha", "2w")).rejects.toThrow("is no window");
  const duty = clientOf("duty");
  // An option of ctl that is no parameter of a report: the token would go elsewhere, or a file of this machine be read.
  for (const name of ["server", "facts", "output"]) {
    const parameters = { ...asked.parameters, [name]: "http://127.0.0.1:1" };
    const { report_id: reportId } = await duty.makeReport({ ...asked, parameters });
    await eventually("it failed", async () => (await duty.getReport({ reportId })).status === "FAILED");
    expect((await duty.getReport({ reportId })).detail).toContain(`has no parameter ${name}`);
  }
}, 180_000);

test("a report's process that is killed fails one report and nothing else", async () => {
  const duty = clientOf("duty");
  const { report_id: reportId } = await duty.makeReport(asked);
  const { report_id: next } = await duty.makeReport({ ...asked, format: "csv" });
  let pid: number | undefined;
  await eventually("its process runs", () => {
    pid = reportProcess();
    return pid !== undefined;
  });
  process.kill(pid ?? 0, "SIGKILL");
  await eventually("it failed", async () => (await duty.getReport({ reportId })).status === "FAILED");
  expect((await duty.getReport({ reportId })).detail).toContain("SIGKILL");
  await eventually("the next one is made", async () => (await duty.getReport({ reportId: next })).status === "DONE");
  expect(await platform.health()).toBe(200);
}, 180_000);

test("what ran when the gateway was killed has failed, and its process is gone", async () => {
  const duty = clientOf("duty");
  const { report_id: reportId } = await duty.makeReport(asked);
  await eventually("its process runs", () => reportProcess() !== undefined);
  const gateway = platform.runFile().processes["gateway"] ?? 0;
  process.kill(gateway, "SIGKILL");
  await eventually("the gateway is back", () => platform.runFile().processes["gateway"] !== gateway);
  await eventually("it answers", async () => (await platform.health()) === 200);
  expect(await duty.getReport({ reportId })).toMatchObject({
    status: "FAILED",
    detail: expect.stringContaining("ask for it again"),
  });
  await eventually("the process is gone", () => reportProcess() === undefined);
}, 180_000);
