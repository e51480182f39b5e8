// The verbs that cancel everything, flatten, restart, drill and show losses, against a server that answers as asked: the typed word, what is sent, what is
// read until when, and how it ends.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-halt-desk-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  server.seen.length = 0;
  server.on("GET /v1/treasury/funds", { body: [] });
});

const at = "2026-11-15T13:29:00.000000Z";
const run = (line: string, typed?: readonly string[]) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse("2026-11-15T13:30:00Z")),
    folder: home,
    ...(typed !== undefined && { typed }),
  });
const bodyOf = (route: string): unknown => JSON.parse(server.calls(route).at(-1)?.body ?? "null");

const statusOf = (orderId: string, state: string) => ({
  order: {
    idempotency_key: "k",
    order_id: orderId,
    fund_id: "beta",
    strategy_id: "beta-trend",
    symbol: "BTC-USD",
    side: "BUY",
    quantity: "1",
    order_type: "LIMIT",
    limit_price: "1",
    tif: "DAY",
    broker: "paper",
    asset_class: "CRYPTO",
    actor: "t",
  },
  state,
  filled_quantity: "0",
  remaining_quantity: "0",
  created_at: at,
  updated_at: at,
});
const lineOf = (state: string) => ({
  fund_id: "beta",
  strategy_id: "beta-trend",
  symbol: "BTC-USD",
  quantity: "2",
  state,
  attempts: 1,
  at,
  ...(state === "FLAT" ? {} : { complaint: "the market is closed" }),
});
const orderOf = (state: string) => ({
  fund_id: "beta",
  strategy_id: "beta-trend",
  symbol: "ETH-USD",
  order_id: "o-1",
  side: "BUY",
  quantity: "3",
  filled_quantity: "0",
  state,
  at,
});
const flattenOf = (line: string, order: string, fund?: object) => {
  const isOver = line === "FLAT" && order === "CANCELLED";
  const state = isOver ? "FLAT" : "OPEN";
  return {
    flatten_id: "flatten-1",
    requested_by: "operator:duty",
    reason: "",
    requested_at: at,
    audit_id: "e-1",
    lines: [lineOf(line)],
    orders: [orderOf(order)],
    funds: [{ fund_id: "beta", state, left: [], open_orders: 0, ...fund }],
    ...(isOver && fund === undefined && { done_at: at }),
  };
};

const commands = [
  ["cmd cancel-all", "CANCEL", "POST /v1/oms/cancel-all"],
  ["cmd flatten-paper", "FLATTEN", "POST /v1/flatten"],
] as const;

describe.each(commands)("%s", (command, word, route) => {
  it("hands a missing or wrong word on, so that the server refuses and records it: exit 3", async () => {
    server.on(route, problem(409, "CONFIRMATION_WRONG", "Nothing was done."));
    const sent = (): unknown => (bodyOf(route) as Record<string, unknown>)["confirmation"];
    expect(await run(command)).toMatchObject({ exit: 3, stdout: "" });
    expect(sent()).toBe("");
    for (const wrong of [word.toLowerCase(), "HALT", "yes"]) {
      const shown = await run(`${command} --confirm ${wrong}`);
      expect([shown.exit, sent()]).toEqual([3, wrong]);
      expect(shown.stderr).toContain(`Add --confirm ${word}`);
    }
    expect((await run(command, ["y"])).exit).toBe(3);
    expect(sent()).toBe("y");
  });

  it.each([
    [403, "PERMISSION_DENIED", 5],
    [409, "FUND_NOT_PAPER", 6],
    [401, "TOKEN_INVALID", 4],
    [503, "SERVICE_UNAVAILABLE", 9],
  ])("a server that says %i %s is exit %i, with its sentence", async (status, code, exit) => {
    server.on(route, problem(status, code, "Because of that."));
    const ended = await run(`${command} --confirm ${word}`);
    expect(ended).toMatchObject({ exit, stdout: "" });
    expect(ended.stderr).toContain("Because of that.");
  });

  it("refuses bad input before anything is asked: exit 2", async () => {
    for (const bad of ["--wait soon", "--wait -1", "--nothing", "alpha"]) {
      const before = server.calls(route).length;
      expect((await run(`${command} --confirm ${word} ${bad}`)).exit, bad).toBe(2);
      expect(server.calls(route)).toHaveLength(before);
    }
  });
});

