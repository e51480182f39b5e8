// The verbs of limits, rejections, headroom and funds against a server that answers as asked: what is sent, what is read, and how it ends.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-risk-"));
  server = await startFakeServer();
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const nowMs = Date.parse("2026-11-15T13:30:00Z");
const run = (line: string) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(nowMs),
    folder: home,
  });
const bodyOf = (route: string): unknown => JSON.parse(server.calls(route).at(-1)?.body ?? "null");

const at = "2026-11-15T13:29:00.000000Z";
const limits = {
  max_position_pct: 0.07,
  daily_loss_halt_pct: 0.02,
  weekly_loss_halt_pct: 0.04,
  monthly_loss_halt_pct: 0.08,
  synthetic_stop_pct: 0.05,
  max_notional: 250_000,
  max_gross_exposure_pct: 1,
  max_net_exposure_pct: 0.5,
  allowed_brokers: ["paper"],
  allowed_order_types: ["MARKET", "LIMIT"],
  allowed_asset_classes: ["EQUITY"],
  sector_limits_pct: { TECH: 0.3 },
  shorting_enabled: true,
  max_borrow_fee_pct: 0.03,
  price_collar_pct: 0.05,
  order_rate_max_per_s: 50,
  halt_allow_reduce_only: true,
  strategy_loss_halt_pct: 0.01,
};
const written = { updated_by: "operator:duty", updated_at: at, reason: "calm", hash: "ab".repeat(32) };
const envelope = { fund_id: "alpha", version: 7, ...limits, ...written };
const place = "/v1/riskengine/envelopes/alpha";
const changes = [{ field: "max_position_pct", before: "0.07", after: "0.05", effect: "TIGHTENS" }];
const diff = { fund_id: "alpha", from_version: 7, changes, loosens: false };

function serveEnvelope(): void {
  server.on(`GET ${place}`, { body: envelope });
  server.on(`POST ${place}/diff`, { body: diff });
  server.on(`PUT ${place}`, { body: { ...envelope, version: 8 } });
}

describe("envelope show", () => {
  it("shows every limit with its unit, and an old version from the history", async () => {
    serveEnvelope();
    const shown = await run("riskengine envelope show --fund-id alpha");
    expect(shown.exit).toBe(0);
    for (const line of [
      /^version +7$/m,
      /^updated_at +2026-11-15T13:29:00Z \(1 min ago\)$/m,
      /^max_position_pct +0\.07 \(7 %\)$/m,
      /^sector_limits_pct +TECH 0\.3 \(30 %\)$/m,
      /^rolling_24h_loss_halt_pct +off \(not set\)$/m,
    ]) {
      expect(shown.stdout).toMatch(line);
    }
    server.on(`GET ${place}/history?count_max=1&after=7`, { body: [{ ...envelope, version: 6 }] });
    server.on(`GET ${place}/history?count_max=1&after=6`, { body: [{ ...envelope, version: 4 }] });
    const old = await run("riskengine envelope show --fund-id alpha --version 6 --json");
    expect(JSON.parse(old.stdout)).toMatchObject({ version: 6 });
    expect(await run("riskengine envelope show --fund-id alpha --version 5")).toMatchObject({ exit: 1, stdout: "" });
    expect(await run("riskengine envelope show --fund-id alpha --version five")).toMatchObject({ exit: 2 });
  });
});

