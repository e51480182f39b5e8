// 28.6: who lifts halts needs the gateway's answers to two people's codes, whichever service is asked; who halts needs nobody. Shown on real processes: by ctl, on both
// gRPC ports, while the gateway is killed again and again, and as the logins of the services that lift.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOfSocket, loginTarget, openClient } from "../adapters/postgres/connection.ts";
import { ownerRoleName } from "../adapters/postgres/embedded/cluster.ts";
import { roleNameOf } from "../adapters/postgres/logins/service-logins.ts";
import type { HaltStatus } from "../contracts/src/generated/svc/v1/halt.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { type Ctl, ctlIn } from "../testkit/ctl/ctl.ts";
import { type CallOutcome, testClient } from "../testkit/grpc/test-client.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { developmentOperator, logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform, temporaryFolder } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { addressOf } from "../testkit/risk/client.ts";

const folder = temporaryFolder("lifting");
let platform: Platform;
let ctl: Ctl;
const tokens: Record<string, string> = {};
const used = new Map<string, string>();

beforeAll(async () => {
  platform = startPlatform({ dataFolder: join(folder, "data") });
  await platform.ready();
  const environment = { PORTCULLIS_URL: operatorUrl(platform), PORTCULLIS_DATA_DIR: platform.dataFolder };
  ctl = ctlIn(join(folder, "home"), environment);
  for (const name of ["duty", "relief"]) {
    await ctl.json(0, "auth", "login", "--dev", name, "--profile", name);
  }
}, 240_000);

