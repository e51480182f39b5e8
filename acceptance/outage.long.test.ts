// A database that is away for long: hung, and killed as often as it comes up. Nothing is approved meanwhile, a halt says honestly that it was not taken,
// no process grows, and everything is back by itself, with positions, stops and halts as they were and second factors that work.
// PORTCULLIS_TEST_OUTAGE_S names another length than ten minutes.
import { readFileSync } from "node:fs";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import type { RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { type Ctl, ctlIn } from "../testkit/ctl/ctl.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import { goodOrder } from "../testkit/hostile/messages.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, developmentCredentials, developmentOperator, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";

const outageS = Number(process.env["PORTCULLIS_TEST_OUTAGE_S"] ?? "600");
const timeout = outageS * 1_000 + 240_000;
let platform: Platform;
let ctl: Ctl;
let count = 0;

beforeAll(async () => {
  platform = startPlatform();
  await platform.ready();
  ctl = ctlIn(temporaryFolder("outage-home"), {
    PORTCULLIS_URL: operatorUrl(platform),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
  });
  await ctl.json(0, "auth", "login", "--dev", "duty");
  await eventually("an order is approved", async () => (await check()) === "approved");
  expect(await halt("beta-trend")).toBe(0);
}, 600_000);

afterAll(async () => {
  await ctl?.end();
  await platform?.end();
}, 60_000);

/** "approved", the code of the denial, or the status that came instead. */
async function check(): Promise<string> {
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const client = testClient(addressOf(platform, "riskengine"), { token });
  count += 1;
  try {
    const order = goodOrder(`outage-${count}`);
    const { status, answer } = await client.call("RiskEngine", "CheckOrder", order, { deadlineMs: 5_000 });
    if (answer === undefined) return status;
    const { approved, code } = answer as RiskDecision;
    return approved ? "approved" : code;
  } finally {
    client.close();
  }
}

async function halt(scope: string): Promise<number | null> {
  return (await ctl.run("cmd", "halt", scope, "--reason", "a test", "--confirm", "HALT")).exit;
}

async function read(path: string): Promise<unknown> {
  const headers = await bearerOf(platform, "duty");
  return (await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers })).json();
}

interface Standing {
  /** By fund and symbol: who holds what, which stops stand, how much was traded. */
  readonly holdings: ReadonlyMap<string, string>;
  /** What is held beyond what was traded, or not held though it was; nothing, when no trade was lost or counted twice. */
  readonly unexplained: readonly string[];
  readonly halts: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** What must be the same afterwards, but for what strategies traded meanwhile. */
async function standing(): Promise<Standing> {
  const positions = (await read("/v1/oms/positions")) as readonly Row[];
  const stops = (await read("/v1/riskengine/stops")) as readonly Row[];
  const fills = (await read("/v1/oms/fills?count_max=500")) as readonly Row[];
  const halts = (await read("/v1/halts")) as readonly Row[];
  const traded = new Map<string, decimal.Decimal>();
  for (const fill of fills) {
    const quantity = decimal.parse(String(fill["quantity"]));
    const key = `${fill["strategy_id"]} ${fill["symbol"]}`;
    const signed = String(fill["side"]).startsWith("BUY") ? quantity : decimal.negate(quantity);
    traded.set(key, decimal.add(traded.get(key) ?? decimal.parse("0"), signed));
  }
  const unexplained = positions.filter(({ strategy_id, symbol, quantity }) => {
    const sum = traded.get(`${strategy_id} ${symbol}`) ?? decimal.parse("0");
    return decimal.compare(sum, decimal.parse(String(quantity))) !== 0;
  });
  const holdings = new Map<string, string>();
  for (const [kind, rows, name] of [
    ["holds", positions, "quantity"],
    ["stop", stops, "state"],
    ["trade", fills, "fill_id"],
  ] as const) {
    for (const row of rows) {
      const key = `${row["fund_id"]} ${row["symbol"]}`;
      holdings.set(key, [holdings.get(key) ?? "", kind, row["strategy_id"], row[name]].join(" "));
    }
  }
  return {
    holdings,
    unexplained: unexplained.map((row) => JSON.stringify(row)),
    halts: halts.map((row) => `${row["halt_id"]} ${row["severity"]}`).sort(),
  };
}

/** Symbols whose trades are the same are held as before, with the same stops. */
function unchanged(before: Standing, after: Standing): void {
  expect(after.unexplained).toEqual([]);
  const tradesOf = (text: string | undefined): string => text?.slice(text.indexOf(" trade ")) ?? "";
  for (const [key, text] of before.holdings) {
    if (tradesOf(text) === tradesOf(after.holdings.get(key))) expect(after.holdings.get(key)).toBe(text);
  }
  for (const one of before.halts) expect(after.halts).toContain(one);
}

/** The server and every process that it made. */
function serverPids(): readonly number[] {
  const { pid = 0 } = platform.runFile().database;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return [pid, ...children.filter((text) => text !== "").map(Number)];
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** The largest of our own processes: its name, and how much it has in MB. */
function largest(): readonly [string, number] {
  const all = Object.entries(platform.runFile().processes).map(([name, pid]): readonly [string, number] => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return [name, Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_000];
  });
  return all.reduce((one, other) => (other[1] > one[1] ? other : one));
}

/** Asks about once a second for as long as the database is away. */
async function during(): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (const until = Date.now() + outageS * 1_000; Date.now() < until; await pause(1_000)) seen.add(await check());
  return seen;
}