describe("envelope set", () => {
  it("sends the current version plus 1, changes what was typed and keeps the rest", async () => {
    serveEnvelope();
    const line = "riskengine envelope set --fund-id alpha --max-position-pct 0.05 --daily-loss-halt-pct 0.015";
    const done = await run(
      `${line} --sector-limit FINANCE=0.2,TECH=off --allowed-order-types LIMIT --strategy-loss-halt-pct off --shorting-enabled false --rolling-24h-loss-halt-pct 0.03 --reason calmer`,
    );
    expect(done).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("Version 8 of alpha's limits is in force."),
    });
    expect(done.stdout).toMatch(/max_position_pct +7 % +5 % +TIGHTENS/);
    const { strategy_loss_halt_pct: _, ...kept } = limits;
    const proposed = {
      ...kept,
      version: 8,
      max_position_pct: 0.05,
      daily_loss_halt_pct: 0.015,
      sector_limits_pct: { FINANCE: 0.2 },
      allowed_order_types: ["LIMIT"],
      shorting_enabled: false,
      rolling_24h_loss_halt_pct: 0.03,
      reason: "calmer",
    };
    expect(bodyOf(`POST ${place}/diff`)).toEqual({ proposed });
    expect(bodyOf(`PUT ${place}`)).toEqual({ fund_id: "alpha", ...proposed });
  });

  it("changes nothing in a dry run, nor when nothing would change", async () => {
    serveEnvelope();
    const dry = await run("riskengine envelope set --fund-id alpha --max-position-pct 0.05 --dry-run --json");
    expect(JSON.parse(dry.stdout)).toMatchObject({ applied: false, version: 7, changes, loosens: false });
    server.on(`POST ${place}/diff`, { body: { ...diff, changes: [] } });
    const same = await run("riskengine envelope set --fund-id alpha --max-position-pct 0.07");
    expect(same).toMatchObject({ exit: 0, stdout: "Nothing would change.\n" });
    expect(server.calls(`PUT ${place}`)).toEqual([]);
  });

  it("22.6: asks for a code only when the server wants one, and sends the proof for exactly this", async () => {
    serveEnvelope();
    const required = { ...problem(403, "STEP_UP_REQUIRED", "It loosens max_position_pct.") };
    server.on(`PUT ${place}`, required);
    const line = "riskengine envelope set --fund-id alpha --max-position-pct 0.08";
    const bare = await run(`${line} --reason room --json`);
    expect(bare).toMatchObject({ exit: 5, stderr: expect.stringContaining("--totp CODE") });
    const unexplained = await run(`${line} --totp 123456`);
    expect(unexplained).toMatchObject({ exit: 6, stderr: expect.stringContaining("--reason") });
    expect(server.calls("POST /v1/auth/step-up")).toEqual([]);
    server.on("POST /v1/auth/step-up", { status: 201, body: { proof: "psu_x", expires_at: at } });
    await run(`${line} --reason room --totp 123456`);
    const [first, second] = server
      .calls(`PUT ${place}`)
      .slice(-2)
      .map(({ body }) => JSON.parse(body ?? "null"));
    expect(first).not.toHaveProperty("step_up_proof");
    expect(second).toEqual({ ...first, step_up_proof: "psu_x" });
    expect(bodyOf("POST /v1/auth/step-up")).toEqual({ action: "UpdateEnvelope", parameters: first, totp: "123456" });
  });

  it("still changes limits when nobody can compare them", async () => {
    serveEnvelope();
    server.on(`POST ${place}/diff`, problem(503, "SERVICE_UNAVAILABLE", "The service operations does not answer."));
    const done = await run("riskengine envelope set --fund-id alpha --max-position-pct 0.05 --json");
    expect(done.exit).toBe(0);
    expect(done.stderr).toContain("The service operations does not answer.");
    const listed = [{ field: "max_position_pct", before: "0.07", after: "0.05", effect: "" }];
    expect(JSON.parse(done.stdout)).toMatchObject({ applied: true, version: 8, changes: listed, loosens: null });
  });

  it("sets a fund's first limits as version 1", async () => {
    server.on(`GET ${place}`, problem(404, "NOT_FOUND", "There are none."));
    server.on(`PUT ${place}`, { body: { ...envelope, version: 1 } });
    expect(await run("riskengine envelope set --fund-id alpha --max-position-pct 0.05")).toMatchObject({ exit: 0 });
    expect(bodyOf(`PUT ${place}`)).toMatchObject({ version: 1, max_position_pct: 0.05, allowed_brokers: [] });
  });

  it("tells in a dry run what a fund's first limits would make of it", async () => {
    server.on(`GET ${place}`, problem(404, "NOT_FOUND", "There are none."));
    const first = [{ field: "max_position_pct", before: "", after: "0.05", effect: "LOOSENS" }];
    const preview = { funds: [], more: false, as_of: at };
    server.on(`POST ${place}/diff`, { body: { ...diff, from_version: 0, changes: first, loosens: true, preview } });
    const line = "riskengine envelope set --fund-id alpha --max-position-pct 0.05 --dry-run";
    expect((await run(line)).stdout).toMatch(
      /Version 1 of alpha's limits would change this:[\s\S]*max_position_pct +not set +5 %/,
    );
    expect(JSON.parse((await run(`${line} --json`)).stdout)).toMatchObject({ applied: false, version: 0, preview });
    expect(server.calls(`PUT ${place}`)).toEqual([]);
  });

  it("takes every limit from a file, and what is not in it is gone", async () => {
    serveEnvelope();
    const file = join(home, "envelope.json");
    const { strategy_loss_halt_pct: _, ...filed } = { ...envelope, max_position_pct: 0.05 };
    writeFileSync(file, JSON.stringify(filed));
    const line = `riskengine envelope set --fund-id alpha --file ${file}`;
    expect(await run(`${line} --reason reviewed`)).toMatchObject({ exit: 0 });
    const { strategy_loss_halt_pct: _off, ...kept } = limits;
    const next = { ...kept, version: 8, max_position_pct: 0.05, reason: "reviewed" };
    expect(bodyOf(`PUT ${place}`)).toEqual({ fund_id: "alpha", ...next });
    for (const [content, more, hint] of [
      ['{"max_positon_pct":0.05}', "", "max_positon_pct"],
      ['{"fund_id":"beta"}', "", "beta"],
      ["[]", "", "no object"],
      ["{", "", "JSON"],
      ["{}", " --max-notional 1", "leave out --max-notional"],
    ]) {
      writeFileSync(file, content ?? "");
      const refused = await run(`${line}${more ?? ""}`);
      expect(refused).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringContaining(hint ?? "") });
    }
    expect(server.calls(`PUT ${place}`)).toHaveLength(1);
  });

  it("says that there is no such fund, and where the funds are, before it asks for limits", async () => {
    server.on("GET /v1/riskengine/envelopes/nope", problem(404, "NOT_FOUND", "There are none."));
    server.on("GET /v1/treasury/funds", { body: [{ fund_id: "alpha", name: "Alpha", mode: "PAPER" }] });
    for (const more of ["--max-position-pct 0.05", "--max-position-pct 0.05 --dry-run", ""]) {
      const done = await run(`riskengine envelope set --fund-id nope ${more}`.trim());
      expect(done).toMatchObject({ exit: 1, stdout: "", stderr: expect.stringContaining('There is no fund "nope".') });
      expect(done.stderr).toContain("ctl treasury funds list");
    }
    expect(server.calls("PUT /v1/riskengine/envelopes/nope")).toEqual([]);
  });

  it.each([
    [409, "LOOSENING_DURING_HALT", 6],
    [409, "ENVELOPE_VERSION_CONFLICT", 7],
    [400, "ENVELOPE_INVALID", 2],
    [503, "SERVICE_UNAVAILABLE", 9],
    [403, "PERMISSION_DENIED", 5],
  ])("%i %s ends with %i", async (status, code, exit) => {
    serveEnvelope();
    server.on(`PUT ${place}`, problem(status, code, "Because."));
    const line = "riskengine envelope set --fund-id alpha --max-position-pct 0.05";
    expect(await run(line)).toMatchObject({ exit, stdout: "", stderr: expect.stringContaining("Because.") });
  });

  it.each([
    ["--max-position-pct 7%", "0.07"],
    ["--max-position-pct seven", "0.07"],
    ["--max-position-pct 1e-2", "0.07"],
    ["--max-notional 250,000", "250000"],
    ["--max-notional 0.12345678901234567891", "digits and a point only"],
    ["--order-rate-max-per-s 1.5", "whole number"],
    ["--sector-limit TECH", "technology=0.3"],
    ["--sector-limit TECH=lots", "0.07"],
    ["--shorting-enabled maybe", "true"],
    ["", "at least one"],
  ])("refuses %s before anything is sent, and says what to type", async (typed, hint) => {
    serveEnvelope();
    const done = await run(`riskengine envelope set --fund-id alpha ${typed}`.trim());
    expect(done).toMatchObject({ exit: 2, stdout: "", stderr: expect.stringContaining(hint) });
    expect(server.calls(`PUT ${place}`)).toEqual([]);
  });
});

