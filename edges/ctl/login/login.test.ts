// Logging in and out against an issuer that says everything an issuer can say: approved, not yet, slower, refused, too late, gone.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type FakeAnswer,
  type FakeServer,
  fakeJwt,
  problem,
  runFake,
  startFakeServer,
  virtualTime,
} from "../../../testkit/ctl/fakes.ts";
import { readProfile } from "./profile.ts";

const startMs = Date.UTC(2026, 10, 15, 12);
let home = "";
let server: FakeServer;
let time = virtualTime(startMs);
let path = "";

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-login-"));
  path = join(home, "portcullis", "profiles", "default.json");
  server = await startFakeServer();
  // The library checks an ID token's life by the real clock; its tokens below live by that one.
  time = virtualTime(startMs);
  const issuer = `${server.url}/oidc`;
  server.on("GET /.well-known/oauth-protected-resource", { body: configuration() });
  server.on("GET /oidc/.well-known/openid-configuration", {
    body: {
      issuer,
      token_endpoint: `${issuer}/token`,
      device_authorization_endpoint: `${issuer}/device`,
      revocation_endpoint: `${issuer}/revoke`,
      id_token_signing_alg_values_supported: ["ES256"],
    },
  });
  server.on("POST /oidc/device", {
    body: {
      device_code: "device-secret",
      user_code: "BCDF-GHJK",
      verification_uri: `${issuer}/activate`,
      verification_uri_complete: `${issuer}/activate?user_code=BCDF-GHJK`,
      expires_in: 600,
      interval: 1,
    },
  });
  server.on("POST /oidc/revoke", { body: {} });
  server.on("GET /v1/auth/identity", { body: identity });
  server.on("POST /v1/auth/logout", { body: { effective_within_ms: 2_000 } });
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const configuration = (more: object = {}) => ({
  resource: server.url,
  authorization_servers: [`${server.url}/oidc`],
  client_id: "portcullis-cli",
  audience: "portcullis",
  scopes: "openid offline_access",
  development_login: true,
  time: "2026-11-15T12:00:00.000000Z",
  ...more,
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

const accessToken = (aud: unknown = "portcullis") => fakeJwt({ aud, exp: startMs / 1_000 + 300 });
const granted = (more: object = {}): FakeAnswer => ({
  body: { access_token: accessToken(), token_type: "bearer", expires_in: 300, refresh_token: "refresh-1", ...more },
});
const refused = (error: string): FakeAnswer => ({ status: 400, body: { error } });

/** The token endpoint says these one after another, the last again and again. */
function answers(...list: readonly FakeAnswer[]): void {
  let at = 0;
  server.on("POST /oidc/token", () => list[Math.min(at++, list.length - 1)] ?? refused("invalid_request"));
}

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

describe("the device flow", () => {
  it("shows address and code on stderr, waits as asked, slower when asked, and keeps the login", async () => {
    answers(refused("authorization_pending"), refused("slow_down"), refused("authorization_pending"), granted());
    const { exit, stdout, stderr } = await run("auth login --no-browser");
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain("BCDF-GHJK");
    expect(stderr).toContain(`${server.url}/oidc/activate`);
    expect(stdout).toContain("operator:duty");
    expect(time.slept).toEqual([1_000, 1_000, 6_000, 6_000]);
    expect(readProfile(path)).toMatchObject({
      server: server.url,
      token: accessToken(),
      token_kind: "access_token",
      refresh_token: "refresh-1",
      expires_at: "2026-11-15T12:05:00Z",
    });
    const sent = new URLSearchParams(server.calls("POST /oidc/token")[0]?.body);
    expect(Object.fromEntries(sent)).toEqual({
      client_id: "portcullis-cli",
      device_code: "device-secret",
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    });
    expect(`${stdout}${stderr}`).not.toMatch(/refresh-1|device-secret|c2lnbmF0dXJl/);
  });

  it("lives through a moment without the issuer", async () => {
    let calls = 0;
    server.on("POST /oidc/token", () => {
      calls += 1;
      if (calls === 1) return new Promise<FakeAnswer>((_resolve) => void server.close().then(() => undefined));
      return granted();
    });
    const stop = new AbortController();
    // Ctrl-C comes from within the fourth wait: time passes at once here, and from outside it could come after the code ran out.
    const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
      await time.timers.sleep(ms, signal);
      if (time.slept.length >= 4) stop.abort();
    };
    const { exit } = await runFake(["auth", "login"], {
      environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url },
      folder: home,
      clock: time.clock,
      timers: { ...time.timers, sleep },
      signal: stop.signal,
    });
    expect(time.slept.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(exit).toBe(130);
  });

  it("lives through an issuer that starts, has too much to do or trouble of its own", async () => {
    const starting = problem(503, "IDENTITY_UNAVAILABLE", "The gateway is starting.");
    const busy = problem(429, "RESOURCE_EXHAUSTED", "Too many attempts.");
    const troubled = { status: 503, body: { error: "server_error" } };
    answers(starting, busy, troubled, refused("authorization_pending"), granted());
    const { exit, stderr } = await run("auth login");
    expect(exit, stderr).toBe(0);
    expect(time.slept).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
  });

  it("does not take an issuer with trouble of its own for the end of the login", async () => {
    answers(granted(), { status: 503, body: { error: "server_error" } });
    expect((await run("auth login")).exit).toBe(0);
    time = virtualTime(startMs + 280_000);
    expect((await run("auth whoami")).exit).toBe(0);
    time = virtualTime(startMs + 301_000);
    expect(await run("auth whoami")).toMatchObject({ exit: 9, stderr: expect.stringContaining("(status 503)") });
    expect(readProfile(path)).toMatchObject({ refresh_token: "refresh-1" });
  });

  it.each([
    ["access_denied", /refused in the browser/],
    ["expired_token", /ran out before it was approved/],
    ["invalid_grant", /does not accept this login/],
    ["something_else", /answered something_else/],
  ])("%s ends it with exit 4 and leaves nothing", async (error, sentence) => {
    answers(refused(error));
    const { exit, stdout, stderr } = await run("auth login");
    expect({ exit, stdout }).toEqual({ exit: 4, stdout: "" });
    expect(stderr).toMatch(sentence);
    expect(existsSync(path)).toBe(false);
  });

  it("ends when the code has run out, although the issuer only ever says not yet", async () => {
    const device = {
      device_code: "d",
      user_code: "B",
      verification_uri: `${server.url}/x`,
      expires_in: 20,
      interval: 4,
    };
    server.on("POST /oidc/device", { body: device });
    answers(refused("authorization_pending"));
    const { exit, stderr } = await run("auth login");
    expect(exit).toBe(4);
    expect(stderr).toMatch(/ran out before it was approved/);
    expect(time.slept).toEqual([4_000, 4_000, 4_000, 4_000, 4_000]);
  });

  it("Ctrl-C ends it with 130 and leaves nothing", async () => {
    const stop = new AbortController();
    let calls = 0;
    server.on("POST /oidc/token", () => {
      calls += 1;
      if (calls === 3) stop.abort();
      return refused("authorization_pending");
    });
    const { exit, stdout } = await run("auth login", { signal: stop.signal });
    expect({ exit, stdout }).toEqual({ exit: 130, stdout: "" });
    expect(existsSync(join(home, "portcullis"))).toBe(false);
  });

  it("takes the ID token when the access token is opaque or for somebody else", async () => {
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = { iss: `${server.url}/oidc`, sub: "1", aud: "portcullis-cli", iat: nowS, exp: nowS + 600 };
    server.on("GET /.well-known/oauth-protected-resource", { body: configuration({ audience: "portcullis-cli" }) });
    const id_token = fakeJwt(claims);
    for (const access_token of ["opaque", accessToken("another")]) {
      answers(granted({ access_token, id_token }));
      expect((await run("auth login")).exit).toBe(0);
      expect(readProfile(path)).toMatchObject({ token: id_token, token_kind: "id_token" });
    }
  });

  it("refuses tokens that are for nobody here", async () => {
    answers(granted({ access_token: "opaque" }));
    const { exit, stderr } = await run("auth login");
    expect(exit).toBe(4);
    expect(stderr).toContain("audience portcullis");
  });

  it("keeps nothing that the server does not accept, and ends it at the issuer", async () => {
    answers(granted());
    server.on("GET /v1/auth/identity", problem(401, "UNAUTHENTICATED", "The token is for another server."));
    const { exit, stderr } = await run("auth login");
    expect(exit).toBe(4);
    expect(stderr).toContain("The token is for another server.");
    expect(existsSync(path)).toBe(false);
    expect(server.calls("POST /oidc/revoke")[0]?.body).toContain("token=refresh-1");
  });

  it("sends nothing to an issuer on plain http elsewhere", async () => {
    const elsewhere = configuration({ authorization_servers: ["http://issuer.example/oidc"] });
    server.on("GET /.well-known/oauth-protected-resource", { body: elsewhere });
    const { exit, stderr } = await run("auth login");
    expect(exit).toBe(1);
    expect(stderr).toContain("plain http is for this machine only");
  });

  it("cleans what the issuer says before it reaches the terminal", async () => {
    server.on("POST /oidc/device", {
      body: {
        device_code: "d",
        user_code: "A\u001b[2JB\u202eC",
        verification_uri: `${server.url}/x`,
        expires_in: 600,
        interval: 1,
      },
    });
    answers(granted());
    const { stderr } = await run("auth login");
    expect(stderr).toContain("A⟨U+001B⟩[2JB⟨U+202E⟩C");
  });
});

describe("what is on disk already", () => {
  const leave = (text: string, mode = 0o600) => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode });
    chmodSync(path, mode);
  };

  it.each(["", "{", '{"token":"half-a-secret"}', "x".repeat(70_000)])(
    "a damaged profile counts as none at login and logout, which say so",
    async (text) => {
      answers(granted());
      leave(text);
      expect(await run("auth whoami")).toMatchObject({ exit: 4, stderr: expect.stringContaining("`ctl auth login`") });
      const login = await run("auth login");
      expect(login).toMatchObject({ exit: 0, stderr: expect.stringContaining("It is written anew.") });
      expect(login.stderr).not.toContain("half-a-secret");
      expect(readProfile(path)).toMatchObject({ refresh_token: "refresh-1" });
      leave(text);
      const logout = await run("auth logout");
      expect(logout).toMatchObject({ exit: 0, stderr: expect.stringContaining("It is removed") });
      expect(existsSync(path)).toBe(false);
    },
  );

  it("one that others can read is never taken for damaged", async () => {
    answers(granted());
    leave("{", 0o644);
    for (const line of ["auth login", "auth logout"]) {
      expect(await run(line)).toMatchObject({ exit: 4, stderr: expect.stringContaining("chmod 600") });
    }
    expect(server.seen).toEqual([]);
    expect(readFileSync(path, "utf8")).toBe("{");
  });

  it("a folder that cannot be written is found before the server is asked", async () => {
    writeFileSync(join(home, "file"), "");
    for (const folder of ["/proc/nonesuch/deeper", join(home, "file", "below")]) {
      const { exit, stderr } = await run("auth login", { environment: { XDG_CONFIG_HOME: folder } });
      expect(exit).toBe(1);
      expect(stderr).toMatch(/Nothing can be written in .*portcullis\/profiles \(E[A-Z]+\)\.\n.*XDG_CONFIG_HOME/);
    }
    expect(server.seen).toEqual([]);
  });

  it("whoami says that a login is renewed by itself, and where a profile's name came from only when it is not the default", async () => {
    answers(granted());
    await run("auth login");
    const { stdout } = await run("auth whoami");
    expect(stdout).toMatch(/Until .*, renewed by itself\n/);
    expect(stdout).toContain("(profile default)\n");
    answers(granted({ refresh_token: undefined }));
    const login = await run("auth login --profile desk");
    expect(login.stderr).toContain("ctl --profile desk auth whoami");
    const other = await run("auth whoami --profile desk");
    expect(other.stdout).not.toContain("renewed by itself");
    expect(other.stdout).toContain("(profile desk, from --profile)");
    expect(other.stdout).toContain("`ctl --profile desk auth enrol-totp`");
  });
});