describe("cmd cancel-all", () => {
  it("shows each order until it is gone, with the audit id, as a table and as JSON", async () => {
    server.on("POST /v1/oms/cancel-all", {
      body: { audit_id: "e-2", orders: [statusOf("o-1", "CANCELLED"), statusOf("o-2", "CANCEL_PENDING")] },
    });
    let looks = 0;
    server.on("GET /v1/oms/orders/o-2", () => {
      looks += 1;
      return { body: statusOf("o-2", looks < 3 ? "CANCEL_PENDING" : "CANCELLED") };
    });
    const shown = await run("cmd cancel-all --fund-id beta --reason end --confirm CANCEL");
    expect(shown.exit).toBe(0);
    expect(`${shown.stdout}${shown.stderr}`).toContain("2 ended, 0 not yet. Audit e-2.");
    expect(bodyOf("POST /v1/oms/cancel-all")).toEqual({ fund_id: "beta", confirmation: "CANCEL", reason: "end" });
    expect(looks).toBe(3);
    looks = 0;
    const json = JSON.parse((await run("cmd cancel-all --confirm CANCEL --json")).stdout) as object;
    expect(json).toMatchObject({ audit_id: "e-2", orders: [{ state: "CANCELLED" }, { state: "CANCELLED" }] });
  });

  it("ends pending while a broker is silent, and still names what is left", async () => {
    server.on("POST /v1/oms/cancel-all", { body: { audit_id: "e-2", orders: [statusOf("o-2", "CANCEL_PENDING")] } });
    server.on("GET /v1/oms/orders/o-2", { body: statusOf("o-2", "CANCEL_PENDING") });
    const shown = await run("cmd cancel-all --wait 2", ["CANCEL"]);
    expect([shown.exit, shown.stdout.includes("o-2")]).toEqual([8, true]);
  });

  it("23.9: lines that are flat and a broker that is not are NOT DONE: exit 10, with the next step", async () => {
    const next_step = "Our books do not have what the broker has: ctl riskengine reconcile --fund-id beta --force";
    const left = [{ symbol: "BTC-USD", quantity: "2" }];
    const unflat = flattenOf("FLAT", "CANCELLED", { state: "NOT_FLAT", left, open_orders: 1, next_step });
    server.on("POST /v1/flatten", { status: 201, body: unflat });
    server.on("GET /v1/flatten?flatten_id=flatten-1", { body: unflat });
    const shown = await run("cmd flatten-paper --wait 1 --confirm FLATTEN");
    expect(shown.exit).toBe(10);
    expect(shown.stdout).toContain("NOT DONE: the broker does not call it flat: beta (2 BTC-USD, 1 open orders).");
    expect(shown.stderr).toContain(next_step);
    const json = await run("cmd flatten-paper --wait 1 --confirm FLATTEN --json");
    expect([json.exit, JSON.parse(json.stdout)]).toEqual([10, unflat]);
    // It waits for the broker: what was not flat at first may be.
    const answers = [unflat, flattenOf("FLAT", "CANCELLED", { state: "UNPROVED" }), flattenOf("FLAT", "CANCELLED")];
    server.on("GET /v1/flatten?flatten_id=flatten-1", () => ({ body: answers.shift() ?? {} }));
    expect((await run("cmd flatten-paper --wait 30 --confirm FLATTEN")).exit).toBe(0);
    // A broker that has not said anything is no proof.
    const unproved = flattenOf("FLAT", "CANCELLED", { state: "UNPROVED" });
    server.on("GET /v1/flatten?flatten_id=flatten-1", { body: unproved });
    expect((await run("cmd flatten-paper --wait 1 --confirm FLATTEN")).exit).toBe(8);
  });

  it("that ends pending says that it goes on and how to look again, with CSV on stderr", async () => {
    server.on("POST /v1/oms/cancel-all", { body: { audit_id: "e-2", orders: [statusOf("o-2", "CANCEL_PENDING")] } });
    server.on("GET /v1/oms/orders/o-2", { body: statusOf("o-2", "CANCEL_PENDING") });
    const goesOn = "0 ended, 1 not yet. What is left is asked for until it is gone, also now that this command ends.";
    const shown = await run("cmd cancel-all --wait 1 --fund-id beta --confirm CANCEL");
    expect(shown.stdout).toContain(`${goesOn} Audit e-2.`);
    expect(shown.stderr).toMatch(/Next:\n +ctl oms orders list --open --fund-id beta\n$/);
    const csv = await run("cmd cancel-all --wait 1 --confirm CANCEL --format csv");
    expect(csv.exit).toBe(8);
    expect(csv.stderr).toContain(`${goesOn} Audit e-2.`);
    expect(csv.stderr).toMatch(/Next:\n +ctl oms orders list --open\n$/);
    const [head = "", row = "", ...rest] = csv.stdout.split("\n");
    expect([head.split(",").at(-1), row.split(",").at(-1), rest]).toEqual(["audit_id", "e-2", [""]]);
    const json = await run("cmd cancel-all --wait 1 --confirm CANCEL --json");
    expect(json).toMatchObject({ exit: 8, stderr: "" });
  });

  it("with nothing open is done, and an entry all the same", async () => {
    server.on("POST /v1/oms/cancel-all", { body: { audit_id: "e-2", orders: [] } });
    const shown = await run("cmd cancel-all --confirm CANCEL");
    expect(shown).toMatchObject({ exit: 0, stderr: "" });
    expect(shown.stdout).toBe("0 ended, 0 not yet. Audit e-2.\n\nThere was no open order.\n");
    expect((await run("cmd cancel-all --confirm CANCEL --format csv")).stderr).toContain("Audit e-2.");
  });
});

