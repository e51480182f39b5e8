// What a script can rely on: exit codes against a server that says each kind of no, one document on stdout, errors as JSON on stderr, no
// colour and no question where no terminal is, and nothing from elsewhere that could steer a terminal.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import { type FakeServer, problem, runFake, startFakeServer } from "../../testkit/ctl/fakes.ts";
import { newAuthority } from "../../testkit/test-certificate.ts";
import { failureOf } from "./failure.ts";
import { wantsColour } from "./terminal.ts";

let home = "";
let server: FakeServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-main-"));
  server = await startFakeServer();
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const run = (line: string, environment: Record<string, string> = {}, typed?: string[]) =>
  runFake(
    line.split(" ").filter((word) => word !== ""),
    {
      environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x", ...environment },
      clock: systemClock(),
      timers: systemTimers(),
      folder: home,
      ...(typed === undefined ? {} : { typed }),
    },
  );

const identity = {
  actor: "operator:duty",
  kind: "operator",
  name: "duty",
  roles: ["operator"],
  issuer: "https://issuer.example",
  issued_at: "2026-11-15T12:00:00.000000Z",
  expires_at: "2126-11-15T12:05:00.000000Z",
  second_factor: { enrolled_at: "2026-11-01T00:00:00.000000Z", recovery_codes_left: 8, locked_until: null },
};

