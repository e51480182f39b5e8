// Does an order wait longer while a report is made? CheckOrder with eight in flight on the whole platform, in windows with and without a process beside it
// that makes a PDF of ten thousand trades, in turns, in the same run.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { yieldToOthers } from "../../adapters/system/limited-process.ts";
import { startPlatform } from "../../testkit/platform.ts";
import { exampleOrder } from "../../testkit/record-examples.ts";
import { keptFactsWith } from "../../testkit/report-facts.ts";
import { openRiskClient, type RiskClient } from "../../testkit/risk/client.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { repository } from "../ctl-start.ts";

const inFlight = 8;
const ratioAim = 1.5;
const warmUpMs = 3_000;

export const reports: Bench = {
  name: "reports",
  sentence: "CheckOrder's p99 while a PDF of 10,000 trades is made, against without, in turns.",
  run: (progress) => runReports({ rounds: 3, trades: 10_000, windowMsMin: 3_000 }, progress),
};

export interface Extent {
  readonly rounds: number;
  readonly trades: number;
  /** Of a window without a report; one with it lasts as long as the report takes. */
  readonly windowMsMin: number;
}

interface Window {
  readonly latenciesMs: readonly number[];
  readonly seconds: number;
}

export async function runReports(extent: Extent, progress: (line: string) => void): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), "portcullis-bench-reports-"));
  const platform = startPlatform({ root: repository() });
  try {
    const factsFile = join(folder, "facts.json");
    const facts = keptFactsWith(extent.trades);
    writeFileSync(factsFile, facts.text);
    await platform.ready();
    const client = await openRiskClient(platform);
    try {
      await checking(client, () => pausedFor(warmUpMs));
      const [quiet, busy]: [Window[], Window[]] = [[], []];
      let [reportSeconds, pdfBytes] = [0, 0];
      for (let round = 1; round <= extent.rounds; round += 1) {
        progress(`round ${round} of ${extent.rounds}: without, then with a report`);
        const pdf = join(folder, `report-${round}.pdf`);
        const withReport = await checking(client, () => reportMade(factsFile, pdf, facts));
        busy.push(withReport);
        quiet.push(await checking(client, () => pausedFor(Math.max(extent.windowMsMin, withReport.seconds * 1_000))));
        reportSeconds += withReport.seconds;
        pdfBytes = statSync(pdf).size;
      }
      return resultOf(quiet, busy, {
        reportSeconds: reportSeconds / extent.rounds,
        pdfBytes,
        trades: facts.trades,
      });
    } finally {
      client.close();
    }
  } finally {
    await platform.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

const pausedFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Eight callers, one call after the other each, for as long as the other work lasts. */
async function checking(client: RiskClient, work: () => Promise<void>): Promise<Window> {
  const begun = performance.now();
  const latenciesMs: number[] = [];
  let isOver = false;
  const caller = async (): Promise<void> => {
    while (!isOver) {
      const asked = performance.now();
      await client.check({ ...exampleOrder, order_id: randomUUID(), idempotency_key: randomUUID(), dry_run: false });
      latenciesMs.push(performance.now() - asked);
    }
  };
  const callers = Array.from({ length: inFlight }, caller);
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(callers);
  }
  return { latenciesMs, seconds: (performance.now() - begun) / 1_000 };
}

/** `ctl report trade` from a facts file: the same code in a process of the same priority as the platform's own reports. */
async function reportMade(
  factsFile: string,
  pdf: string,
  { start, end }: { readonly start: string; readonly end: string },
): Promise<void> {
  const ctl = join(repository(), "edges", "ctl", "bin", "ctl.js");
  const period = ["--start", start, "--end", end];
  const child: ChildProcess = spawn(
    process.execPath,
    [ctl, "report", "trade", "--facts", factsFile, ...period, "--output", pdf],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  yieldToOthers(child.pid);
  let said = "";
  child.stderr?.on("data", (text: Buffer) => {
    said = `${said}${text.toString()}`.slice(-500);
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`the report ended with ${code}: ${said}`);
}

interface Made {
  readonly reportSeconds: number;
  readonly pdfBytes: number;
  readonly trades: number;
}

function resultOf(quiet: readonly Window[], busy: readonly Window[], made: Made): BenchResult {
  const of = (windows: readonly Window[]) => {
    const all = windows.flatMap(({ latenciesMs }) => latenciesMs).sort((one, other) => one - other);
    const at = (share: number): number =>
      rounded(all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN);
    return { calls: all.length, p50: at(0.5), p99: at(0.99) };
  };
  const [without, beside] = [of(quiet), of(busy)];
  const figures = {
    without_p50_ms: without.p50,
    without_p99_ms: without.p99,
    with_p50_ms: beside.p50,
    with_p99_ms: beside.p99,
    ratio: rounded(beside.p99 / without.p99),
    ratio_aim: ratioAim,
    calls: without.calls + beside.calls,
    in_flight: inFlight,
    trades: made.trades,
    report_s: rounded(made.reportSeconds),
    pdf_bytes: made.pdfBytes,
    node_version: process.version,
  };
  const table = Object.entries(figures).map(([name, value]) => `${name.padEnd(18)}${value}`);
  const shortfalls =
    figures.ratio <= ratioAim
      ? []
      : [`p99 with a report is ${figures.ratio} times that without; ${ratioAim} is the aim`];
  return { figures, table: table.join("\n"), shortfalls };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