describe("cmd flatten-paper", () => {
  it("shows orders and positions until both are done, with the audit id", async () => {
    server.on("POST /v1/flatten", { status: 201, body: flattenOf("OWED", "CANCEL_PENDING") });
    const answers = [flattenOf("FLAT", "CANCEL_PENDING"), flattenOf("FLAT", "CANCELLED")];
    server.on("GET /v1/flatten?flatten_id=flatten-1", () => ({ body: answers.shift() ?? {} }));
    const shown = await run("cmd flatten-paper --fund-id beta", ["FLATTEN"]);
    expect(shown.exit).toBe(0);
    const text = `${shown.stdout}${shown.stderr}`;
    expect(text).toContain("1 of 1 positions closed, 1 of 1 orders gone. Flatten flatten-1, audit e-1.");
    expect(text).toMatch(/order +beta +beta-trend +ETH-USD/);
    expect(bodyOf("POST /v1/flatten")).toEqual({ fund_id: "beta", confirmation: "FLATTEN" });
    expect(answers).toEqual([]);
  });

  it("is pending, exit 8, while a position or only an order is owed, and JSON has both", async () => {
    for (const [line, order] of [
      ["EXITING", "CANCELLED"],
      ["FLAT", "WORKING"],
    ] as const) {
      server.on("POST /v1/flatten", { status: 201, body: flattenOf(line, order) });
      server.on("GET /v1/flatten?flatten_id=flatten-1", { body: flattenOf(line, order) });
      const ended = await run("cmd flatten-paper --wait 1 --confirm FLATTEN --json");
      expect(ended.exit).toBe(8);
      expect(JSON.parse(ended.stdout)).toEqual(flattenOf(line, order));
    }
  });

  it("that ends pending says that it goes on and how to look again, with CSV on stderr", async () => {
    server.on("POST /v1/flatten", { status: 201, body: flattenOf("EXITING", "CANCELLED") });
    server.on("GET /v1/flatten?flatten_id=flatten-1", { body: flattenOf("EXITING", "CANCELLED") });
    const goesOn =
      "0 of 1 positions closed, 1 of 1 orders gone. What is left is tried until it is done, also now that this command ends.";
    const shown = await run("cmd flatten-paper --wait 1 --confirm FLATTEN");
    expect(shown.stdout).toContain(`${goesOn} Flatten flatten-1, audit e-1.`);
    expect(shown.stderr).toMatch(/Next:\n +ctl operations flatten show flatten-1\n$/);
    const csv = await run("cmd flatten-paper --wait 1 --fund-id beta --confirm FLATTEN --format csv");
    expect(csv.exit).toBe(8);
    expect(csv.stderr).toContain(`${goesOn} Flatten flatten-1, audit e-1.`);
    expect(csv.stderr).toMatch(/Next:\n +ctl operations flatten show flatten-1\n$/);
    expect(csv.stdout).not.toContain("What is left");
  });
});

