// Two platforms on one database of the user's, each with a data folder of its own: one works and the other stands by, takes over when the first is gone,
// and neither fights when it comes back.
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testClient } from "../testkit/grpc/test-client.ts";
import { goodOrder } from "../testkit/hostile/messages.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, developmentCredentials, operatorUrl } from "../testkit/login.ts";
import { type PlainPostgres, startPlainPostgres } from "../testkit/plain-postgres.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";

const folder = temporaryFolder("stand-by");
let postgres: PlainPostgres;
let first: Platform;
let second: Platform;

function start(name: string): Platform {
  return startPlatform({
    dataFolder: join(folder, name),
    environment: {
      PORTCULLIS_DATABASE_URL: postgres.urlOf("trading", "portfolio"),
      PORTCULLIS_PAPER_SEED: "always",
    },
  });
}

/** What a second machine is given: the id of the installation and its secrets, and nothing of a running platform. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  const isCopied = (path: string): boolean => !/^(run|logs|lock|run\.json.*|.*\.sock|.*\.lock)$/.test(basename(path));
  cpSync(from, to, { recursive: true, filter: (path) => path === from || isCopied(path) });
}

beforeAll(async () => {
  postgres = await startPlainPostgres("Debian's");
  await postgres.administer("CREATE ROLE trading LOGIN CREATEROLE", "CREATE DATABASE portfolio OWNER trading");
  first = start("first");
  await first.ready();
  await eventually("the first is well", async () => (await first.health()) === 200);
  copyFolder(first.dataFolder, join(folder, "second"));
}, 240_000);

afterAll(async () => {
  await second?.end();
  await first?.end();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

async function ask(platform: Platform, key: string) {
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const client = testClient(addressOf(platform, "riskengine"), { token });
  try {
    const { status, metadata, answer } = await client.call("RiskEngine", "CheckOrder", goodOrder(key), {
      deadlineMs: 20_000,
    });
    const decision = answer as { readonly approved: boolean; readonly code: string } | undefined;
    return { status, fault: String(metadata.get("portcullis-code")[0] ?? ""), decision };
  } finally {
    client.close();
  }
}

const problem = async (platform: Platform): Promise<string> =>
  (await fetchOnNewConnection(`${operatorUrl(platform)}/v1/healthz`)).text();
const pidsOf = (platform: Platform): string => JSON.stringify(platform.runFile().processes);

/** Ticks of the processor that all of a platform's processes have used, in hundredths of a second. */
function ticksOf(platform: Platform): number {
  return platform.processes().reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return sum + Number(fields[11]) + Number(fields[12]);
  }, 0);
}

const signalAll = (platform: Platform, signal: NodeJS.Signals): void => {
  for (const pid of platform.processes()) process.kill(pid, signal);
};

describe("28.12: two platforms on one database", { timeout: 300_000 }, () => {
  test("the second stands by, says so, decides nothing, and leaves the first alone", async () => {
    await eventually("an order is approved", async () => (await ask(first, "before")).decision?.approved === true);
    const pids = pidsOf(first);
    second = start("second");
    await second.ready();
    expect(await second.health()).toBe(503);
    expect(await problem(second)).toMatch(/riskengine stands by: \w+ of \S+ \(process \d+\) is at work/);
    expect(await ask(second, "elsewhere")).toMatchObject({ status: "UNAVAILABLE", fault: "SERVICE_STANDING_BY" });
    // tidy: sleeps because the start is to be over before its processor time at rest is counted
    await pause(2_000);
    const before = ticksOf(second);
    // tidy: sleeps because processor time at rest is counted over ten seconds
    await pause(10_000);
    const used = (ticksOf(second) - before) / 1_000;
    process.stderr.write(`standing by takes ${(used * 100).toFixed(1)} % of a core\n`);
    expect(used).toBeLessThan(0.5);
    expect([pidsOf(first), await first.health()]).toEqual([pids, 200]);
  });

  test("the first is killed: the second takes over by itself, and a key is decided once", async () => {
    await ask(first, "last-of-the-first");
    const began = Date.now();
    signalAll(first, "SIGKILL");
    await eventually("the second is well", async () => (await second.health()) === 200, 120_000);
    process.stderr.write(`taken over within ${Date.now() - began} ms\n`);
    for (const key of ["before", "last-of-the-first"]) {
      expect((await ask(second, key)).decision).toMatchObject({ approved: false, code: "DUPLICATE_KEY" });
    }
    await eventually(
      "an order is approved",
      async () => (await ask(second, `new-${Date.now()}`)).decision?.approved === true,
    );
    const headers = await bearerOf(second, "duty");
    const verified = await fetchOnNewConnection(`${operatorUrl(second)}/v1/operations/audit/verify`, { headers });
    expect(await verified.json()).toMatchObject({ gap_count: 0 });
  });

  test("the first comes back and stands by", async () => {
    await first.end();
    const pids = pidsOf(second);
    first = start("first");
    await first.ready();
    expect(await problem(first)).toContain("stands by");
    // tidy: sleeps because who took work from the other would have done so by then
    await pause(10_000);
    expect([pidsOf(second), await second.health()]).toEqual([pids, 200]);
    expect(await problem(first)).toContain("stands by");
  });

  test("the one at work hangs: the other takes over, and the first to wake up finds its place and no fight", async () => {
    signalAll(second, "SIGSTOP");
    try {
      await eventually("the first is well", async () => (await first.health()) === 200, 120_000);
    } finally {
      signalAll(second, "SIGCONT");
    }
    // Of two at work the one whose supervisor started later stays: the first, which was started last.
    await eventually("the second stands by", async () => (await problem(second)).includes("stands by"), 120_000);
    await eventually("the first is well", async () => (await first.health()) === 200, 120_000);
    const pids = [pidsOf(first), pidsOf(second)];
    // tidy: sleeps because who took work from the other would have done so by then
    await pause(15_000);
    expect([pidsOf(first), pidsOf(second)]).toEqual(pids);
    expect([await first.health(), await second.health()]).toEqual([200, 503]);
    await eventually(
      "an order is approved",
      async () => (await ask(first, `last-${Date.now()}`)).decision?.approved === true,
    );
  });
});