describe("envelope diff, history and replay", () => {
  it("compares the newest version with the one before, or those that are named", async () => {
    serveEnvelope();
    const newest = await run("riskengine envelope diff --fund-id alpha");
    expect(newest.stdout).toMatch(/from version 6 to 7:[\s\S]*max_position_pct +7 % +5 % +TIGHTENS/);
    expect(bodyOf(`POST ${place}/diff`)).toEqual({ from_version: 6, to_version: 7 });
    const named = await run("riskengine envelope diff --fund-id alpha --from 2 --to 5 --format csv");
    expect(named.stdout).toBe("field,before,after,effect\nmax_position_pct,0.07,0.05,TIGHTENS\n");
    expect(bodyOf(`POST ${place}/diff`)).toEqual({ from_version: 2, to_version: 5 });
  });

  it("lists versions, in CSV with every limit", async () => {
    server.on(`GET ${place}/history?count_max=101`, { body: [envelope] });
    expect((await run("riskengine envelope history --fund-id alpha")).stdout).toMatch(
      /^7 +\d.* ago +operator:duty.*calm$/m,
    );
    const csv = (await run("riskengine envelope history --fund-id alpha --format csv")).stdout.split("\n");
    expect(csv[0]).toContain("rolling_24h_loss_halt_pct");
    expect(csv[1]).toContain('"[""MARKET"",""LIMIT""]"');
  });

  it("replays a period with the same flags", async () => {
    serveEnvelope();
    const change = {
      order_id: "o-1",
      decision_id: "d-1",
      symbol: "AAPL",
      side: "BUY",
      quantity: "10",
      decided_at: at,
      approved_before: true,
      approved_after: false,
      code_before: "",
      code_after: "POSITION_LIMIT_EXCEEDED",
      reason_after: "Too much.",
    };
    const counted = { replayed: 10, skipped: 2, changed: 3, newly_approved: 0, newly_denied: 3 };
    server.on(`POST ${place}/replay`, { body: { fund_id: "alpha", ...counted, changes: [change] } });
    const done = await run("riskengine envelope replay --fund-id alpha --hours 48 --max-position-pct 0.05");
    expect(done.stdout).toContain("3 newly denied, 0 newly approved");
    expect(done.stdout).toContain("The first 1 of them:");
    expect(done.stdout).toMatch(/o-1 +AAPL +BUY +10 +APPROVED +DENIED POSITION_LIMIT_EXCEEDED +Too much\./);
    expect(done.stdout).toContain("10 decisions of the last 48 h were run again (2 cannot change).");
    server.on(`POST ${place}/replay`, { body: { fund_id: "alpha", ...counted, earlier_rules: 1, changes: [] } });
    const older = await run("riskengine envelope replay --fund-id alpha --hours 48 --max-position-pct 0.05");
    expect(older.stdout).toContain("were run again (1 cannot change, 1 were decided by EARLIER_RULES).");
    const asked = bodyOf(`POST ${place}/replay`) as { from: string; proposed: object };
    expect(asked.from).toBe("2026-11-13T13:30:00.000000Z");
    expect(asked.proposed).toMatchObject({ max_position_pct: 0.05, max_notional: 250_000 });
    expect(server.calls(`PUT ${place}`)).toEqual([]);
  });
});