describe("--dev", () => {
  const credentials = { operators: [{ name: "duty", roles: [], password: "the-password", totp_secret: "S" }] };

  it("uses the development grant with the password from the data folder, and shows it nowhere", async () => {
    writeFileSync(join(home, "dev-credentials.json"), JSON.stringify(credentials));
    answers(granted());
    const { exit, stdout, stderr } = await run("auth login --dev duty --json", {
      environment: { PORTCULLIS_DATA_DIR: home },
    });
    expect(exit, stderr).toBe(0);
    expect(Object.fromEntries(new URLSearchParams(server.calls("POST /oidc/token")[0]?.body))).toMatchObject({
      grant_type: "urn:portcullis:params:oauth:grant-type:development",
      name: "duty",
      password: "the-password",
    });
    expect(JSON.parse(stdout)).toMatchObject({ actor: "operator:duty", profile: "default", profile_path: path });
    expect(`${stdout}${stderr}`).not.toContain("the-password");
  });

  it("finds the folder that run.json names", async () => {
    const data = mkdtempSync(join(home, "data-"));
    writeFileSync(join(data, "dev-credentials.json"), JSON.stringify(credentials));
    writeFileSync(join(home, "run.json"), JSON.stringify({ pid: 1, data_dir: data, addresses: {} }));
    answers(granted());
    expect((await run("auth login --dev duty", { environment: { PORTCULLIS_DATA_DIR: home } })).exit).toBe(0);
  });

  it("is refused with exit 5 where development operators do not exist, without reading or sending anything", async () => {
    server.on("GET /.well-known/oauth-protected-resource", { body: configuration({ development_login: false }) });
    const { exit, stderr } = await run("auth login --dev duty");
    expect(exit).toBe(5);
    expect(stderr).toContain("has no development operators");
    expect(server.calls("POST /oidc/token")).toEqual([]);
  });

  it("says which operators there are, and where it looked", async () => {
    expect(await run("auth login --dev duty")).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining(".portcullis"),
    });
    writeFileSync(join(home, "dev-credentials.json"), JSON.stringify(credentials));
    const unknown = await run("auth login --dev nobody", { environment: { PORTCULLIS_DATA_DIR: home } });
    expect(unknown).toMatchObject({ exit: 2, stderr: expect.stringContaining("there are: duty") });
  });
});

