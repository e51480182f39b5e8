// What doctor sees: a machine, a server, an issuer and a login in order, and each of them not.
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../adapters/system/clock.ts";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { type FakeServer, problem, runFake, startFakeServer } from "../../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-doctor-"));
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

describe("doctor", () => {
  const login = { time: new Date().toISOString(), client_id: "c", audience: "a", development_login: true };
  const issuerFacts = () => ({ authorization_servers: [`${server.url}/oidc`] });
  const discovery = (more: object = {}) => ({
    issuer: `${server.url}/oidc`,
    token_endpoint: `${server.url}/t`,
    ...more,
  });
  beforeEach(() => {
    const body = () => ({ ...login, ...issuerFacts(), time: new Date().toISOString() });
    server.on("GET /.well-known/oauth-protected-resource", () => ({ body: body() }));
    const device_authorization_endpoint = `${server.url}/d`;
    server.on("GET /oidc/.well-known/openid-configuration", { body: discovery({ device_authorization_endpoint }) });
    server.on("GET /v1/healthz", { body: { status: "ok" } });
    server.on("GET /v1/auth/identity", { body: identity });
    server.on(haltsRoute, { body: statusOf() });
  });
  const haltsRoute = "GET /v1/halts/status";
  const statusOf = (...severities: string[]) => ({
    known: true,
    progress: [],
    restarts: [],
    lifted: [],
    halts: severities.map((severity) => ({ severity, fund_id: "", reason: "r", requested_by: "operator:duty" })),
  });
  const checksOf = (stdout: string) => {
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string }[] };
    return Object.fromEntries(checks.map(({ name, state }) => [name, state]));
  };

  it("is content when everything is in order", async () => {
    const { exit, stdout } = await run("doctor --json");
    expect(exit).toBe(0);
    // Whatever it tried, nothing of it stays.
    expect(readdirSync(home)).toEqual([]);
    expect(checksOf(stdout)).toEqual({
      node: "ok",
      version: "ok",
      "login folder": "ok",
      "profile file": "ok",
      "platform here": "ok",
      server: "ok",
      health: "ok",
      issuer: "ok",
      clock: "ok",
      login: "ok",
      "second factor": "ok",
    });
  });

  it("names the machines that may speak of every fund, and not those that ended", async () => {
    const token = {
      name: "oms",
      operations: ["CheckOrder"],
      created_by: "operator:duty",
      created_at: identity.issued_at,
    };
    const good = { ...token, id: "k1", expires_at: identity.expires_at };
    const ended = { ...good, id: "k3", revoked_at: identity.issued_at };
    server.on("GET /v1/service-tokens", { body: [good, { ...good, id: "k2", funds: ["harbor"] }, ended] });
    expect((await run("doctor")).stdout).toMatch(/ok +machines +may speak of every fund: oms \(k1\);/);
    server.on("GET /v1/service-tokens", { body: [{ ...good, id: "k2", funds: ["harbor"] }] });
    expect((await run("doctor")).stdout).toMatch(/ok +machines +1 tokens, each names its funds/);
    server.on("GET /v1/auth/identity", {
      body: { ...identity, actor: "service:oms", kind: "service", second_factor: null, funds: ["harbor"] },
    });
    expect((await run("doctor")).stdout).toMatch(/ok +login +service:oms, a machine of harbor /);
  });

  it("warns of what a part that can work complains of", async () => {
    const notes = ["oms: The broker paper is silent since 2026-11-15T13:30:00Z. What became of 2 orders is unknown."];
    server.on("GET /v1/healthz", { body: { status: "ok", notes } });
    const { stdout } = await run("doctor");
    expect(stdout).toMatch(/warn +health +.*paper is silent since .* 2 orders is unknown/);
    const proxy =
      "gateway: Requests from 10.0.0.7 say that they come for others. If that is a proxy of yours, name it in http.trusted_proxies";
    server.on("GET /v1/healthz", { body: { status: "ok", notes: [proxy] } });
    expect((await run("doctor")).stdout).toMatch(/warn +health .*10\.0\.0\.7.*PORTCULLIS_TRUSTED_PROXIES/s);
    server.on("GET /v1/healthz", { body: { status: "ok", insecure: true } });
    expect((await run("doctor")).stdout).toMatch(/warn +health +.*from other machines without TLS/);
    server.on("GET /v1/healthz", { body: { status: "ok" } });
  });

  it("32.7: warns of a platform without funds, and of funds without limits", async () => {
    const fund = { name: "n", mode: "LIVE", currency: "USD", nav: "0", nav_at: "1970-01-01T00:00:00Z", halted: false };
    let funds: object[] = [];
    server.on("GET /v1/treasury/funds", () => ({ body: funds }));
    expect((await run("doctor")).stdout).toMatch(/warn +funds +there is none: every order is denied/);
    funds = [{ ...fund, fund_id: "one" }];
    server.on("GET /v1/riskengine/envelopes/one", problem(404, "NOT_FOUND", 'The fund "one" has no envelope.'));
    const { exit, stdout } = await run("doctor");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/warn +funds +without limits, .* denied: one\n.*envelope set --fund-id one/);
    server.on("GET /v1/riskengine/envelopes/one", { body: { fund_id: "one", version: 1 } });
    expect((await run("doctor")).stdout).toMatch(/ok +funds +one/);
  });

  it("says who values each fund, warns of those that nobody values, and names the others who publish values", async () => {
    const fund = { name: "n", mode: "LIVE", currency: "USD", nav: "0", nav_at: "1970-01-01T00:00:00Z", halted: false };
    const one = { ...fund, fund_id: "one", valued_by: "desk", other_value_sources: ["stranger"] };
    server.on("GET /v1/riskengine/envelopes/one", { body: { fund_id: "one", version: 1 } });
    server.on("GET /v1/riskengine/envelopes/two", { body: { fund_id: "two", version: 1 } });
    server.on("GET /v1/treasury/funds", { body: [one] });
    expect((await run("doctor")).stdout).toMatch(/ok +values +one by desk; .* not counted: one by stranger/);
    server.on("GET /v1/treasury/funds", { body: [one, { ...fund, fund_id: "two", other_value_sources: [] }] });
    expect((await run("doctor")).stdout).toMatch(
      /warn +values +no source is named, .* passes: two; .*\n.*add valued_by/,
    );
    server.on("GET /v1/treasury/funds", { body: [{ ...fund, fund_id: "one" }] });
    expect((await run("doctor")).stdout).not.toMatch(/ values /);
    server.on("GET /v1/treasury/funds", { body: [] });
  });

  it("23.4: names what is held and quoted by nobody", async () => {
    const stop = {
      fund_id: "alpha",
      strategy_id: "s",
      quantity: "1",
      basis_price: "1",
      trigger_price: "1",
      attempts: 0,
    };
    const unpriced = (symbol: string, complaint: string) => ({ ...stop, symbol, state: "UNPRICED", complaint });
    const never = { asset_class: "EQUITY", calendar: "always-open" };
    let stops: object[] = [unpriced("APPL", "there is no quote"), unpriced("XOM", "the quote is 30 s old")];
    server.on("GET /v1/riskengine/stops", () => ({ body: stops }));
    server.on("GET /v1/treasury/instruments", { body: ["APPL", "XOM"].map((symbol) => ({ ...never, symbol })) });
    const { exit, stdout } = await run("doctor");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/warn +prices +.*APPL \(there is no quote\), XOM \(the quote is 30 s old\)/);
    expect(stdout).not.toContain("All in order.");
    stops = [{ ...stop, symbol: "APPL", state: "RESTING" }];
    expect(checksOf((await run("doctor --json")).stdout)).toMatchObject({ prices: "ok" });
  });

  it("warns when nobody is notified, and names what people are notified by", async () => {
    server.on(haltsRoute, { body: { ...statusOf(), notified_by: "log" } });
    const { exit, stdout } = await run("doctor");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/warn +notifications +log only: nobody is notified/);
    expect(stdout).toContain("ctl operations secrets put chat/token");
    server.on(haltsRoute, { body: { ...statusOf(), notified_by: "discord" } });
    expect((await run("doctor")).stdout).toMatch(/ok +notifications +people are notified by discord/);
    server.on(haltsRoute, { body: statusOf() });
    expect((await run("doctor")).stdout).not.toContain("notifications");
  });

  it("names the alarms of the last hour, and warns of critical ones", async () => {
    const at = new Date().toISOString();
    const alarm = (code: string, level: string) => ({ at, code, level, service: "oms", sentence: "s", facts: {} });
    let alarms: object[] = [];
    server.on("GET /v1/operations/alarms?hours=1&count_max=100", () => ({ body: alarms }));
    expect(checksOf((await run("doctor --json")).stdout)).toMatchObject({ alarms: "ok" });
    alarms = [alarm("CLOCK_STEPPED", "warning")];
    const calm = (await run("doctor")).stdout;
    expect(calm).toMatch(/ok +alarms +1 in the last hour, 0 of them critical: CLOCK_STEPPED/);
    alarms = [alarm("CLOCK_STEPPED", "warning"), alarm("SERVICE_LOST", "critical"), alarm("SERVICE_LOST", "critical")];
    const { exit, stdout } = await run("doctor");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/warn +alarms +3 in the last hour, 2 of them critical: SERVICE_LOST, CLOCK_STEPPED/);
    expect(stdout).toContain("ctl operations alarms list --hours 1");
  });

  it("names what fails, with what to do, and exits 1", async () => {
    const late = new Date(Date.now() - 3_600_000).toISOString();
    server.on("GET /.well-known/oauth-protected-resource", { body: { ...login, ...issuerFacts(), time: late } });
    server.on("GET /v1/healthz", problem(503, "SERVICE_UNAVAILABLE", "oms is failing: the database does not answer."));
    server.on("GET /v1/auth/identity", problem(401, "UNAUTHENTICATED", "The token was revoked."));
    const profiles = join(home, "portcullis", "profiles");
    writeFileSync(join(home, "run.json"), JSON.stringify({ pid: 2 ** 22 + 1, addresses: {} }));
    const { exit, stdout } = await run("doctor --json", { PORTCULLIS_DATA_DIR: home });
    expect(exit).toBe(1);
    expect(checksOf(stdout)).toMatchObject({ health: "fail", clock: "fail", login: "fail", "platform here": "warn" });
    expect((await run("doctor")).stdout).toContain("oms is failing");
    const { mkdirSync } = await import("node:fs");
    mkdirSync(profiles, { recursive: true });
    writeFileSync(join(profiles, "default.json"), "{}");
    chmodSync(join(profiles, "default.json"), 0o644);
    const open = await run("doctor");
    expect(open).toMatchObject({ exit: 1, stdout: expect.stringContaining("chmod 600") });
    chmodSync(join(profiles, "default.json"), 0o600);
    const damaged = await run("doctor");
    expect(damaged.stdout).toMatch(/fail {2}profile file .*lacks server\.\n *-> `ctl auth login` writes it anew/);
  });

  it("looks at the issuer", async () => {
    server.on("GET /oidc/.well-known/openid-configuration", { body: discovery() });
    expect(await run("doctor")).toMatchObject({ exit: 0, stdout: expect.stringContaining("has no device flow") });
    server.on("GET /oidc/.well-known/openid-configuration", { status: 404, body: {} });
    const gone = await run("doctor");
    expect(gone).toMatchObject({ exit: 1, stdout: expect.stringMatching(/fail {2}issuer .*\(status 404\)/) });
    expect(gone.stdout).toContain("Logging in and renewing need it");
  });

  it("takes having no recovery codes for in order, and says how to get a set", async () => {
    const second_factor = { ...identity.second_factor, recovery_codes_left: 0 };
    server.on("GET /v1/auth/identity", { body: { ...identity, second_factor } });
    const { stdout } = await run("doctor");
    expect(stdout).toMatch(/ok {4}second factor .*0 recovery codes left; `ctl auth enrol-totp --totp CODE`/);
    expect(stdout).toContain("All in order.");
    expect((await run("doctor --profile desk")).stdout).toContain("`ctl --profile desk auth enrol-totp --totp CODE`");
  });

  it("22.10: names the standing conditions that deny new risk, and says when nobody can tell", async () => {
    const route = "GET /v1/riskengine/blocks";
    const more = { reason: "r", since: null, since_unknown: "u", ends: "e" };
    server.on(route, {
      body: [
        { code: "HALT_STATE_UNKNOWN", scope: "firm", ...more },
        { code: "REFERENCE_PRICE_STALE", scope: "symbol", symbol: "AAPL", ...more },
      ],
    });
    expect((await run("doctor")).stdout).toContain(
      "New risk is denied by HALT_STATE_UNKNOWN (firm), REFERENCE_PRICE_STALE (symbol AAPL): `ctl riskengine blocks list`",
    );
    expect(JSON.parse((await run("doctor --json")).stdout).blocks.blocks).toHaveLength(2);
    expect((await run("riskengine blocks list --format csv")).stdout.split("\n")[1]).toContain(
      "HALT_STATE_UNKNOWN,firm",
    );
    server.on(route, { body: [] });
    expect((await run("doctor")).stdout).toContain("New risk: no standing condition denies it.");
    server.on(route, problem(503, "SERVICE_UNAVAILABLE", "The service riskengine cannot be reached."));
    expect((await run("doctor")).stdout).toContain("New risk: not known what denies it");
    expect((await run("riskengine blocks list")).exit).toBe(9);
  });

  it("23.5: names events that were put aside, lists them, and says of a retry what came of it", async () => {
    const listed = (body: object) => {
      // As many as doctor, the list and discard ask for.
      for (const count of [100, 101, 1_000]) server.on(`GET /v1/operations/parked?count_max=${count}`, { body });
    };
    const at = "2026-11-17T09:00:00.000000Z";
    const event = {
      subscription: "riskengine.nav",
      event_id: "e-1",
      subject: "svc",
      state: "PARKED",
      error: "broken",
      attempts: 5,
      first_tried_at: at,
      last_tried_at: at,
      since: at,
      published_by: "treasury",
      published_at: at,
    };
    listed({ total: 3, events: [event] });
    expect((await run("doctor")).stdout).toMatch(
      /warn {2}events put aside +EVENT_PARKED: 3 of riskengine\.nav, the first since/,
    );
    expect((await run("doctor")).stdout).toContain("`ctl operations parked list`");
    const held = { ...event, state: "HELD", lane: "fund alpha" };
    listed({ total: 1, events: [held] });
    const shown = await run("doctor");
    expect([shown.exit, shown.stdout]).toEqual([
      1,
      expect.stringMatching(/fail {2}events put aside .*money that is held/),
    ]);
    expect((await run("operations parked list")).stdout).toMatch(/riskengine\.nav +e-1 .*HELD +fund alpha +5 .*broken/);
    listed({ total: 0, events: [] });
    expect((await run("doctor")).stdout).toMatch(/ok {4}events put aside +none/);
    const outcomes = { DONE: 0, FAILED: 1, NOT_TAKEN: 9, RUNNING: 8 };
    for (const [outcome, exit] of Object.entries(outcomes)) {
      const body = { subscription: "s", event_id: "e-1", outcome, at, ...(outcome === "DONE" ? {} : { error: "why" }) };
      server.on("POST /v1/operations/parked/retry", { body });
      const answer = await run("operations parked retry e-1 --consumer s --reason mended");
      expect([outcome, answer.exit]).toEqual([outcome, exit]);
      expect(answer.stdout.includes("has handled")).toBe(outcome === "DONE");
    }
    expect((await run("operations parked discard e-1 --consumer s")).exit).toBe(2);
    server.on("POST /v1/operations/parked/discard", problem(403, "PERMISSION_DENIED", "Only admin may."));
    expect((await run("operations parked discard e-1 --consumer s --reason r")).exit).toBe(5);
    server.on("POST /v1/operations/parked/discard", problem(404, "NOT_FOUND", "There is none."));
    expect((await run("operations parked discard e-1 --consumer s --reason r")).exit).toBe(1);
    listed({ total: 1, events: [event] });
    server.on("POST /v1/operations/parked/discard", { body: event });
    const done = await run("operations parked discard e-1 --consumer riskengine.nav --reason r");
    expect([done.exit, done.stdout]).toEqual([0, expect.stringContaining("never handles the event e-1")]);
  });

  it("tells of halts in force, which are no fault of the platform and never nothing", async () => {
    expect((await run("doctor")).stdout).toMatch(/\n\nHalts: none in force\.\nAll in order\.\n$/);
    server.on(haltsRoute, { body: statusOf("STRATEGY_HALT", "FIRM_HALT", "FUND_HALT") });
    const shown = await run("doctor");
    expect(shown.exit).toBe(0);
    expect(shown.stdout).toMatch(
      /\n\nHalts: 3 in force, the strictest FIRM_HALT: `ctl riskengine halts list`\nThe platform is in order; 3 halts are in force\.\n$/,
    );
    const json = await run("doctor --json");
    expect(json.exit).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      status: "ok",
      halts: { known: true, in_force: 3, strictest: "FIRM_HALT" },
    });
    server.on("GET /v1/healthz", { body: { status: "ok", notes: ["oms: The broker is silent."] } });
    server.on(haltsRoute, { body: statusOf("FUND_HALT") });
    expect((await run("doctor")).stdout).toMatch(/The platform is in order, 1 to check; 1 halt is in force\.\n$/);
    server.on("GET /v1/healthz", problem(503, "SERVICE_UNAVAILABLE", "oms is failing."));
    expect(await run("doctor")).toMatchObject({
      exit: 1,
      stdout: expect.stringMatching(/1 failing, 0 to check; 1 halt is in force\.\n$/),
    });
  });

  it("says when the halts cannot be read, and says nothing to whoever may not read them", async () => {
    for (const [answer, detail] of [
      [{ body: { ...statusOf(), known: false } }, "the platform itself cannot read them"],
      [problem(503, "SERVICE_UNAVAILABLE", "operations does not answer."), "operations does not answer."],
    ] as const) {
      server.on(haltsRoute, answer);
      const { exit, stdout } = await run("doctor");
      expect(exit).toBe(0);
      expect(stdout).toContain(`Halts: cannot be listed (${detail}); they hold all the same`);
      expect(stdout).toMatch(/The platform is in order; whether a halt is in force is not known\.\n$/);
    }
    server.on(haltsRoute, problem(403, "PERMISSION_DENIED", "Not you."));
    const forbidden = await run("doctor");
    expect(forbidden).toMatchObject({ exit: 0, stdout: expect.stringMatching(/All in order\.\n$/) });
    expect(forbidden.stdout).not.toContain("Halts:");
    server.seen.length = 0;
    expect((await run("doctor", { PORTCULLIS_TOKEN: "" })).stdout).not.toContain("Halts:");
    expect(server.calls(haltsRoute)).toEqual([]);
  });

  it("says that nothing can be written, and which variable to set", async () => {
    const { exit, stdout } = await run("doctor", { XDG_CONFIG_HOME: "/proc/nonesuch" });
    expect(exit).toBe(1);
    expect(stdout).toMatch(/fail {2}login folder .*ENOENT.*\n *-> .*XDG_CONFIG_HOME/);
  });

  it("names the profile in what it advises", async () => {
    const environment = { PORTCULLIS_TOKEN: "", PORTCULLIS_PROFILE: "desk" };
    expect((await run("doctor", environment)).stdout).toContain("`ctl --profile desk auth login`");
    expect((await run("auth whoami", environment)).stderr).toContain("`ctl --profile desk auth login`");
    expect((await run("auth whoami", { PORTCULLIS_TOKEN: "" })).stderr).toContain("`ctl auth login`");
  });
});