const rejection = (id: string) => ({
  order_id: `o-${id}`,
  decision_id: `d-${id}`,
  idempotency_key: "k",
  fund_id: "alpha",
  strategy_id: "s",
  symbol: "AAPL",
  side: "BUY",
  quantity: "-10",
  gate: "static",
  code: "NOTIONAL_ABOVE_MAX",
  actor: "=cmd()",
  reason: 'Too "large", by far.',
  halt_epoch: 3,
  figures: [],
  decided_at: at,
  source: "riskengine",
});

describe("rejections list", () => {
  const first = "GET /v1/riskengine/rejections?fund_id=alpha&hours=24";

  it("is a table, CSV without formulas, and JSON", async () => {
    server.on(`${first}&count_max=500`, { body: [rejection("1")] });
    const line = "riskengine rejections list --fund-id alpha --hours 24";
    const table = await run(line);
    expect(table.stdout).toMatch(/^DECIDED +ORDER/);
    expect(table.stderr).toContain("ctl why o-1");
    const csv = await run(`${line} --format csv`);
    const [head, row] = csv.stdout.split("\n");
    expect(head?.split(",").slice(0, 3)).toEqual(["decided_at", "order_id", "fund_id"]);
    expect(row).toContain(',-10,riskengine,static,NOTIONAL_ABOVE_MAX,"Too ""large"", by far.",');
    expect(row).toContain(",'=cmd(),");
    expect(csv.stderr).toBe("");
    for (const asked of ["--json", "--format json", "--format=json"]) {
      expect(JSON.parse((await run(`${line} ${asked}`)).stdout)).toEqual([rejection("1")]);
    }
    expect(await run(`${line} --json --format csv`)).toMatchObject({ exit: 2, stdout: "" });
    expect(await run(`${line} --format xml`)).toMatchObject({ exit: 2, stdout: "" });
    const wrong = await run(`${line} --limit none --format json`);
    expect(JSON.parse(wrong.stderr)).toMatchObject({ code: "INVALID_ARGUMENT", exit_code: 2 });
  });

  it("24.5: offers the command that knows the reason: `why` for the risk engine's denials, the order for order management's", async () => {
    const refused = { ...rejection("2"), source: "oms", gate: "", code: "ORDER_HALTED" };
    server.on(`${first}&count_max=500`, { body: [refused, rejection("1")] });
    const { stderr } = await run("riskengine rejections list --fund-id alpha --hours 24");
    expect(stderr).toContain("ctl oms orders show o-2");
    expect(stderr).not.toContain("ctl why");
  });

  it("follows the pages, and says when there are more than it was asked for", async () => {
    const page = Array.from({ length: 500 }, (_, at) => rejection(String(at)));
    server.on(`${first}&count_max=500`, { body: page });
    server.on(`${first}&count_max=101&after=d-499`, { body: page.slice(0, 101) });
    const all = await run("riskengine rejections list --fund-id alpha --limit 600 --json");
    expect(JSON.parse(all.stdout)).toHaveLength(600);
    expect(all.stderr).toContain("There are more than 600");
  });

  it("says that there are none", async () => {
    server.on("GET /v1/riskengine/rejections?hours=0.5&count_max=500", { body: [] });
    const none = await run("riskengine rejections list --hours 0.5");
    expect(none).toMatchObject({ exit: 0, stdout: "No order was denied in the last 0.5 h.\n" });
    expect((await run("riskengine rejections list --hours 0.5 --format csv")).stdout.split("\n")).toHaveLength(2);
    expect(await run("riskengine rejections list --hours 0")).toMatchObject({ exit: 2 });
  });
});

