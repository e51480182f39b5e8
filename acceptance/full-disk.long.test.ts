// A platform whose disk fills, is full, and has room again: it warns, then takes no new risk, keeps writing exits and halts, and comes back by itself with
// everything that it acknowledged.
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { type Ctl, ctlIn } from "../testkit/ctl/ctl.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import { goodOrder } from "../testkit/hostile/messages.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, developmentCredentials, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";
import { type SmallDisk, smallDisk } from "../testkit/small-disk.ts";

const limits = { warn: 400, newRisk: 300, reserve: 100 };
const folder = temporaryFolder("full-disk");
let disk: SmallDisk;
let platform: Platform;
let ctl: Ctl;
let count = 0;
/** Keys of decisions that were answered, and the scopes of halts that were acknowledged. */
const answered: string[] = [];
const halted: string[] = [];

beforeAll(async () => {
  disk = await smallDisk(folder, 1_200);
  platform = startPlatform({
    dataFolder: join(folder, "data"),
    within: disk.within,
    environment: {
      PORTCULLIS_DISK_WARN_MB: String(limits.warn),
      PORTCULLIS_DISK_NEW_RISK_MB: String(limits.newRisk),
      PORTCULLIS_DISK_RESERVE_MB: String(limits.reserve),
    },
  });
  await platform.ready();
  const home = temporaryFolder("full-disk-home");
  const environment = { PORTCULLIS_URL: operatorUrl(platform), PORTCULLIS_DATA_DIR: platform.dataFolder };
  ctl = ctlIn(home, environment);
  await ctl.json(0, "auth", "login", "--dev", "duty");
}, 240_000);

afterAll(async () => {
  await ctl?.end();
  await platform?.end();
  disk?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** The decision, or the status that came instead. */
async function check(differs: Parameters<typeof goodOrder>[1] = {}): Promise<RiskDecision | string> {
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const client = testClient(addressOf(platform, "riskengine"), { token });
  count += 1;
  const key = `disk-${count}`;
  try {
    const { status, answer } = await client.call("RiskEngine", "CheckOrder", goodOrder(key, differs), {
      deadlineMs: 10_000,
    });
    if (answer === undefined) return status;
    answered.push(key);
    return answer as RiskDecision;
  } finally {
    client.close();
  }
}

const meanrev = { strategy_id: "alpha-meanrev" };
const isApproved = async (): Promise<boolean> => {
  const decision = await check(meanrev);
  return typeof decision !== "string" && decision.approved;
};
const codeOf = async (differs = {}): Promise<string> => {
  const decision = await check({ ...meanrev, ...differs });
  return typeof decision === "string" ? decision : decision.code;
};

async function halt(scope: string): Promise<number | null> {
  const { exit } = await ctl.run("cmd", "halt", scope, "--reason", "the disk fills", "--confirm", "HALT");
  if (exit === 0) halted.push(scope);
  return exit;
}

async function read(path: string): Promise<string> {
  const headers = await bearerOf(platform, "duty");
  return (await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers })).text();
}

/** The newest that the platform has named; the file cannot be written while the disk is full. */
const serverPid = (): number => platform.runFile().database.pid ?? 2 ** 31 - 1;
const reservePath = (): string => join(platform.dataFolder, "disk-reserve");
const exit = { symbol: "AAPL", side: "SELL", quantity: "1", reduce_only: true };

describe("28.13: a disk that fills, is full, and has room again", { timeout: 300_000 }, () => {
  test("has room at first: a reserve with real blocks, and orders are approved", async () => {
    await eventually("the reserve is there", () => existsSync(reservePath()) && statSync(reservePath()).size === 100e6);
    expect(statSync(reservePath()).blocks * 512).toBeGreaterThanOrEqual(100e6);
    await eventually("an order is approved", isApproved);
    expect(await platform.health()).toBe(200);
  });

  test("below the first limit somebody is warned, and nothing is denied", async () => {
    disk.leave(limits.warn - 20);
    await eventually("the warning", async () => (await read("/v1/operations/alarms")).includes("DISK_SPACE_LOW"));
    expect(await isApproved()).toBe(true);
  });

  test("below the second new risk is denied; an exit and a halt pass, and the block says what ends it", async () => {
    disk.leave(limits.newRisk - 20);
    await eventually("new risk is denied", async () => (await codeOf()) === "DISK_LOW");
    expect(await check({ ...meanrev, ...exit })).toMatchObject({ approved: true, classification: "REDUCE" });
    expect(await halt("beta-trend")).toBe(0);
    const blocks = JSON.stringify(await ctl.json(0, "riskengine", "blocks", "list"));
    expect(blocks).toContain("DISK_LOW");
    expect(blocks).toContain("when a twentieth more than the limit is free");
    expect(await read("/v1/operations/alarms")).toContain("DISK_STOPS_NEW_RISK");
    expect(await platform.health()).toBe(200);
  });

  test("below the third the reserve is given up, and halts and exits are still written", async () => {
    disk.leave(limits.reserve - 30);
    await eventually("the reserve is gone", () => !existsSync(reservePath()));
    await eventually("its blocks are free", () => disk.freeMb() > limits.reserve);
    expect(await halt("gamma-income")).toBe(0);
    expect(await check({ ...meanrev, ...exit })).toMatchObject({ approved: true });
    expect(await codeOf()).toBe("DISK_LOW");
  });

  test("full to the last block it ends nothing, and approves nothing", async () => {
    disk.fill();
    const seen = new Set<string>();
    for (const until = Date.now() + 30_000; Date.now() < until; await pause(500)) seen.add(await codeOf());
    process.stderr.write(`while the disk was full an order was answered with ${[...seen].join(", ")}\n`);
    expect(seen.has("")).toBe(false);
    process.stderr.write(`a halt ended with ${await halt("alpha-momentum")}\n`);
    // A database server that a full disk ended finds no room to recover in, and is waited for.
    try {
      process.kill(serverPid(), "SIGKILL");
    } catch (error) {
      // The full disk has ended it already, or it is between two starts.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    await eventually("it waits for room", () => platform.stdout().includes("is started again when there is room"));
    // tidy: sleeps because a database that is started without room would be back by then
    await pause(10_000);
    expect(await codeOf()).toBe("UNAVAILABLE");
    expect(await platform.health()).toBe(503);
  });

  test("with room again everything is back by itself, with what was acknowledged", async () => {
    const pid = platform.pid;
    disk.clear();
    const began = Date.now();
    await eventually("health is ok", async () => (await platform.health()) === 200, 120_000);
    await eventually("new risk is approved", isApproved, 60_000);
    process.stderr.write(`back after ${Date.now() - began} ms\n`);
    await eventually("the reserve is back", () => existsSync(reservePath()) && statSync(reservePath()).size === 100e6);
    const halts = JSON.stringify(await ctl.json(0, "riskengine", "halts", "list"));
    for (const scope of halted) expect(halts).toContain(scope);
    // A key that was answered is known: nothing that was acknowledged is lost.
    const { service_token: token } = developmentCredentials(platform.dataFolder);
    const client = testClient(addressOf(platform, "riskengine"), { token });
    for (const key of answered.slice(-5)) {
      const { answer } = await client.call("RiskEngine", "CheckOrder", goodOrder(key, { dry_run: true }), {});
      expect((answer as RiskDecision).code).toMatch(/^(DUPLICATE_KEY|KEY_REUSED)$/);
    }
    client.close();
    expect(JSON.parse(await read("/v1/operations/audit/verify"))).toMatchObject({ gap_count: 0 });
    expect(platform.pid).toBe(pid);
  });
});