describe("exit codes", () => {
  it.each([
    [401, "UNAUTHENTICATED", 4],
    [403, "PERMISSION_DENIED", 5],
    [409, "STORE_CONFLICT", 7],
    [409, "LOOSENING_DURING_HALT", 6],
    [429, "RESOURCE_EXHAUSTED", 9],
    [429, "SECOND_FACTOR_LOCKED", 5],
    [409, "SECOND_FACTOR_NOT_BEGUN", 7],
    [404, "SERVICE_TOKEN_NOT_ACTIVE", 7],
    [409, "SERVICE_TOKEN_LIMIT", 7],
    [409, "SIGNING_KEYS_EXTERNAL", 1],
    [503, "SERVICE_UNAVAILABLE", 9],
    [500, "INTERNAL", 1],
    [400, "INVALID_ARGUMENT", 2],
    [404, "NOT_FOUND", 1],
    // From a newer server: the status decides.
    [409, "NEVER_HEARD_OF", 7],
    [422, "NEVER_HEARD_OF", 6],
    [503, "NEVER_HEARD_OF", 9],
  ])("%i %s is %i, in words and as JSON", async (status, code, exit) => {
    server.on("GET /v1/auth/identity", problem(status, code, "Because I say so."));
    const inWords = await run("auth whoami");
    expect(inWords).toMatchObject({ exit, stdout: "" });
    expect(inWords.stderr).toContain("Because I say so.");
    const asJson = await run("auth whoami --json");
    expect(asJson).toMatchObject({ exit, stdout: "" });
    const reported = JSON.parse(asJson.stderr.trim().split("\n").at(-1) ?? "") as object;
    expect(reported).toMatchObject({ status, code, detail: "Because I say so.", exit_code: exit });
  });

  it("a field that is wrong is named by the option that was typed", async () => {
    const errors = [
      { field: "query.count_max", expected: "at most 500" },
      { field: "query.fund_id", expected: "text" },
      { field: "query.nonesuch", expected: "no such field" },
    ];
    const { body, ...rest } = problem(400, "INVALID_ARGUMENT", "query.count_max: expected at most 500.");
    server.on("GET /v1/oms/orders?count_max=101", { ...rest, body: { ...(body as object), errors } });
    const { stderr } = await run("oms orders list");
    expect(stderr).toContain(
      "--limit: expected at most 500; --fund-id: expected text; query.nonesuch: expected no such",
    );
    server.on("GET /v1/oms/orders?count_max=101", problem(400, "INVALID_ARGUMENT", "count_max is 101: ask for less."));
    expect((await run("oms orders list")).stderr).toContain("--limit is 101: ask for less.");
  });

  it("a server that is not there, or says nothing we know, is 9", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const nobody = await run(`auth whoami --server http://127.0.0.1:${port}`);
    expect(nobody).toMatchObject({ exit: 9, stdout: "", stderr: expect.stringContaining("ECONNREFUSED") });
    server.on("GET /v1/auth/identity", { status: 302, headers: { location: "https://elsewhere.example" } });
    expect(await run("auth whoami")).toMatchObject({ exit: 9 });
  });

  it.each([
    ["an answer of 404", { status: 404, body: "nothing" }],
    ["an answer that is not ours", { status: 403, body: { error: "forbidden" } }],
    ["JSON of something else", { body: { hello: "world" } }],
  ])("%s is no Portcullis server, which is 9 and said", async (_name, answer) => {
    server.on("GET /.well-known/oauth-protected-resource", answer);
    server.on("GET /v1/healthz", answer);
    const sentence = `${server.url} answers, but not as a Portcullis operators' port (default 8080).`;
    expect(await run("auth login")).toMatchObject({ exit: 9, stderr: expect.stringContaining(sentence) });
    expect(await run("doctor")).toMatchObject({ exit: 1, stdout: expect.stringContaining(sentence) });
  });

  it("so is a page, and a port that speaks no HTTP; a proxy without its server is only unavailable", async () => {
    for (const text of ["HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<html>", "\u0000\u0000\u0012\u0004"]) {
      const other = createServer(
        (socket) =>
          void socket
            .resume()
            .end(text)
            .on("error", () => undefined),
      );
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
      const { port } = other.address() as AddressInfo;
      const login = await run(`auth login --server http://127.0.0.1:${port}`);
      expect(login).toMatchObject({ exit: 9, stderr: expect.stringContaining("not as a Portcullis operators' port") });
      await new Promise((resolve) => other.close(resolve));
    }
    server.on("GET /.well-known/oauth-protected-resource", { status: 502, body: {} });
    const proxy = await run("auth login");
    expect(proxy.exit).toBe(9);
    expect(proxy.stderr).not.toContain("operators' port");
  });

  it("https to a port that speaks http is said as that", async () => {
    const { exit, stderr } = await run(`auth whoami --server ${server.url.replace("http:", "https:")}`);
    expect(exit).toBe(9);
    expect(stderr).toContain("it speaks http, not https");
    expect(stderr).toContain(`Use ${server.url} `);
  });

  it("a server whose certificate comes from an unknown authority is not trusted, and gets no token", async () => {
    const { certificate: cert, key } = newAuthority().issue(["127.0.0.1"]);
    let asked = 0;
    const other = createSecureServer({ cert, key }, () => {
      asked += 1;
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const { exit, stderr } = await run(`auth whoami --server https://127.0.0.1:${port}`);
    expect([exit, asked]).toEqual([9, 0]);
    expect(stderr).toContain("an authority that this machine does not know");
    expect(stderr).toContain("NODE_EXTRA_CA_CERTS");
    await new Promise((resolve) => other.close(resolve));
  });

  it.each([
    ["CERT_HAS_EXPIRED", "has run out"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "is for another name"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "an authority that this machine does not know"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "an authority that this machine does not know"],
  ])("what is wrong with a certificate is said: %s", async (code, sentence) => {
    const cause = Object.assign(new Error("no"), { code });
    const thrown = Object.assign(new Error("x cannot be reached", { cause }), { baseUrl: "https://p.example" });
    thrown.name = "UnreachableError";
    expect(await failureOf(thrown)).toMatchObject({ exit: 9, detail: expect.stringContaining(sentence) });
  });

  it("nobody logged in is 4, a bad command line 2, a broken profile 4", async () => {
    expect(await run("auth whoami", { PORTCULLIS_TOKEN: "" })).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining("ctl auth login"),
    });
    expect((await run("auth whoami --nonesuch")).exit).toBe(2);
    expect((await run("auth")).exit).toBe(2);
    expect((await run("auth whoami --profile ../x")).exit).toBe(2);
    const json = await run("nonesuch --json");
    expect(JSON.parse(json.stderr)).toMatchObject({ code: "INVALID_ARGUMENT", exit_code: 2 });
  });

  it("are on their help page", async () => {
    const { exit, stdout } = await run("help exit-codes --json");
    expect(exit).toBe(0);
    expect((JSON.parse(stdout) as { exit_code: number }[]).map((row) => row.exit_code)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130,
    ]);
  });
});