describe("headroom, throttle, funds, instruments", () => {
  it("shows what may still be traded and what binds", async () => {
    const headroom = {
      fund_id: "alpha",
      symbol: "AAPL",
      side: "BUY",
      quantity: "120",
      notional: "24000",
      binding: "max_position_pct",
      price: { name: "ask", value: "200", age_ms: 300 },
      envelope_version: 7,
      halt_epoch: 0,
      as_of: at,
      limits: [{ limit: "max_position_pct", used: "676000", allowed: "700000", quantity: "120" }],
    };
    server.on("GET /v1/riskengine/headroom?fund_id=alpha&symbol=AAPL&side=BUY", { body: headroom });
    const { stdout } = await run("riskengine headroom --fund-id alpha --symbol AAPL");
    expect(stdout).toContain("alpha may BUY 120 AAPL in one order.");
    expect(stdout).toMatch(/Bound by +max_position_pct/);
    expect(stdout).toMatch(/Price +200 \(ask, 0\.3 s old\)/);
    expect(stdout).toMatch(/max_position_pct +676000 +700000 +120/);
  });

  it("releases a throttle, and says why not", async () => {
    const route = "POST /v1/riskengine/throttles/alpha-momentum/release";
    server.on(route, { body: { strategy_id: "alpha-momentum", fund_id: "alpha", tripped: false } });
    const line = "riskengine throttle release --strategy-id alpha-momentum";
    expect((await run(`${line} --reason fixed`)).stdout).toContain("alpha-momentum (alpha) is released");
    expect(bodyOf(route)).toEqual({ reason: "fixed" });
    server.on(route, problem(409, "REASON_MISSING", "Say why."));
    expect(await run(line)).toMatchObject({ exit: 6 });
  });

  it("lists funds with the age of their value, and instruments", async () => {
    const alpha = { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", halted: true };
    const funds = [{ ...alpha, severity: "FUND_HALT", nav: "10000000", nav_at: at, gross_exposure_pct: 0.8 }, alpha];
    server.on("GET /v1/treasury/funds", { body: funds });
    const { stdout } = await run("treasury funds list");
    expect(stdout).toMatch(/alpha +Alpha +PAPER +10000000\.00 +USD +1 min ago +80\.00 % +FUND_HALT/);
    expect(stdout).toMatch(/not valued/);
    server.on("GET /v1/treasury/instruments", { body: [{ symbol: "AAPL", name: "Apple", tick_size: "0.01" }] });
    expect((await run("treasury instruments list --format csv")).stdout).toMatch(/^symbol,name,.*\nAAPL,Apple,/);
  });
});
