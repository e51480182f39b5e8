// The file that holds a login: for its owner alone, whole or not there, and renewed by one ctl at a time.
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../adapters/system/clock.ts";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { type FakeServer, fakeJwt, startFakeServer } from "../../../testkit/ctl/fakes.ts";
import { type Profile, readProfile, writeProfile } from "./profile.ts";
import { lockPathOf, underLock } from "./profile-lock.ts";

let home = "";
let path = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-profile-"));
  path = join(home, "portcullis", "profiles", "default.json");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const profile: Profile = {
  server: "http://127.0.0.1:1",
  issuer: "http://127.0.0.1:1/oidc",
  client_id: "portcullis-cli",
  audience: "portcullis",
  name: "duty",
  token: "secret-token-value",
  token_kind: "access_token",
  expires_at: "2026-11-15T00:00:00Z",
};

describe("the file", () => {
  it("is 0600 in folders of 0700, also when they were wider, and leaves nothing beside it", () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    chmodSync(join(home, "portcullis"), 0o755);
    writeProfile(path, profile);
    writeProfile(path, { ...profile, name: "relief" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, "portcullis")).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual(["default.json"]);
    expect(readProfile(path)?.name).toBe("relief");
  });

  it.each([0o640, 0o604, 0o660, 0o622])("is refused with mode %o, and the refusal says chmod", (mode) => {
    writeProfile(path, profile);
    chmodSync(path, mode);
    expect(() => readProfile(path)).toThrow(/can be read by others/);
    expect(() => readProfile(path)).toThrow(
      expect.objectContaining({ exit: 4, hint: expect.stringContaining("chmod 600") }),
    );
  });

  it.each(["", "{", "[]", "null", '{"server":1}', `{"token":"secret-token-value"`])(
    "is refused when it holds %j, without repeating it",
    (text) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o600 });
      expect(() => readProfile(path)).toThrow(/The profile .* (is not|lacks)/);
      expect(() => readProfile(path)).not.toThrow(/secret-token-value/);
    },
  );

  it("is absent without a complaint", () => {
    expect(readProfile(path)).toBeUndefined();
  });
});

describe("the lock", () => {
  const ports = { clock: systemClock(), timers: systemTimers(), signal: new AbortController().signal };

  it("lets one in at a time, and is gone afterwards", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await ports.timers.sleep(20);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 5 }, () => underLock(lockPathOf(path), ports, work)));
    expect(most).toBe(1);
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("is taken from a process that died, and from one that is far too old", async () => {
    mkdirSync(dirname(path), { recursive: true });
    const dead = spawn(process.execPath, ["-e", "0"]);
    await new Promise((resolve) => dead.once("exit", resolve));
    writeFileSync(lockPathOf(path), `${dead.pid} 1\n`);
    expect(await underLock(lockPathOf(path), ports, async () => "in")).toBe("in");
    writeFileSync(lockPathOf(path), `${process.pid} 1\n`);
    utimesSync(lockPathOf(path), 1, 1);
    expect(await underLock(lockPathOf(path), ports, async () => "in")).toBe("in");
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("waits for a holder that lives, and Ctrl-C ends the waiting", async () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(lockPathOf(path), `${process.pid} 1\n`);
    const stop = new AbortController();
    const waiting = underLock(lockPathOf(path), { ...ports, signal: stop.signal }, async () => "in");
    setTimeout(() => stop.abort(), 100);
    await expect(waiting).rejects.toMatchObject({ exit: 130 });
    expect(existsSync(lockPathOf(path))).toBe(true);
  });
});

describe("renewal by several ctl at once", () => {
  let server: FakeServer;
  beforeEach(async () => {
    server = await startFakeServer();
  });
  afterEach(() => server.close());

  it("uses the refresh token once; everybody goes on with the new pair, which is on disk", {
    timeout: 60_000,
  }, async () => {
    const issuer = `${server.url}/oidc`;
    // Built before they race, so that they start together.
    expect(await spawnCtl(["--version"])).toMatchObject({ code: 0 });
    const soon = () => Math.floor(Date.now() / 1_000);
    const used: string[] = [];
    server.on("GET /oidc/.well-known/openid-configuration", { body: { issuer, token_endpoint: `${issuer}/token` } });
    server.on("POST /oidc/token", async ({ body }) => {
      const refresh = new URLSearchParams(body).get("refresh_token") ?? "";
      const reused = used.includes(refresh);
      used.push(refresh);
      // The others have come too, and would ask if nothing held them back.
      await expect.poll(() => tried.size).toBe(3);
      if (reused || refresh !== "refresh-1") return { status: 400, body: { error: "invalid_grant" } };
      const access_token = fakeJwt({ aud: "portcullis", exp: soon() + 300, n: 2 });
      return { body: { access_token, token_type: "bearer", expires_in: 300, refresh_token: "refresh-2" } };
    });
    server.on("GET /v1/auth/identity", ({ authorization }) => {
      const onDisk = readProfile(path);
      // Invariant: what is used is what a crash would leave.
      if (authorization !== `Bearer ${onDisk?.token}` || onDisk?.refresh_token !== "refresh-2")
        return { status: 500, body: {} };
      return { body: identity };
    });
    const token = fakeJwt({ aud: "portcullis", exp: soon() + 10, n: 1 });
    const expires_at = `${new Date(Date.now() + 10_000).toISOString().slice(0, 19)}Z`;
    writeProfile(path, { ...profile, server: server.url, issuer, token, expires_at, refresh_token: "refresh-1" });
    // Each writes a file with its process's number when it tries to take the lock.
    const tried = new Set<string>();
    const watcher = watch(dirname(path), (_event, name) => {
      const [, pid] = /\.lock\.(\d+)\.tmp$/.exec(name ?? "") ?? [];
      if (pid !== undefined) tried.add(pid);
    });
    onTestFinished(() => watcher.close());
    const results = await Promise.all([1, 2, 3].map(() => spawnCtl(["auth", "whoami", "--json"])));
    for (const result of results) expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(used).toEqual(["refresh-1"]);
    expect(readFileSync(path, "utf8")).toContain("refresh-2");
    expect(readdirSync(dirname(path))).toEqual(["default.json"]);
  });

  const identity = {
    actor: "operator:duty",
    kind: "operator",
    name: "duty",
    roles: ["operator"],
    issuer: "i",
    issued_at: "2026-11-15T00:00:00.000000Z",
    expires_at: "2026-11-15T00:05:00.000000Z",
    second_factor: null,
  };

  function spawnCtl(argv: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const bin = join(import.meta.dirname, "..", "bin", "ctl.js");
    const env = { PATH: process.env["PATH"] ?? "", XDG_CONFIG_HOME: home };
    const child = spawn(process.execPath, [bin, ...argv], { env, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
    const text = { stdout: "", stderr: "" };
    child.stdout.on("data", (part) => (text.stdout += part));
    child.stderr.on("data", (part) => (text.stderr += part));
    return new Promise((resolve) => child.once("close", (code) => resolve({ code, ...text })));
  }
});
