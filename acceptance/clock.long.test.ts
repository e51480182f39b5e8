// 28: the machine's clock is set an hour ahead and back under a running platform. Halts stay in force and new ones are taken, positions stand as before, what was
// granted by the wrong clock is not believed by the right one, a code counts once, stops fire, and halts are lifted with second factors. After the way back
// no new risk is taken until the clock has caught up with the last decision, because nobody knows which dates are true, and exits pass (docs/operations.md).
// The database keeps its own clock, as one on another machine does.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Order, RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { type Ctl, ctlIn } from "../testkit/ctl/ctl.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import { goodOrder } from "../testkit/hostile/messages.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { developmentCredentials, developmentOperator, logInAs, operatorUrl } from "../testkit/login.ts";
import { type MachineClock, machineClock } from "../testkit/machine-clock.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { addressOf } from "../testkit/risk/client.ts";

const hourS = 3_600;
/** For what comes back by itself; generous, because other programs may want the machine. */
const recoveryMsMax = 240_000;
const words = ["--reason", "a test", "--confirm"];

const folder = temporaryFolder("clock");
let clock: MachineClock;
let platform: Platform;
let duty: Ctl;
let relief: Ctl;
let count = 0;
const kept = { token: "", aheadToken: "", code: "", aheadCode: "", holdings: "" };

beforeAll(async () => {
  clock = await machineClock(folder);
  platform = startPlatform({ dataFolder: join(folder, "data"), environment: clock.environment });
  await platform.ready();
  const environment = {
    ...clock.environment,
    PORTCULLIS_URL: operatorUrl(platform),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
  };
  duty = ctlIn(join(folder, "duty"), environment);
  relief = ctlIn(join(folder, "relief"), environment);
  await logIn();
  await eventually("an order is approved", async () => (await check()) === "approved", recoveryMsMax);
}, 900_000);