describe("output", () => {
  it("stdout is one JSON document, and says where token and server came from", async () => {
    server.on("GET /v1/auth/identity", { body: identity });
    const { stdout, stderr, exit } = await run("auth whoami --json");
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      actor: "operator:duty",
      token_from: "PORTCULLIS_TOKEN",
      server: { url: server.url, from: "PORTCULLIS_URL" },
    });
    expect(server.seen[0]?.authorization).toBe("Bearer pcs_1_x");
    const words = await run("auth whoami");
    expect(words.stdout).toMatch(/Token from\s+PORTCULLIS_TOKEN/);
    expect(words.stdout).toContain("8 recovery codes left");
  });

  it("says where a refused token came from, and what helps only when it would", async () => {
    server.on("GET /v1/auth/identity", problem(401, "UNAUTHENTICATED", "It ran out."));
    expect((await run("auth whoami")).stderr).toContain("The token came from PORTCULLIS_TOKEN.");
    server.on("GET /v1/service-tokens?count_max=500", problem(403, "PERMISSION_DENIED", "Not you."));
    expect((await run("auth tokens list")).stderr).toContain("shows your roles");
    server.on("GET /v1/service-tokens?count_max=500", problem(403, "SECOND_FACTOR_WRONG", "Not that."));
    expect((await run("auth tokens list")).stderr).not.toContain("shows your roles");
  });

  it("asks for no code when no machine may be given the operation", async () => {
    const issue = await run("auth tokens issue acme --operation ResumeHalt --totp 123456");
    expect(issue).toMatchObject({ exit: 2, stderr: expect.stringContaining('no operation "ResumeHalt" for machines') });
    expect(server.seen).toEqual([]);
  });

  it("control characters and direction marks from elsewhere do not reach the terminal", async () => {
    const nasty = "du\u001b]0;owned\u0007ty\u001b[31m\u009b2J\r\n\u202eevil";
    server.on("GET /v1/auth/identity", { body: { ...identity, actor: nasty, roles: [nasty] } });
    const words = await run("auth whoami");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(words.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    const json = await run("auth whoami --json");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(json.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect((JSON.parse(json.stdout) as { actor: string }).actor).toBe(nasty);
    server.on("GET /v1/auth/identity", problem(403, "PERMISSION_DENIED", nasty));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect((await run("auth whoami")).stderr).not.toMatch(/[\u001b\u009b\u202e]/);
  });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ CLICOLOR_FORCE: "1" }, false, true],
    [{ CLICOLOR_FORCE: "0" }, false, false],
    [{ CLICOLOR_FORCE: "1", NO_COLOR: "1" }, true, false],
    [{ CLICOLOR: "0" }, true, false],
    [{ TERM: "dumb" }, true, false],
  ])("colour with %j on a terminal %j: %j", (environment, terminal, colour) => {
    expect(wantsColour(environment, terminal)).toBe(colour);
  });

  it("help and version, also as JSON", async () => {
    expect(await run("--version")).toMatchObject({ exit: 0, stdout: "0.0.0-test\n" });
    expect((await run("")).stdout).toContain("First steps:");
    expect(JSON.parse((await run("help auth login --json")).stdout)).toMatchObject({
      help: expect.stringContaining("--dev"),
    });
    expect(await run("help auth lgin")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("ctl help auth login"),
    });
  });
});

describe("revoke-sessions", () => {
  it.each([
    [{ known: false }, 1, /Nobody of that name is known here; the revocation is kept in case they log in\./],
    [{ known: true }, 0, /Every login of operator:relief is ended/],
    [{ known: null }, 0, /Every login of operator:relief is ended/],
    [{}, 0, /Every login of operator:relief is ended/],
  ])("%j is exit %i", async (more, exit, sentence) => {
    server.on("POST /v1/auth/sessions/revoke", { body: { effective_within_ms: 2_000, ...more } });
    expect(await run("auth revoke-sessions relief")).toMatchObject({ exit, stdout: expect.stringMatching(sentence) });
    const json = await run("auth revoke-sessions relief --json");
    expect(json.exit).toBe(exit);
    expect(JSON.parse(json.stdout)).toEqual({ actor: "operator:relief", effective_within_ms: 2_000, ...more });
  });
});

