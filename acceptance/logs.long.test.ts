// What services logged, when one of them was killed: its last lines and its restart are there, also while it is dead, and the folder stays below its bound.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bytesMax, filesMax } from "../adapters/log/kept-log.ts";
import { loggedServices } from "../contracts/src/platform-services.ts";
import { eventually, pause } from "../testkit/platform.ts";
import { startTerminalPlatform, type TerminalPlatform } from "../testkit/tui/terminal-platform.ts";

let terminal: TerminalPlatform;

beforeAll(async () => {
  terminal = await startTerminalPlatform({
    funds: "as configured",
    environment: { PORTCULLIS_PAPER_HISTORY: "false", PORTCULLIS_LOG_LEVEL: "debug" },
  });
}, 300_000);
afterAll(async () => terminal?.end(), 120_000);

interface Line {
  readonly at: string;
  readonly message: string;
}

async function logged(service: string): Promise<readonly Line[]> {
  const { exit, output } = await terminal.ctl(["logs", service, "--count", "1000", "--json"]);
  expect([exit, exit === 0 ? "" : output]).toEqual([0, ""]);
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

test("27.2: kill -9 of research leaves its last lines, and its restart is beside them", {
  timeout: 300_000,
}, async () => {
  const before = await logged("research");
  expect(before.length).toBeGreaterThan(0);
  const { research: pid = 0 } = terminal.platform.runFile().processes;
  process.kill(pid, "SIGKILL");
  const killedAt = new Date().toISOString();
  await eventually("it is another process", () => terminal.platform.runFile().processes["research"] !== pid, 60_000);
  const isReady = ({ at, message }: Line): boolean => at > killedAt && message === "ready";
  await eventually("it says that it is ready again", async () => (await logged("research")).some(isReady), 120_000);
  const after = await logged("research");
  // Every line from before the kill is there, in its order, and what the new process said follows.
  const kept = after.filter(({ at }) => at <= killedAt).map(({ at, message }) => `${at} ${message}`);
  expect(kept).toEqual(expect.arrayContaining(before.slice(-20).map(({ at, message }) => `${at} ${message}`)));
  expect(after.findIndex(isReady)).toBeGreaterThan(kept.length - 1);
  const said = (await logged("supervisor")).filter(({ at }) => at > killedAt).map((line) => JSON.stringify(line));
  expect(said.join("\n")).toMatch(/research/);
});

test("the folder stays below its bound at debug level, in files of its owner", { timeout: 900_000 }, async () => {
  // tidy: sleeps because the bound is that of ten minutes at debug level
  await pause(600_000);
  const folder = join(terminal.platform.dataFolder, "logs");
  const files = readdirSync(folder).map((name) => statSync(join(folder, name)));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  process.stdout.write(`after ten minutes at debug level ${bytes} bytes in ${files.length} files\n`);
  expect(bytes).toBeLessThanOrEqual(loggedServices.length * filesMax * bytesMax);
  for (const { size, mode } of files) {
    expect(size).toBeLessThanOrEqual(bytesMax);
    expect(mode & 0o777).toBe(0o600);
  }
});
