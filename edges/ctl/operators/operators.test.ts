// People and signatures from a command line: what is only requested ends with exit 8, what is signed is shown first, and no code is spent in vain.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../../testkit/ctl/fakes.ts";

const time = virtualTime(Date.UTC(2026, 10, 15, 12));
let home = "";
let server: FakeServer;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-operators-"));
  server = await startFakeServer();
  server.on("GET /v1/auth/identity", { body: identityOf("bert") });
  server.on("POST /v1/auth/step-up", { status: 201, body: { proof: "p", expires_at: at } });
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const at = "2026-11-15T12:00:00.000000Z";
const identityOf = (name: string) => ({
  actor: `operator:${name}`,
  kind: "operator",
  name,
  roles: ["admin"],
  issuer: "i",
  issued_at: at,
  expires_at: at,
  second_factor: null,
});
const id = "5f0c1c2e-7a8b-4c3d-9e10-0123456789ab";
const request = {
  request_id: id,
  operation: "AddOperator",
  target: "operator:erika",
  parameters: { name: "erika", roles: ["operator", "viewer"] },
  requested_by: "operator:anna",
  reason: "joins",
  requested_at: at,
  expires_at: "2026-11-16T12:00:00.000000Z",
};
const erika = { name: "erika", roles: ["operator"], state: "active", development: false, created_at: at };

const run = (line: string) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    folder: home,
    ...time,
  });
const sent = (place: string) => server.calls(place).map(({ body }) => JSON.parse(body) as unknown);

