// A running platform whose parts hang instead of dying, or whose folder is in the way. It takes a platform's own patience to notice, so it stands
// among the long tests.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";

const open: Platform[] = [];

function start(): Platform {
  const platform = startPlatform({ funds: "as configured" });
  open.push(platform);
  return platform;
}

afterAll(async () => {
  await Promise.all(open.map((platform) => platform.end()));
}, 60_000);

describe("a platform in trouble", { timeout: 120_000 }, () => {
  test("stops within ten seconds although parts hang, and one that hung for long comes back", async () => {
    const platform = start();
    await platform.ready();
    const oms = platform.runFile().processes["oms"] ?? 0;
    process.kill(oms, "SIGSTOP");
    await eventually("health is not ok while oms hangs", async () => (await platform.health()) === 503, 5_000);
    // Longer than its lease, so that it has been declared lost.
    await eventually("oms was declared lost", () => platform.stdout().includes("a service process was lost"));
    process.kill(oms, "SIGCONT");
    await eventually("oms took its lease again", async () => (await platform.health()) === 200);
    expect(platform.runFile().processes["oms"]).toBe(oms);

    const { processes } = platform.runFile();
    for (const part of ["gateway", "research", "oms", "riskengine"]) process.kill(processes[part] ?? 0, "SIGSTOP");
    const before = Date.now();
    platform.signal("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
    expect(Date.now() - before).toBeLessThan(10_000);
    await eventually("nothing is left", () => platform.processes().length === 0);
  });

  test("replaces a part that hangs", async () => {
    const platform = start();
    await platform.ready();
    const { processes } = platform.runFile();
    const research = processes["research"] ?? 0;
    process.kill(research, "SIGSTOP");
    await eventually("research was replaced", () => platform.runFile().processes["research"] !== research, 40_000);
    await eventually("it is healthy again", async () => (await platform.health()) === 200);
    platform.signal("SIGTERM");
    expect((await platform.exited).code).toBe(0);
  });

  test("goes on when run.json cannot be written", async () => {
    const platform = start();
    await platform.ready();
    const path = join(platform.dataFolder, "run.json");
    const { processes, addresses } = platform.runFile();
    rmSync(path);
    mkdirSync(join(path, "in-the-way"), { recursive: true });
    process.kill(processes["research"] ?? 0, "SIGKILL");
    await eventually("it was said", () => platform.stdout().includes("run.json could not be written"));
    await eventually("it is healthy again", async () => {
      const answer = await fetchOnNewConnection(`http://${addresses["gateway"]}/v1/healthz`);
      return answer.status === 200;
    });
    platform.signal("SIGTERM");
    expect((await platform.exited).code).toBe(0);
  });
});