describe("cmd restart-all", () => {
  const answer = (ill: readonly string[], restarted = true) => ({
    services: ["riskengine", "oms"].map((service) => ({
      service,
      healthy: !ill.includes(service),
      ...(ill.includes(service) ? { complaint: "it does not report" } : { pid: 7, took_ms: 900 }),
    })),
    restarted,
    audit_id: "e-3",
  });

  it("is done when all are healthy, and tells the audit id", async () => {
    server.on("POST /v1/platform/restart", { body: answer([]) });
    const shown = await run("cmd restart-all --reason new-settings");
    expect(shown.exit).toBe(0);
    expect(`${shown.stdout}${shown.stderr}`).toContain("All are healthy again. Audit e-3.");
    expect(bodyOf("POST /v1/platform/restart")).toEqual({ reason: "new-settings" });
  });

  it("says which are not healthy, or that it goes on, and is pending", async () => {
    server.on("POST /v1/platform/restart", { body: answer(["oms"], false) });
    const shown = await run("cmd restart-all");
    expect(shown.exit).toBe(8);
    expect(`${shown.stdout}${shown.stderr}`).toMatch(/not healthy yet: oms\. Audit e-3\./);
    expect(shown.stdout).toMatch(/oms +NO .*it does not report/);
    server.on("POST /v1/platform/restart", { body: answer([], false) });
    expect((await run("cmd restart-all --json")).exit).toBe(8);
    server.on("POST /v1/platform/restart", problem(403, "PERMISSION_DENIED", "Only operators."));
    expect((await run("cmd restart-all")).exit).toBe(5);
  });
});

describe("losses and drills", () => {
  const loss = {
    fund_id: "alpha",
    limit: "daily",
    period: "2026-11-15",
    baseline: "100",
    value: "98.5",
    loss: "1.5",
    loss_pct: 0.015,
    limit_pct: 0.02,
    state: "PENDING",
    baseline_at: at,
    as_of: at,
  };
  const drill = {
    drill_id: "drill-1",
    requested_by: "operator:duty",
    reason: "monthly",
    at,
    latched_ms: 1.5,
    blocked_ms: 2,
    cancelled_ms: 30,
    notified_ms: 40,
    passed: true,
    complaint: "",
    halt_id: "drill-1",
  };

  it("24.1: the use of limits is shown with its band, and what cannot be counted with why", async () => {
    const use = {
      fund_id: "alpha",
      limit: "daily",
      scope: "",
      used: "150",
      allowed: "200",
      share: 0.75,
      band: 75,
      as_of: at,
    };
    const unknown = {
      fund_id: "alpha",
      limit: "max_position_pct",
      scope: "XOM",
      band: 100,
      reason: "MARK_MISSING",
      as_of: at,
    };
    server.on("GET /v1/riskengine/limit-use?fund_id=alpha", { body: [unknown, use] });
    const { exit, stdout } = await run("riskengine use list --fund-id alpha");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/max_position_pct +XOM +100 .*MARK_MISSING/);
    expect(stdout).toMatch(/daily .*75\.00 % +75/);
    server.on("GET /v1/riskengine/limit-use", { body: [] });
    expect((await run("riskengine use list")).stdout).toContain("No fund has limits yet.");
  });

  it("losses are shown with their limits, one that is off as off", async () => {
    const { limit_pct: _, ...off } = { ...loss, limit: "high_water", state: "JUDGED" };
    server.on("GET /v1/riskengine/losses?fund_id=alpha", { body: [loss, off] });
    const { exit, stdout } = await run("riskengine losses list --fund-id alpha");
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(/daily.*1\.50 % +2\.00 % +75\.0 % +PENDING[\s\S]*high_water.*off +WITHIN/),
    ]);
    server.on("GET /v1/riskengine/losses", problem(403, "PERMISSION_DENIED", "No."));
    expect((await run("riskengine losses list")).exit).toBe(5);
    expect((await run("riskengine losses list alpha")).exit).toBe(2);
  });

  it("a drill that passed is exit 0, one that did not 10, and the list tells both", async () => {
    server.on("POST /v1/drills", { status: 201, body: drill });
    expect(await run("operations drills run --reason monthly")).toMatchObject({ exit: 0 });
    expect(bodyOf("POST /v1/drills")).toEqual({ reason: "monthly" });
    const failed = { ...drill, passed: false, complaint: "not in time: notified." };
    server.on("POST /v1/drills", { status: 201, body: failed });
    expect(await run("operations drills run")).toMatchObject({
      exit: 10,
      stdout: expect.stringContaining("not in time"),
    });
    server.on("POST /v1/drills", problem(403, "PERMISSION_DENIED", "No."));
    expect((await run("operations drills run")).exit).toBe(5);
    server.on("GET /v1/drills?count_max=3", { body: [failed, drill] });
    const { stdout } = await run("operations drills list --limit 2");
    expect(stdout).toMatch(/NO[\s\S]*yes/);
    expect((await run("operations drills list --limit 0")).exit).toBe(2);
  });
});