describe("ctl auth operators", () => {
  it("add: a request ends with exit 8, half of the password and what another admin types", async () => {
    server.on("POST /v1/auth/operators", { status: 202, body: { ...request, password_half: "aaaa-bbbb" } });
    const { exit, stdout, stderr } = await run("auth operators add erika --role operator --reason joins --totp 123456");
    expect(exit, stderr).toBe(8);
    expect(stdout).toContain("Nothing is done yet");
    expect(stdout).toContain("aaaa-bbbb");
    expect(stderr).toContain(`ctl auth operators add --cosign ${id} --totp CODE`);
    expect(sent("POST /v1/auth/step-up")).toEqual([
      { action: "AddOperator", parameters: { name: "erika", roles: ["operator"] }, totp: "123456" },
    ]);
    expect(sent("POST /v1/auth/operators")).toEqual([
      { name: "erika", roles: ["operator"], reason: "joins", step_up_proof: "p" },
    ]);
  });

  it("add: outside production it is done, and the password alone is on stdout", async () => {
    server.on("POST /v1/auth/operators", { status: 201, body: { ...erika, password: "aaaa-bbbb" } });
    const { exit, stdout } = await run("auth operators add erika --role operator --reason joins --totp 123456");
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "aaaa-bbbb\n" });
  });

  it("says what is wrong before it asks for a code: a role that is none, no reason, no name", async () => {
    const wrong = await run("auth operators add erika --role root --reason joins --totp 123456");
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining("viewer, operator, risk_officer, admin") });
    expect((await run("auth operators add erika --role viewer --totp 123456")).exit).toBe(2);
    expect((await run("auth operators roles --role viewer --reason r --totp 123456")).stderr).toContain("--cosign");
    expect((await run("auth tokens issue oms --totp 123456")).stderr).toContain("--operation");
    expect(server.calls("POST /v1/auth/step-up")).toEqual([]);
  });

  it("--cosign: shows what is signed, by a beginning of its id, and the second half of the password", async () => {
    server.on("GET /v1/auth/requests", { body: [request] });
    server.on(`POST /v1/auth/requests/${id}/cosign`, {
      body: { ...request, cosigned_by: "operator:bert", operator: erika, password_half: "cccc-dddd" },
    });
    const { exit, stdout, stderr } = await run(`auth operators add --cosign ${id.slice(0, 8)} --totp 123456`);
    expect(exit, stderr).toBe(0);
    expect(stdout).toBe("cccc-dddd\n");
    for (const part of ["operator:erika", "operator, viewer", "operator:anna", "joins"]) expect(stderr).toContain(part);
    expect(sent("POST /v1/auth/step-up")).toEqual([
      { action: "CosignIdentityRequest", parameters: { request_id: id }, totp: "123456" },
    ]);
  });

  it("--cosign: neither one's own request nor another verb's costs a code", async () => {
    server.on("GET /v1/auth/requests", { body: [request] });
    server.on(`POST /v1/auth/requests/${id}/cosign`, problem(403, "IDENTITY_SAME_PERSON", "You asked yourself."));
    const other = await run(`auth operators roles --cosign ${id} --totp 123456`);
    expect(other).toMatchObject({ exit: 2, stderr: expect.stringContaining(`ctl auth operators add --cosign ${id}`) });
    server.on("GET /v1/auth/identity", { body: identityOf("anna") });
    expect(await run(`auth operators add --cosign ${id} --totp 123456`)).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("You asked yourself."),
    });
    expect(server.calls("POST /v1/auth/step-up")).toEqual([]);
  });

  it("disable, reset-factor and the lists", async () => {
    const gone = { ...erika, state: "disabled", disabled_at: at, revoked_tokens: ["t1"], kept_tokens: ["t2"] };
    server.on("POST /v1/auth/operators/erika/disable", { body: gone });
    const disabled = await run("auth operators disable erika --reason left --totp 123456");
    expect(disabled).toMatchObject({ exit: 0, stdout: expect.stringMatching(/locked out[\s\S]*t1[\s\S]*t2/) });
    expect(sent("POST /v1/auth/operators/erika/disable")).toEqual([
      { keep_tokens: false, reason: "left", step_up_proof: "p" },
    ]);
    server.on("POST /v1/auth/operators/erika/reset-factor", {
      status: 202,
      body: { ...request, operation: "ResetOperatorFactor" },
    });
    expect((await run("auth operators reset-factor erika --reason lost --totp 123456")).exit).toBe(8);
    server.on("GET /v1/auth/operators?count_max=500", { body: [gone, { ...erika, name: "anna" }] });
    const listed = (await run("auth operators list")).stdout;
    expect(listed).toContain("anna");
    expect(listed).not.toContain("erika");
    expect((await run("auth operators list --all")).stdout).toContain("erika");
    server.on("GET /v1/auth/requests", { body: [request] });
    expect((await run("auth requests list")).stdout).toContain("AddOperator");
  });

  it("a token that is revoked ends what its logins of NATS publish, and says who ends their connection", async () => {
    const revoked = { id: "t1", name: "oms", operations: ["CheckOrder"], expires_at: at, revoked_at: at };
    server.on("DELETE /v1/service-tokens/t1", { body: revoked });
    expect((await run("auth tokens revoke t1")).stdout).toBe("Token t1 of service:oms is revoked.\n");
    server.on("DELETE /v1/service-tokens/t1", { body: { ...revoked, nats_logins: ["desk", "desk-2"] } });
    expect((await run("auth tokens revoke t1")).stdout).toContain(": desk, desk-2. Take them away at the server.");
  });

  it("a token that another admin must sign ends with exit 8, and the signer is shown it", async () => {
    const token = { ...request, operation: "IssueServiceToken", target: "service:oms" };
    server.on("POST /v1/service-tokens", { status: 202, body: token });
    const issue = "auth tokens issue oms --operation CheckOrder --reason desk --totp 123456";
    expect(await run(issue)).toMatchObject({
      exit: 8,
      stderr: expect.stringContaining("ctl auth tokens issue --cosign"),
    });
    server.on("GET /v1/auth/requests", { body: [token] });
    const issued = { id: "t1", name: "oms", expires_at: at, token: "pcs_value" };
    server.on(`POST /v1/auth/requests/${id}/cosign`, {
      body: { ...token, cosigned_by: "operator:bert", token: issued },
    });
    expect(await run(`auth tokens issue --cosign ${id} --totp 123456`)).toMatchObject({
      exit: 0,
      stdout: "pcs_value\n",
    });
  });
});