afterAll(async () => {
  await duty?.end();
  await relief?.end();
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function logIn(): Promise<void> {
  await duty.json(0, "auth", "login", "--dev", "duty");
  await relief.json(0, "auth", "login", "--dev", "relief");
}

/** "approved", the code of the denial, or the status that came instead. */
async function check(differs: Partial<Order> = {}): Promise<string> {
  const { service_token: token } = developmentCredentials(platform.dataFolder);
  const client = testClient(addressOf(platform, "riskengine"), { token });
  count += 1;
  try {
    const { status, answer } = await client.call("RiskEngine", "CheckOrder", goodOrder(`clock-${count}`, differs), {
      deadlineMs: 10_000,
    });
    if (answer === undefined) return status;
    const { approved, code } = answer as RiskDecision;
    return approved ? "approved" : code;
  } finally {
    client.close();
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });
const token = async (): Promise<string> => (await logInAs(platform, "duty")).access_token;

async function read(path: string): Promise<readonly Record<string, unknown>[]> {
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, { headers: bearer(await token()) });
  return (await answer.json()) as readonly Record<string, unknown>[];
}

const statusWith = async (shown: string): Promise<number> =>
  (await fetchOnNewConnection(`${operatorUrl(platform)}/v1/halts`, { headers: bearer(shown) })).status;

const codeOf = (name: string): string =>
  new TOTP({ secret: developmentOperator(platform.dataFolder, name).totp_secret }).generate({
    timestamp: clock.nowMs(),
  });

/** What the platform says to a code of duty's: "granted", or why not. */
async function prove(totp: string): Promise<string> {
  const body = JSON.stringify({ action: "StepUp", parameters: {}, totp });
  const headers = bearer(await token());
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}/v1/auth/step-up`, {
    method: "POST",
    headers,
    body,
  });
  return answer.status === 201 ? "granted" : String(((await answer.json()) as Record<string, unknown>)["code"]);
}

/** A code that was not shown yet: the next one, when this one was. */
async function freshCode(): Promise<string> {
  const before = new Set([kept.code, kept.aheadCode]);
  for (;;) {
    const code = codeOf("duty");
    if (!before.has(code)) return code;
    await pause(1_000);
  }
}

async function halt(scope: string): Promise<void> {
  const halted = await duty.json(0, "cmd", "halt", scope, ...words, "HALT");
  expect(halted["acknowledged"]).toBe(true);
}

const haltedScopes = async (): Promise<readonly string[]> =>
  (await read("/v1/halts")).map((row) => String(row["strategy_id"] ?? row["fund_id"])).sort();

async function holdings(): Promise<string> {
  const rows = await read("/v1/oms/positions");
  return JSON.stringify(rows.map((row) => [row["fund_id"], row["symbol"], row["quantity"]].join(" ")).sort());
}

/** It is well again, prices are fresh, and nothing was lost or doubled. */
async function mustBeWell(): Promise<void> {
  const began = Date.now();
  const seen = new Set<string>();
  await eventually(
    "an order is approved",
    async () => {
      const answered = await check();
      seen.add(answered);
      return answered === "approved";
    },
    recoveryMsMax,
  );
  process.stderr.write(`well after ${Date.now() - began} ms; orders were answered with ${[...seen].join(", ")}\n`);
  await mustBeWhole();
}

async function mustBeWhole(): Promise<void> {
  await eventually("health is ok", async () => (await platform.health()) === 200, recoveryMsMax);
  expect(await holdings()).toBe(kept.holdings);
  expect(await read("/v1/operations/audit/verify")).toMatchObject({ gap_count: 0 });
}

const exit = { side: "SELL", reduce_only: true } as const;

describe("28: a clock that is set", { timeout: 900_000 }, () => {
  test("before: a halt, a login, a code that was used", async () => {
    await halt("beta-trend");
    kept.token = await token();
    kept.code = codeOf("duty");
    expect(await prove(kept.code)).toBe("granted");
    expect(await prove(kept.code)).not.toBe("granted");
    kept.holdings = await holdings();
    expect(await statusWith(kept.token)).toBe(200);
  });

  test("an hour ahead: halts stand, a new one is taken, logins have ended, codes of the new time work", async () => {
    clock.set(hourS);
    expect(await statusWith(kept.token)).toBe(401);
    await logIn();
    await halt("gamma-income");
    expect(await haltedScopes()).toEqual(["beta-trend", "gamma-income"]);
    await mustBeWell();
    kept.aheadToken = await token();
    expect(await statusWith(kept.aheadToken)).toBe(200);
    kept.aheadCode = codeOf("duty");
    expect(await prove(kept.aheadCode)).toBe("granted");
  });

  test("and back: halts stand, a new one is taken, and no login of the future counts", async () => {
    clock.set(0);
    expect(await statusWith(kept.aheadToken)).toBe(401);
    await logIn();
    await halt("alpha-meanrev");
    expect(await haltedScopes()).toEqual(["alpha-meanrev", "beta-trend", "gamma-income"]);
    await eventually(
      "an exit is approved",
      async () => (await check({ ...exit, dry_run: true })) === "approved",
      recoveryMsMax,
    );
    expect(await check()).toBe("REFERENCE_PRICE_STALE");
    await mustBeWhole();
  });

  test("then a code that was used stays used, and the next one works", async () => {
    for (const code of [kept.code, kept.aheadCode]) expect(await prove(code)).not.toBe("granted");
    kept.code = await freshCode();
    expect(await prove(kept.code)).toBe("granted");
    expect(await prove(kept.code)).not.toBe("granted");
  });

  test("two people lift every halt with their second factors", async () => {
    const asked = await duty.json(8, "cmd", "resume", ...words, "RESUME", "--totp", await freshCode());
    const id = String(asked["request_id"]);
    await relief.json(0, "cmd", "resume", "--cosign", id, "--confirm", "RESUME", "--totp", codeOf("relief"));
    expect(await haltedScopes()).toEqual([]);
  });

  test("and stops fire", async () => {
    for (const fund of ["alpha", "beta"]) {
      await duty.json(0, "riskengine", "envelope", "set", "--fund-id", fund, "--synthetic-stop-pct", "0.00001");
    }
    const fired = async (): Promise<boolean> =>
      (await read("/v1/oms/fills?fund_id=beta&count_max=200"))
        .concat(await read("/v1/oms/fills?fund_id=alpha&count_max=200"))
        .some(({ order_id }) => String(order_id).startsWith("stop-"));
    await eventually("a stop is filled", fired, recoveryMsMax);
  });
});
