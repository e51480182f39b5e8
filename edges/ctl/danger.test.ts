// What a danger verb would hit, before the word is typed and with --dry-run: read and never changed, named in full, PAPER or LIVE.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-danger-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const run = (line: string, typed?: readonly string[]) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse("2026-11-15T13:30:00Z")),
    folder: home,
    ...(typed !== undefined && { typed, size: { columns: 100, rows: 50 } }),
  });

const at = "2026-11-15T13:29:00.000000Z";
const orderId = "019a7c10-0001-7000-8000-000000000001";
const order = (id: string, fundId: string, strategyId: string) => ({
  order: {
    idempotency_key: "k",
    order_id: id,
    fund_id: fundId,
    strategy_id: strategyId,
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "t",
  },
  state: "WORKING",
  filled_quantity: "0",
  remaining_quantity: "10",
  created_at: at,
  updated_at: at,
});
const position = (fundId: string, strategyId: string) => ({
  fund_id: fundId,
  strategy_id: strategyId,
  symbol: "SPY",
  quantity: "-5",
  average_price: "1",
  as_of: at,
});
const strategy = (id: string, fundId: string) => ({
  strategy_id: id,
  fund_id: fundId,
  status: "live",
  allocation_pct: 0.4,
  base_allocation_pct: 0.4,
  restriction_ids: [],
  sentence: "x",
});
const haltStatus = {
  fund_id: "alpha",
  halted: true,
  severity: "FUND_HALT",
  known: true,
  epoch: 4,
  progress: [],
  restarts: ["a-1"],
  lifted_halt_ids: [],
  as_of: at,
  halts: [{ halt_id: "h-1", severity: "FUND_HALT", fund_id: "alpha", reason: "news", requested_by: "operator:duty" }],
};

beforeEach(() => {
  server.seen.length = 0;
  const fund = { name: "x", currency: "USD", halted: false };
  server.on("GET /v1/treasury/funds", {
    body: [
      { ...fund, fund_id: "alpha", mode: "PAPER" },
      { ...fund, fund_id: "omega", mode: "LIVE" },
    ],
  });
  server.on("GET /v1/research/strategies", {
    body: [strategy("a-1", "alpha"), strategy("a-2", "alpha"), strategy("o-1", "omega")],
  });
  const orders = [order(orderId, "alpha", "a-1"), order("o-2", "alpha", "a-2"), order("o-3", "omega", "o-1")];
  server.on("GET /v1/oms/orders?open=true&count_max=500", { body: orders });
  server.on("GET /v1/oms/positions", { body: [position("alpha", "a-1"), position("omega", "o-1")] });
  for (const id of ["", "?id=alpha", "?id=a-1"]) server.on(`GET /v1/halts/status${id}`, { body: haltStatus });
});

const changes = () => server.seen.filter(({ route }) => !route.startsWith("GET "));
const both = ["  LIVE   omega (o-1): 1 open order, 1 position", "  PAPER  alpha (a-1, a-2): 2 open orders, 1 position"];

describe("--dry-run", () => {
  it.each([
    ["cmd halt", "This would halt THE WHOLE FIRM: no new risk", both],
    ["cmd halt alpha", "This would halt alpha:", both.slice(1)],
    ["cmd halt a-1", "This would halt a-1:", ["  PAPER  alpha (a-1): 1 open order, 1 position"]],
    ["cmd cancel-all", "This would cancel every open order of EVERY FUND", both],
    ["cmd cancel-all --fund-id omega", "This would cancel every open order of omega", both.slice(0, 1)],
    ["cmd flatten-paper", "This would cancel the open orders of EVERY PAPER FUND and sells", both.slice(1)],
    ["cmd resume alpha", "This would lift:\n  FUND_HALT  fund alpha", both.slice(1)],
    ["cmd resume", "This would lift:\n  FUND_HALT  fund alpha", both],
    ["cmd restart-all", "This would restart riskengine, operations, oms, treasury, research", both],
  ])("of %s tells what it would hit and changes nothing", async (line, sentence, funds) => {
    const shown = await run(`${line} --dry-run`);
    expect(shown.exit).toBe(0);
    expect(shown.stdout).toContain(sentence);
    expect(shown.stdout).toContain(["It hits:", ...funds, "Nothing was changed."].join("\n"));
    const json = JSON.parse((await run(`${line} --dry-run --json`)).stdout) as { funds: object[] };
    expect(json).toMatchObject({ dry_run: true });
    expect(json.funds).toHaveLength(funds.length);
    expect(changes()).toEqual([]);
  });

  it("names orders and positions in full, also on a terminal", async () => {
    const { stdout } = await run("cmd flatten-paper --dry-run", []);
    expect(stdout).toMatch(new RegExp(`order +PAPER +alpha +a-1 +AAPL +BUY 10 +WORKING +${orderId}`));
    expect(stdout).toMatch(/position +PAPER +alpha +a-1 +SPY +-5/);
  });

  it("refuses what is not there, and a live fund to be flattened", async () => {
    expect(await run("cmd halt nowhere --dry-run")).toMatchObject({ exit: 1 });
    const live = await run("cmd flatten-paper --fund-id omega --dry-run");
    expect(live).toMatchObject({ exit: 1, stderr: expect.stringContaining("omega is no paper fund") });
  });
});

const dangers = [
  ["cmd halt", "HALT", "POST /v1/halts"],
  ["cmd cancel-all", "CANCEL", "POST /v1/oms/cancel-all"],
  ["cmd flatten-paper", "FLATTEN", "POST /v1/flatten"],
  ["cmd resume alpha --reason over", "RESUME", "POST /v1/halts/resume"],
] as const;

describe.each(dangers)("the prompt of %s", (line, word, route) => {
  it("says PAPER and LIVE, the strategies, orders and positions before the word", async () => {
    server.on(route, problem(409, "CONFIRMATION_WRONG", "Nothing was done."));
    const shown = await run(line, ["no"]);
    expect(shown.exit).toBe(3);
    expect(shown.stderr.indexOf(both[1] ?? "?")).toBeGreaterThan(-1);
    expect(shown.stderr.indexOf(both[1] ?? "?")).toBeLessThan(shown.stderr.indexOf(`Type ${word} to continue: `));
    expect(JSON.parse(changes()[0]?.body ?? "{}")).toMatchObject({ confirmation: "no" });
  });

  it("is asked although nobody can say what it hits: that keeps no halt back", async () => {
    server.on(
      "GET /v1/research/strategies",
      problem(503, "SERVICE_UNAVAILABLE", "The service research does not answer."),
    );
    server.on(route, problem(409, "CONFIRMATION_WRONG", "Nothing was done."));
    const shown = await run(line, [word]);
    expect(shown.stderr).toContain("What it hits cannot be reported, PAPER or LIVE neither: The service research");
    expect(changes()).toHaveLength(1);
  });
});