describe("a platform here", () => {
  it("down says that none runs; a foreign process with that number is left alone", async () => {
    expect(await run("down --json")).toMatchObject({ exit: 0, stdout: expect.stringContaining("not running") });
    const other = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], { stdio: "ignore" });
    try {
      writeFileSync(join(home, "run.json"), JSON.stringify({ pid: other.pid, addresses: {} }));
      expect(await run("down --json", { PORTCULLIS_DATA_DIR: home })).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining("not running"),
      });
      expect(other.exitCode).toBeNull();
    } finally {
      other.kill("SIGKILL");
    }
  });

  it.each(["up", "up --detach"])("24.9: %s without a repository says so and starts nothing", async (line) => {
    const environment = { XDG_CONFIG_HOME: home, PORTCULLIS_DATA_DIR: home, XDG_STATE_HOME: join(home, "state") };
    const options = { environment, clock: systemClock(), timers: systemTimers(), folder: home, installedAlone: true };
    const answer = await runFake(line.split(" "), options);
    expect(answer).toMatchObject({ exit: 1, stdout: "" });
    expect(answer.stderr).toContain("installed without the platform");
    expect(readdirSync(home)).toEqual([]);
  });

  /** A stand-in for the platform: it answers healthz, writes run.json, and ends at SIGTERM. */
  const program = `
    const { createServer } = require("node:http"); const { writeFileSync, rmSync } = require("node:fs");
    const run = process.env.PORTCULLIS_DATA_DIR + "/run.json";
    if (process.env.PORTCULLIS_TOKEN) process.exit(3);
    if (process.env.FAIL) { console.error("it is broken"); process.exit(7); }
    const server = createServer((q, s) => s.end("{}")).listen(0, "127.0.0.1", () => writeFileSync(run,
      JSON.stringify({ pid: process.pid, data_dir: process.env.PORTCULLIS_DATA_DIR, addresses: { gateway: "127.0.0.1:" + server.address().port } })));
    process.on("SIGTERM", () => { rmSync(run); process.exit(0); });`;

  it("up --detach waits until it is healthy, up again says that it runs, down ends it", {
    timeout: 60_000,
  }, async () => {
    const { mkdirSync } = await import("node:fs");
    mkdirSync(join(home, "bin"));
    writeFileSync(join(home, "bin", "portcullis.js"), program);
    const environment = {
      PORTCULLIS_DATA_DIR: home,
      XDG_STATE_HOME: join(home, "state"),
      PATH: process.env["PATH"] ?? "",
    };
    const started = await run("up --detach --json", environment);
    expect(started.exit, started.stderr).toBe(0);
    const { pid } = JSON.parse(started.stdout) as { pid: number };
    try {
      expect(JSON.parse(started.stdout)).toMatchObject({
        status: "started",
        healthy: true,
        addresses: { gateway: expect.any(String) },
      });
      expect(JSON.parse((await run("up --detach --json", environment)).stdout)).toMatchObject({
        status: "already running",
        pid,
        healthy: true,
      });
      expect(JSON.parse((await run("down --json", environment)).stdout)).toEqual({ status: "stopped", pid });
      expect(() => process.kill(pid, 0)).toThrow();
    } finally {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended, as it should.
      }
    }
    const failed = await run("up --detach", { ...environment, FAIL: "1" });
    expect(failed).toMatchObject({ exit: 1, stderr: expect.stringContaining("it is broken") });
  });
});

describe("as a process", () => {
  const bin = join(import.meta.dirname, "bin", "ctl.js");
  const start = (argv: readonly string[], environment: Record<string, string> = {}) =>
    spawn(process.execPath, [bin, ...argv], {
      env: { PATH: process.env["PATH"] ?? "", XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, ...environment },
      cwd: home,
      stdio: ["ignore", "pipe", "pipe"],
    });

  it("Ctrl-C in the middle of a login exits 130 at once and leaves nothing", { timeout: 60_000 }, async () => {
    const issuer = `${server.url}/oidc`;
    const authorization_servers = [issuer];
    server.on("GET /.well-known/oauth-protected-resource", {
      body: { authorization_servers, client_id: "c", audience: "a", scopes: "openid" },
    });
    server.on("GET /oidc/.well-known/openid-configuration", {
      body: { issuer, token_endpoint: `${issuer}/token`, device_authorization_endpoint: `${issuer}/device` },
    });
    server.on("POST /oidc/device", {
      body: {
        device_code: "d",
        user_code: "BCDF-GHJK",
        verification_uri: `${issuer}/activate`,
        expires_in: 6_000,
        // It ends while it waits for the next poll, which is further away than this test may take.
        interval: 600,
      },
    });
    const child = start(["auth", "login"]);
    let stderr = "";
    child.stderr.on("data", (part) => (stderr += part));
    await expect.poll(() => stderr, { timeout: 40_000 }).toContain("Waiting");
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code).toBe(130);
    expect(readdirSync(home)).toEqual([]);
  });

  it("a reader that hangs up is no error", { timeout: 60_000 }, async () => {
    const child = start(["completion", "fish"]);
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (part) => (stderr += part));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});
