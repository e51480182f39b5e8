// The second factor from a command line: setting it up, showing it for one action, and the words that dangerous actions ask for.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../../testkit/ctl/fakes.ts";

const startMs = Date.UTC(2026, 10, 15, 12);
let home = "";
let server: FakeServer;
let time = virtualTime(startMs);

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-factor-"));
  server = await startFakeServer();
  time = virtualTime(startMs);
  server.on("GET /v1/auth/identity", { body: identity });
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const identity = {
  actor: "operator:duty",
  kind: "operator",
  name: "duty",
  roles: ["operator", "admin"],
  issuer: "i",
  issued_at: "2026-11-15T12:00:00.000000Z",
  expires_at: "2026-11-15T12:05:00.000000Z",
  second_factor: { enrolled_at: null, recovery_codes_left: 0, locked_until: null },
};

const run = (
  line: string,
  more: { environment?: Record<string, string>; signal?: AbortSignal; typed?: string[] } = {},
) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, ...more.environment },
    folder: home,
    ...time,
    ...(more.signal === undefined ? {} : { signal: more.signal }),
    ...(more.typed === undefined ? {} : { typed: more.typed }),
  });

describe("the second factor", () => {
  const fresh = { secret: "JBSWY3DP", uri: "otpauth://totp/Portcullis:duty?secret=JBSWY3DP" };
  const environment = { PORTCULLIS_TOKEN: "pcs_1_x" };
  beforeEach(() => {
    server.on("POST /v1/auth/second-factor", { status: 201, body: fresh });
    server.on("POST /v1/auth/second-factor/confirm", ({ body }) =>
      body.includes("123456")
        ? { body: { recovery_codes: ["aaaa-1", "bbbb-2"] } }
        : problem(403, "SECOND_FACTOR_WRONG", "Wrong."),
    );
  });

  it("on a terminal: QR and secret on stderr, a wrong code asked again, recovery codes alone on stdout", async () => {
    const { exit, stdout, stderr } = await run("auth enrol-totp", { environment, typed: ["000000", "123 456"] });
    expect(exit, stderr).toBe(0);
    expect(stdout).toBe("aaaa-1\nbbbb-2\n");
    expect(stderr).toContain("JBSWY3DP");
    expect(stderr).toContain("█");
    expect(stderr).toContain("not the code");
    expect(stderr.indexOf("JBSWY3DP")).toBeLessThan(stderr.indexOf("█"));
  });

  it("the QR code is black on white by itself, and fits 80 by 24 with the secret and the question", async () => {
    const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
    const uri = `otpauth://totp/Portcullis:duty?secret=${secret}&issuer=Portcullis`;
    server.on("POST /v1/auth/second-factor", { status: 201, body: { secret, uri } });
    const { stderr } = await run("auth enrol-totp", { environment, typed: ["123456"] });
    const lines = stderr.slice(0, stderr.indexOf("First code")).split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    const drawn = lines.filter((line) => line.includes("█"));
    for (const line of drawn) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are what is looked for
      expect(line).toMatch(/^\u001b\[38;5;16;48;5;231m[ █▀▄]{21,80}\u001b\[0m$/);
    }
    const plain = await run("auth enrol-totp", { environment: { ...environment, NO_COLOR: "1" }, typed: ["123456"] });
    expect(plain.stderr).not.toContain("\u001b[38;5");
    // The quiet edge is ink there, and paper here.
    expect(plain.stderr).toMatch(/\n█▀+█/);
  });

  it("without a terminal: pending with the secret, then confirmed by --code", async () => {
    const begun = await run("auth enrol-totp --json", { environment });
    expect(begun.exit).toBe(8);
    expect(JSON.parse(begun.stdout)).toEqual({ status: "pending", ...fresh });
    const done = await run("auth enrol-totp --json --code 123456", { environment });
    expect(JSON.parse(done.stdout)).toEqual({ status: "enrolled", recovery_codes: ["aaaa-1", "bbbb-2"] });
  });

  it("asks for the present factor when there is one", async () => {
    const second_factor = { enrolled_at: "2026-11-01T00:00:00.000000Z", recovery_codes_left: 8, locked_until: null };
    server.on("GET /v1/auth/identity", { body: { ...identity, second_factor } });
    const refusedRun = await run("auth enrol-totp", { environment });
    expect(refusedRun).toMatchObject({ exit: 2, stderr: expect.stringContaining("--totp CODE") });
    expect(server.calls("POST /v1/auth/second-factor")).toEqual([]);
    expect((await run("auth enrol-totp --totp 654321", { environment })).exit).toBe(8);
    expect(JSON.parse(server.calls("POST /v1/auth/second-factor")[0]?.body ?? "")).toEqual({ totp: "654321" });
    expect((await run("auth enrol-totp --recovery-code abcd", { environment })).exit).toBe(8);
    expect(JSON.parse(server.calls("POST /v1/auth/second-factor")[1]?.body ?? "")).toEqual({ recovery_code: "abcd" });
  });

  it("a token is issued for the funds that are named, in the proof and in the request", async () => {
    server.on("POST /v1/auth/step-up", {
      status: 201,
      body: { proof: "the-proof", expires_at: "2026-11-15T12:02:00.000000Z" },
    });
    const issued = { id: "tok_1", name: "oms", token: "pcs_tok_value", expires_at: "2026-12-15T12:00:00.000000Z" };
    server.on("POST /v1/service-tokens", { status: 201, body: { ...issued, funds: ["harbor", "alpha"] } });
    const named = await run("auth tokens issue oms --operation CheckOrder --fund harbor,alpha --totp 123456", {
      environment,
    });
    expect(named.exit, named.stderr).toBe(0);
    expect(named.stderr).toContain("of harbor, alpha");
    for (const call of ["POST /v1/auth/step-up", "POST /v1/service-tokens"])
      expect(server.calls(call)[0]?.body, call).toContain('"funds":["harbor","alpha"]');
    const both = "auth tokens issue oms --operation CheckOrder --fund harbor --every-fund --totp 123456";
    expect(await run(both, { environment })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--every-fund"),
    });
  });

  it("a token is issued with a proof for exactly its parameters", async () => {
    server.on("POST /v1/auth/step-up", {
      status: 201,
      body: { proof: "the-proof", expires_at: "2026-11-15T12:02:00.000000Z" },
    });
    const issued = { id: "tok_1", name: "oms", token: "pcs_tok_value", expires_at: "2026-12-15T12:00:00.000000Z" };
    server.on("POST /v1/service-tokens", { status: 201, body: issued });
    const line = "auth tokens issue oms --operation CheckOrder,GetEnvelope --expires-in 30d --totp 123456";
    const { exit, stdout, stderr } = await run(line, { environment });
    expect(exit, stderr).toBe(0);
    expect(stdout).toBe("pcs_tok_value\n");
    const request = { name: "oms", operations: ["CheckOrder", "GetEnvelope"], expires_in_s: 2_592_000 };
    expect(JSON.parse(server.calls("POST /v1/auth/step-up")[0]?.body ?? "")).toEqual({
      action: "IssueServiceToken",
      parameters: request,
      totp: "123456",
    });
    expect(JSON.parse(server.calls("POST /v1/service-tokens")[0]?.body ?? "")).toEqual({
      ...request,
      step_up_proof: "the-proof",
    });
    expect(stderr).toContain("of every fund");
    expect(await run("auth tokens issue x --operation Nonesuch --totp 123456", { environment })).toMatchObject({
      exit: 2,
    });
    expect(await run("auth tokens issue x --operation CheckOrder", { environment })).toMatchObject({ exit: 2 });
    server.on("POST /v1/service-tokens/tok_1/rotate", { status: 201, body: { ...issued, token: "pcs_new" } });
    expect((await run("auth tokens rotate tok_1 --totp 123456", { environment })).stdout).toBe("pcs_new\n");
    expect(JSON.parse(server.calls("POST /v1/auth/step-up")[1]?.body ?? "")).toEqual({
      action: "RotateServiceToken",
      parameters: { id: "tok_1", overlap_s: 3_600, expires_in_s: 7_776_000 },
      totp: "123456",
    });
  });

  it("22.11: rotating keys at once hands the word to the server, right or wrong, and a wrong one is exit 3", async () => {
    const route = "POST /v1/auth/signing-keys/rotate";
    const detail = "Type ROTATE to confirm. Nothing was replaced.";
    server.on(route, { status: 409, body: { code: "CONFIRMATION_WRONG", detail } });
    expect((await run("auth rotate-keys --at-once", { environment })).exit).toBe(3);
    expect(await run("auth rotate-keys --at-once --confirm rotate", { environment })).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining(detail),
    });
    expect((await run("auth rotate-keys --at-once", { environment, typed: ["yes"] })).exit).toBe(3);
    server.on(route, { body: { key_id: "k2" } });
    expect((await run("auth rotate-keys --at-once", { environment, typed: ["ROTATE"] })).exit).toBe(0);
    expect((await run("auth rotate-keys", { environment })).exit).toBe(0);
    const sent = server.calls(route).map(({ body }) => JSON.parse(body) as unknown);
    const atOnce = ["", "rotate", "yes", "ROTATE"].map((confirmation) => ({ retire: "at_once", confirmation }));
    expect(sent).toEqual([...atOnce, { retire: "after_overlap" }]);
  });
});