async function mustBeAsBefore(before: Standing, pids: string): Promise<void> {
  const began = Date.now();
  await eventually("health is ok", async () => (await platform.health()) === 200, 120_000);
  await eventually("an order is approved", async () => (await check()) === "approved", 120_000);
  const [name, megabytes] = largest();
  process.stderr.write(
    `back after ${Date.now() - began} ms, the largest process is ${name} with ${megabytes.toFixed(0)} MB\n`,
  );
  unchanged(before, await standing());
  expect(JSON.stringify(platform.runFile().processes)).toBe(pids);
  expect(megabytes, name).toBeLessThan(400);
  expect(await read("/v1/operations/audit/verify")).toMatchObject({ gap_count: 0 });
}

describe("28.13: a database that is away", { timeout }, () => {
  test("because it hangs: nothing is approved, a halt is not acknowledged, and everything is back by itself", async () => {
    const [before, pids] = [await standing(), JSON.stringify(platform.runFile().processes)];
    const server = serverPids();
    signal(server, "SIGSTOP");
    try {
      const halting = halt("gamma-income");
      const seen = await during();
      process.stderr.write(`while it hung an order was answered with ${[...seen].join(", ")}\n`);
      expect(seen.has("approved")).toBe(false);
      expect(await halting).not.toBe(0);
      expect(await platform.health()).toBe(503);
    } finally {
      signal(server, "SIGCONT");
    }
    // What was not acknowledged may have been taken all the same: halts only ever stop more.
    await mustBeAsBefore(before, pids);
  });

  test("because it is killed whenever it comes up: the same", async () => {
    const [before, pids] = [await standing(), JSON.stringify(platform.runFile().processes)];
    let isOver = false;
    const killing = (async () => {
      for (; !isOver; await pause(200))
        signal(
          [platform.runFile().database.pid ?? 0].filter((pid) => pid > 0),
          "SIGKILL",
        );
    })();
    const seen = await during();
    isOver = true;
    await killing;
    process.stderr.write(`while it was killed an order was answered with ${[...seen].join(", ")}\n`);
    await mustBeAsBefore(before, pids);
  });

  test("afterwards a halt is taken and a second factor works", async () => {
    expect(await halt("alpha-momentum")).toBe(0);
    const { totp_secret: secret } = developmentOperator(platform.dataFolder, "duty");
    const code = new TOTP({ secret }).generate();
    const words = ["cmd", "resume", "--reason", "a test", "--confirm", "RESUME", "--totp", code];
    expect((await ctl.run(...words)).exit).toBe(8);
  });
});