afterAll(async () => {
  await ctl?.end();
  await platform?.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** A code that this person has not shown yet. */
async function freshCode(name: string): Promise<string> {
  const totp = new TOTP({ secret: developmentOperator(platform.dataFolder, name).totp_secret });
  await eventually("the next code", () => totp.generate() !== used.get(name), 40_000);
  const code = totp.generate();
  used.set(name, code);
  return code;
}

async function logIn(): Promise<void> {
  for (const name of ["duty", "relief"]) tokens[name] = (await logInAs(platform, name)).access_token;
}

async function call(at: "RiskEngine" | "Operations", name: string, as: string, message: object): Promise<CallOutcome> {
  const address = addressOf(platform, at === "RiskEngine" ? "riskengine" : "operations");
  const client = testClient(address, { token: tokens[as] ?? "" });
  try {
    return await client.call(at, name, message, { deadlineMs: 30_000 });
  } finally {
    client.close();
  }
}

const halt = { severity: "FIRM_HALT", reason: "a test", confirmation: "HALT" };
const resume = (code: string, differs: object = {}) => ({
  reason: "all clear",
  confirmation: "RESUME",
  one_time_code: code,
  halt_ids: [],
  ...differs,
});
const timed = async <Value>(what: string, work: () => Promise<Value>): Promise<Value> => {
  const before = performance.now();
  const value = await work();
  process.stderr.write(`${what}: ${Math.round(performance.now() - before)} ms\n`);
  return value;
};
const active = async (): Promise<number> =>
  ((await ctl.json(0, "riskengine", "halts", "list", "--profile", "duty")) as unknown as readonly unknown[]).length;

describe("28.6: lifting a firm halt", { timeout: 300_000 }, () => {
  test("by ctl: one asks, another signs, each with a code", async () => {
    const as = (name: string, ...words: readonly string[]) => ctl.run("cmd", ...words, "--json", "--profile", name);
    expect((await as("duty", "halt", "--reason", "a test", "--confirm", "HALT")).exit).toBe(0);
    const code = await freshCode("duty");
    const asked = await timed("asking by ctl", () =>
      as("duty", "resume", "--reason", "over", "--confirm", "RESUME", "--totp", code),
    );
    expect(asked).toMatchObject({ exit: 8 });
    const { request_id: id } = JSON.parse(asked.stdout) as { readonly request_id: string };
    const sign = ["resume", "--cosign", id, "--confirm", "RESUME", "--totp"];
    const alone = await as("duty", ...sign, code);
    expect(alone).toMatchObject({ exit: 5, stderr: expect.stringContaining("another operator") });
    const relief = await freshCode("relief");
    expect(await timed("signing by ctl", () => as("relief", ...sign, relief))).toMatchObject({ exit: 0 });
    expect(await active()).toBe(0);
  });

  test.each([
    ["Operations", "RiskEngine"],
    ["RiskEngine", "Operations"],
  ] as const)("asked at %s and signed at %s", async (first, second) => {
    await logIn();
    expect(await call(first, "RequestHalt", "duty", halt)).toMatchObject({ status: "OK" });
    const code = await freshCode("duty");
    const asked = await timed(`asking ${first}`, () => call(first, "ResumeHalt", "duty", resume(code)));
    expect(asked).toMatchObject({ status: "OK", answer: { halted: true } });
    const { request_id } = asked.answer as HaltStatus;
    const signing = await freshCode("relief");
    const signed = await timed(`signing at ${second}`, () =>
      call(second, "ResumeHalt", "relief", resume(signing, { request_id })),
    );
    expect(signed).toMatchObject({ status: "OK", answer: { halted: false } });
    expect((signed.answer as HaltStatus).lifted_halt_ids).toHaveLength(1);
  });

  test("while the gateway is killed: halting works, lifting says why not, and works afterwards", async () => {
    await logIn();
    // Nobody starts it again while the supervisor stands still.
    platform.signal("SIGSTOP");
    process.kill(platform.runFile().processes["gateway"] ?? 0, "SIGKILL");
    try {
      expect(
        await timed("halting without a gateway", () => call("Operations", "RequestHalt", "duty", halt)),
      ).toMatchObject({ status: "OK" });
      const code = await freshCode("duty");
      const refused = await timed("asking without a gateway", () =>
        call("Operations", "ResumeHalt", "duty", resume(code)),
      );
      expect(refused).toMatchObject({
        status: "UNAVAILABLE",
        details: expect.stringContaining("The gateway, which checks second factors, does not answer"),
      });
    } finally {
      platform.signal("SIGCONT");
    }
    await eventually(
      "the gateway is back",
      () =>
        fetchOnNewConnection(`${operatorUrl(platform)}/v1/healthz`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      120_000,
    );
    expect(await active()).toBe(1);
    await logIn();
    const code = await freshCode("duty");
    const asked = await call("RiskEngine", "ResumeHalt", "duty", resume(code));
    expect(asked).toMatchObject({ status: "OK" });
    const { request_id } = asked.answer as HaltStatus;
    const signing = await freshCode("relief");
    expect(await call("RiskEngine", "ResumeHalt", "relief", resume(signing, { request_id }))).toMatchObject({
      status: "OK",
      answer: { halted: false },
    });
  });

  test("as the login of a service that lifts: the function and a forged event lift no firm halt, also with an answer that nobody used", async () => {
    await logIn();
    expect(await call("Operations", "RequestHalt", "duty", halt)).toMatchObject({ status: "OK" });
    const { host, port } = platform.runFile().database;
    const ownerTarget = addressOfSocket(host, port, ownerRoleName).owner;
    const owner = await openClient(ownerTarget, { log: quietLog, applicationName: "test" });
    const asked = await call("Operations", "ResumeHalt", "duty", resume(await freshCode("duty")));
    expect(asked).toMatchObject({ status: "OK" });
    const { rows: halts } = await owner.query("select halt_id from halt where lifted_us is null");
    const id = String(halts[0]?.halt_id);
    for (const service of ["riskengine", "operations"] as const) {
      const role = roleNameOf(ownerTarget.database, service);
      const { rows } = await owner.query("select password from service_login where role = $1", [role]);
      const client = await openClient(loginTarget(ownerTarget, role, rows[0]?.password), {
        log: quietLog,
        applicationName: "test",
      });
      const event = `insert into outbox (event_id, at_us, subject, key, source, payload)
        values (gen_random_uuid(), 1, '${subjects.haltLifted.name}', 'k', '${service}', '{"halt_id":"${id}"}')`;
      for (const rule of ["scope", "drill", "rebase", "sign"]) {
        const text = `with reported as (${event}) select lift_halts(array['${id}'], 1, '${rule}', '${(asked.answer as HaltStatus).request_id}', 'forged')`;
        await expect(client.query(text), `${service} ${rule}`).rejects.toMatchObject({ code: "42501" });
      }
      await client.end();
    }
    await owner.end();
    expect(await active()).toBe(1);
  });
});