describe("logout", () => {
  beforeEach(async () => {
    answers(granted());
    expect((await run("auth login")).exit).toBe(0);
  });

  it("ends the login on the server and at the issuer, then forgets it", async () => {
    const { exit, stdout } = await run("auth logout");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/ended, refused everywhere within 2 s.*refresh token is revoked/s);
    expect(server.calls("POST /v1/auth/logout")[0]?.authorization).toBe(`Bearer ${accessToken()}`);
    expect(server.calls("POST /oidc/revoke")).toHaveLength(1);
    expect(readdirSync(join(home, "portcullis", "profiles"))).toEqual([]);
    expect((await run("auth whoami")).exit).toBe(4);
    expect(await run("auth logout")).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("Nobody was logged in"),
    });
  });

  it("says truthfully that the server could not be reached, and still forgets", async () => {
    await server.close();
    const { exit, stdout } = await run("auth logout --json");
    expect(exit).toBe(9);
    expect(JSON.parse(stdout)).toMatchObject({ logged_out: true, ended_on_server: false, ended_at_issuer: false });
    expect(existsSync(path)).toBe(false);
  });

  it("takes a login that is over already for ended", async () => {
    server.on("POST /v1/auth/logout", problem(401, "UNAUTHENTICATED", "It was revoked."));
    expect(await run("auth logout")).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("it had ended already"),
    });
  });

  it("a token is sent to the server that it was got from and to no other", async () => {
    const other = await startFakeServer();
    try {
      for (const line of ["auth whoami", "auth logout", "auth tokens list"]) {
        const result = await run(`${line} --server ${other.url}`);
        expect(result, line).toMatchObject({
          exit: 4,
          stdout: "",
          stderr: expect.stringContaining("is not sent there"),
        });
      }
      expect(other.seen).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
