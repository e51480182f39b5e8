// Log lines that are kept: bounded, private, masked as they were written, and read newest first by level, time and count.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "../../contracts/src/instant.ts";
import type { KeptLine } from "../../ports/kept-logs.ts";
import { seenTimers } from "../../testkit/seen-timers.ts";
import { systemTimers } from "../system/timers.ts";
import { filesMax, keptLog, keptLogs, lateKeptLog, logPath } from "./kept-log.ts";
import { createLog } from "./pino-log.ts";
import { pollMs, readKeptLogs } from "./read-kept-logs.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kept-log-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const line = (n: number, level = "info") =>
  `${JSON.stringify({ level, time: `2026-11-17T10:00:${String(n % 60).padStart(2, "0")}.000000Z`, n, message: `line ${n}` })}\n`;
const nowhere = { write: () => undefined };
const logs = () => readKeptLogs(folder, systemTimers());
const numbers = (lines: readonly KeptLine[] | undefined) => lines?.map(({ n }) => n);

describe("what is kept", () => {
  it("stays below its bound, in files of its owner, and has the newest lines", async () => {
    const kept = keptLog(folder, "oms", 1_000);
    for (let n = 0; n < 500; n += 1) kept.write(line(n));
    const files = readdirSync(join(folder, "logs"));
    expect(files).toHaveLength(filesMax);
    for (const file of files) {
      const { size, mode } = statSync(join(folder, "logs", file));
      expect(size).toBeLessThanOrEqual(1_000);
      expect(mode & 0o777).toBe(0o600);
    }
    expect(statSync(join(folder, "logs")).mode & 0o777).toBe(0o700);
    expect(numbers(await logs().read({ service: "oms", countMax: 3 }))).toEqual([497, 498, 499]);
    const all = numbers(await logs().read({ service: "oms", countMax: 5_000 })) ?? [];
    expect(all).toEqual(Array.from({ length: all.length }, (_, index) => 500 - all.length + index));
    expect(all.length).toBeGreaterThan(20);
  });

  it("is masked, and goes on where the process before it ended", () => {
    const speak = () => createLog({ level: "info", pretty: true, destination: nowhere, kept: keptLog(folder, "oms") });
    speak().info("connected", { password: "hunter2", url: "postgres://me:hunter2@db/x" });
    speak().info("again");
    const text = readFileSync(logPath(folder, "oms"), "utf8");
    expect(text).not.toContain("hunter2");
    expect(
      text
        .trim()
        .split("\n")
        .map((one) => JSON.parse(one).message),
    ).toEqual(["connected", "again"]);
  });

  it("costs nobody anything when the disk takes nothing", () => {
    writeFileSync(join(folder, "logs"), "in the way");
    expect(() => keptLog(folder, "oms").write(line(1))).not.toThrow();
  });

  it("goes to the file of the service that a line names, and waits for its folder", async () => {
    const late = lateKeptLog();
    late.write('{"level":"info","service":"oms","message":"mine"}\n');
    late.write('{"level":"info","message":"nobody\'s"}\n');
    late.keep(keptLogs(folder, ["oms"], "supervisor"));
    late.write('{"level":"info","service":"stranger","message":"later"}\n');
    const messages = async (service: "oms" | "supervisor") =>
      (await logs().read({ service, countMax: 9 }))?.map(({ message }) => message);
    expect(await messages("oms")).toEqual(["mine"]);
    expect(await messages("supervisor")).toEqual(["nobody's", "later"]);
  });
});

describe("reading", () => {
  it("chooses by level and time, and leaves half a line out", async () => {
    const kept = keptLog(folder, "oms");
    for (const [n, level] of [
      [1, "debug"],
      [2, "warn"],
      [3, "info"],
      [4, "error"],
    ] as const)
      kept.write(line(n, level));
    kept.write('{"level":"error","time":"2026-11-17T10:00:0');
    expect(numbers(await logs().read({ service: "oms", level: "warn", countMax: 9 }))).toEqual([2, 4]);
    const since = parse("2026-11-17T10:00:03.000000Z");
    expect(numbers(await logs().read({ service: "oms", since, countMax: 9 }))).toEqual([3, 4]);
    expect(await logs().read({ service: "research", countMax: 9 })).toBeUndefined();
  });

  it("understands the database server's own lines, and masks them", async () => {
    const text = [
      "2026-11-17 18:54:17.680 UTC [12] LOG:  database system is ready to accept connections",
      "2026-11-17 18:54:18.001 UTC [13] portcullis oms FATAL:  no login with password=hunter2",
      "\tits second line",
    ];
    writeFileSync(join(folder, "postgres.log"), `${text.join("\n")}\n`);
    const lines = (await logs().read({ service: "postgres", countMax: 9 })) ?? [];
    expect(lines.map(({ at, level }) => [at, level])).toEqual([
      ["2026-11-17T18:54:17.680000Z", "info"],
      ["2026-11-17T18:54:18.001000Z", "error"],
      ["", "info"],
    ]);
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  it("follows what is written, also across a rotation, each line once", async () => {
    const kept = keptLog(folder, "oms", 400);
    kept.write(line(0));
    const stop = new AbortController();
    const seen: unknown[] = [];
    const timers = seenTimers();
    const writing = (async () => {
      for (let n = 1; n <= 12; n += 1) {
        // The follower begins at the end of what is there. Some together, so that more than one file is begun between two looks.
        if (n % 6 === 1) await expect.poll(() => [seen.length, timers.pendingOf(pollMs)]).toEqual([n - 1, 1]);
        kept.write(line(n));
        if (n % 6 === 0) timers.fire(pollMs);
      }
    })();
    for await (const lines of readKeptLogs(folder, timers).follow({ service: "oms" }, stop.signal)) {
      seen.push(...(numbers(lines) ?? []));
      if (seen.length >= 12) break;
    }
    stop.abort();
    await writing;
    expect(seen).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });
});
