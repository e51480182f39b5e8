// What a risk officer reads: limits with their meaning, what was cancelled and why, who is close to a limit, and what a slip of the hand means.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-officer-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  server.seen.length = 0;
  server.on("GET /v1/treasury/funds", { body: [{ fund_id: "alpha", name: "x", mode: "PAPER", currency: "USD" }] });
});
const run = (line: string) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse("2026-11-15T13:30:00Z")),
    folder: home,
  });
const at = "2026-11-15T13:29:00.000000Z";

describe("limits", () => {
  const envelope = { fund_id: "alpha", version: 7, max_position_pct: 0.05, sector_limits_pct: { tech: 0.3 } };

  it("changes are reported with their meaning, and a narrower collar as what it is", async () => {
    const changes = [
      { field: "max_position_pct", before: "0.05", after: "1", effect: "LOOSENS" },
      { field: "sector_limits_pct.technology", before: "", after: "0.3", effect: "TIGHTENS" },
      { field: "price_collar_pct", before: "0.05", after: "0.02", effect: "LOOSENS" },
    ];
    server.on("GET /v1/riskengine/envelopes/alpha", { body: envelope });
    server.on("POST /v1/riskengine/envelopes/alpha/diff", { body: { changes, loosens: true } });
    const { stdout } = await run("riskengine envelope diff --fund-id alpha");
    expect(stdout).toMatch(/max_position_pct +5 % +100 % +LOOSENS/);
    expect(stdout).toMatch(/sector_limits_pct\.technology +not set +30 % +TIGHTENS/);
    expect(stdout).toMatch(/price_collar_pct +5 % +2 % +MIXED \(counts as loosening\): it refuses more prices/);
    const csv = await run("riskengine envelope diff --fund-id alpha --format csv");
    expect(csv.stdout).toContain("max_position_pct,0.05,1,LOOSENS");
    expect(csv.stdout).toContain("price_collar_pct,0.05,0.02,LOOSENS");
  });

  it("the history says what each version changed", async () => {
    const older = { ...envelope, version: 6, max_position_pct: 0.07, sector_limits_pct: {} };
    const body = [envelope, older].map((one) => ({ ...one, updated_by: "operator:duty", updated_at: at, hash: "h" }));
    server.on("GET /v1/riskengine/envelopes/alpha/history?count_max=101", { body });
    const { stdout } = await run("riskengine envelope history --fund-id alpha");
    expect(stdout).toContain("max_position_pct 7 % -> 5 %; sector_limits_pct.tech not set -> 30 %");
  });

  it("a limit for a sector that no instrument has is refused in a dry run, and reported where it stands", async () => {
    server.on("GET /v1/riskengine/envelopes/alpha", { body: envelope });
    server.on("GET /v1/treasury/instruments", { body: [{ symbol: "AAPL", sector: "technology" }] });
    server.on("POST /v1/riskengine/envelopes/alpha/diff", { body: { changes: [], loosens: false } });
    const refused = await run("riskengine envelope set --fund-id alpha --sector-limit teck=0.01 --dry-run");
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain("No instrument is in the sector teck, so a limit for it would limit nothing.");
    expect(refused.stderr).toContain("There are: technology.");
    const warned = await run("riskengine envelope set --fund-id alpha --max-position-pct 0.04 --dry-run");
    expect(warned.exit).toBe(0);
    expect(warned.stderr).toContain("Warning: no instrument is in the sector tech: that limit limits nothing.");
  });

  it("show takes the fund as a word, and none is a mistake", async () => {
    server.on("GET /v1/riskengine/envelopes/alpha", { body: envelope });
    expect((await run("riskengine envelope show alpha")).stdout).toContain("max_position_pct");
    expect(await run("riskengine envelope show")).toMatchObject({ exit: 2 });
  });
});

describe("how things stand", () => {
  it("losses say how much of a limit is used, and WITHIN; programs keep their words", async () => {
    const loss = { fund_id: "alpha", limit: "daily", state: "JUDGED", loss_pct: 0.01, limit_pct: 0.02, baseline: "5" };
    server.on("GET /v1/riskengine/losses", { body: [loss] });
    expect((await run("riskengine losses list")).stdout).toMatch(/1\.00 % +2\.00 % +50\.0 % +WITHIN/);
    expect((await run("riskengine losses list --format csv")).stdout).toMatch(/,JUDGED,/);
    expect((await run("riskengine losses list --format csv")).stdout).not.toContain("used");
  });

  it("a strategy is trading, not live beside PAPER, and says which halt covers it", async () => {
    const strategy = {
      fund_id: "alpha",
      allocation_pct: 0.4,
      base_allocation_pct: 0.4,
      restriction_ids: [],
      sentence: "",
    };
    const rows = ["a-1", "a-2"].map((id) => ({ ...strategy, strategy_id: id, status: "live" }));
    server.on("GET /v1/research/strategies", { body: rows });
    const halts = [{ severity: "STRATEGY_HALT", fund_id: "alpha", strategy_id: "a-2", reason: "x", requested_by: "y" }];
    server.on("GET /v1/halts/status", { body: { known: true, halts, progress: [], restarts: [] } });
    const { stdout } = await run("research strategies list");
    expect(stdout).toMatch(/a-1 +alpha +trading +no /);
    expect(stdout).toMatch(/a-2 +alpha +trading +STRATEGY_HALT /);
    expect((await run("research strategies list --format csv")).stdout).toContain("a-1,alpha,live,0.4");
    server.on("GET /v1/halts/status", problem(503, "SERVICE_UNAVAILABLE", "no"));
    expect((await run("research strategies list")).stdout).toMatch(/a-1 +alpha +trading +\? /);
  });
});

const order = {
  order_id: "019a7c10-0001",
  fund_id: "alpha",
  strategy_id: "a-1",
  side: "BUY",
  quantity: "1",
  symbol: "AAPL",
};
const status = { order: { ...order, order_type: "MARKET", tif: "DAY" }, state: "REJECTED", filled_quantity: "0" };

describe("orders", () => {
  it("why tells the halt that refused an order at the door, who and since", async () => {
    server.on("GET /v1/riskengine/decisions/o-1", problem(404, "NOT_FOUND", "Nothing was decided."));
    const refused = { ...status, code: "FUND_HALTED", reason: "alpha is halted: news", created_at: at, updated_at: at };
    server.on("GET /v1/oms/orders/o-1", { body: refused });
    const halt = { severity: "FUND_HALT", fund_id: "alpha", reason: "news", requested_by: "operator:duty", since: at };
    server.on("GET /v1/halts/status?id=alpha", { body: { known: true, halts: [halt], progress: [], restarts: [] } });
    const shown = await run("why o-1");
    expect(shown.exit).toBe(0);
    expect(shown.stdout).toContain("DENIED at the door of order management: FUND_HALTED\nalpha is halted: news");
    expect(shown.stdout).toContain(
      "fund alpha, since 2026-11-15T13:29:00Z (1 min ago), by operator:duty. Reason: “news”",
    );
    server.on("GET /v1/halts/status?id=alpha", { body: { known: true, halts: [], progress: [], restarts: [] } });
    expect((await run("why o-1")).stdout).toContain("That halt is no longer in force.");
    server.on("GET /v1/oms/orders/o-1", problem(404, "NOT_FOUND", "no"));
    expect(await run("why o-1")).toMatchObject({ exit: 1 });
  });

  it("are listed by state and since, with the reason of what was cancelled", async () => {
    const cancelled = { ...status, state: "CANCELLED", reason: "cancelled by the halt of alpha", created_at: at };
    const route = "GET /v1/oms/orders?count_max=101&state=CANCELLED&since=2026-11-15T13%3A00%3A00.000000Z";
    server.on(route, { body: [cancelled] });
    const { stdout } = await run("oms orders list --state cancelled --since 30m");
    expect(stdout).toMatch(/CANCELLED +0 +cancelled by the halt of alpha/);
    expect(await run("oms orders list --state gone")).toMatchObject({ exit: 2 });
    expect(await run("oms orders list --since yesterday")).toMatchObject({ exit: 2 });
  });

  it("are found by the first eight characters of their id, if only one begins so", async () => {
    server.on("GET /v1/oms/orders?count_max=10&id_prefix=019a7c10", { body: [status] });
    server.on("GET /v1/oms/orders/019a7c10-0001", { body: { ...status, created_at: at, updated_at: at } });
    expect((await run("oms orders show 019a7c10")).stdout).toContain("019a7c10-0001 is REJECTED");
    const other = { ...status, order: { ...status.order, order_id: "019a7c10-0002" } };
    server.on("GET /v1/oms/orders?count_max=10&id_prefix=019a7c10", { body: [status, other] });
    const two = await run("oms orders show 019a7c10");
    expect(two).toMatchObject({ exit: 2, stderr: expect.stringContaining("019a7c10-0001, 019a7c10-0002") });
  });
});

describe("the history of halts", () => {
  it("says of each whether it is in force, and pages as far as asked", async () => {
    const halt = { severity: "FUND_HALT", fund_id: "alpha", reason: "r", requested_by: "operator:duty", since: at };
    const [newer, older] = [
      { ...halt, halt_id: "h-2" },
      { ...halt, halt_id: "h-1", lifted_at: at },
    ];
    server.on("GET /v1/halts/history?count_max=21&fund_id=alpha", { body: [newer, older] });
    const { stdout } = await run("riskengine halts history --fund-id alpha");
    expect(stdout).toMatch(/IN FORCE +FUND_HALT +fund alpha/);
    expect(stdout.match(/IN FORCE/g)).toHaveLength(1);
    server.on("GET /v1/halts/history?count_max=2", { body: [newer, older] });
    const one = await run("riskengine halts history --limit 1 --json");
    expect([JSON.parse(one.stdout), one.stderr]).toEqual([[newer], expect.stringContaining("more than 1")]);
    server.on("GET /v1/halts/history?count_max=21", { body: [] });
    expect((await run("riskengine halts history")).stdout).toContain("Nothing was ever halted.");
    expect(await run("riskengine halts history --limit none")).toMatchObject({ exit: 2 });
  });
});

describe("the record", () => {
  it("is found by the first eight characters of a halt's, lifted or not, a request's or a trade's id", async () => {
    const [haltId, requestId, fillId] = ["019a7c20-0001", "019a7c21-0001", "019a7c22-0001"];
    const liftedId = "019a7c23-0001";
    const halt = { halt_id: haltId, severity: "FIRM_HALT", fund_id: "", reason: "r", requested_by: "operator:duty" };
    server.on("GET /v1/halts/status", {
      body: { known: true, halted: true, halts: [halt], progress: [], restarts: [], request_id: requestId },
    });

    for (const id of [haltId, requestId, fillId, liftedId]) {
      const typed = id.slice(0, 8);
      const lifted = id === liftedId ? [{ ...halt, halt_id: id, since: at, lifted_at: at }] : [];
      server.on(`GET /v1/halts/history?count_max=10&id_prefix=${typed}`, { body: lifted });
      server.on(`GET /v1/oms/orders?count_max=10&id_prefix=${typed}`, { body: [] });
      server.on(`GET /v1/oms/fills?count_max=10&id_prefix=${typed}`, { body: id === fillId ? [{ fill_id: id }] : [] });
      await run(`operations audit show --subject-id ${typed}`);
      expect(
        server.seen.filter(({ route }) => route.includes(`subject_id=${id}`)),
        typed,
      ).not.toEqual([]);
    }
  });
});

describe("what a list shortens is found by what it shows", () => {
  it("an alert", async () => {
    const signal = { signal_id: "019a7c30-0001", source: "tradingview", received_at: at, warnings: [] };
    server.on("GET /v1/signals?count_max=10&id_prefix=019a7c30", { body: [signal] });
    server.on("GET /v1/signals/019a7c30-0001", { body: signal });
    expect((await run("signals show 019a7c30")).stdout).toContain("019a7c30-0001");
  });

  it("an approval that was not sent", async () => {
    const approval = { order_id: "019a7c40-0001", fund_id: "alpha" };
    server.on("GET /v1/riskengine/approvals?unsent=true", { body: [approval] });
    server.on("POST /v1/riskengine/approvals/019a7c40-0001/release", { body: approval });
    const { stdout } = await run("riskengine approvals release 019a7c40 --reason crashed");
    expect(stdout).toContain("Nothing is reserved for 019a7c40-0001 (alpha)");
  });
});

describe("a slip of the hand", () => {
  it.each([
    ["halt alpha", "Did you mean `ctl cmd halt alpha`"],
    ["riskengine why order-1", "Did you mean `ctl why order-1`"],
    ["report nonsense", "`ctl report --help` lists what there is."],
    ["oms positions list --fund alpha", "Did you mean --fund-id?"],
  ])("%s", async (line, hint) => {
    expect(await run(line)).toMatchObject({ exit: 2, stderr: expect.stringContaining(hint) });
  });

  it("--side buy is BUY", async () => {
    const headroom = {
      fund_id: "alpha",
      symbol: "AAPL",
      side: "BUY",
      quantity: "1",
      notional: "1",
      binding: "",
      limits: [],
    };
    server.on("GET /v1/riskengine/headroom?fund_id=alpha&symbol=AAPL&side=BUY", { body: { ...headroom, as_of: at } });
    expect(await run("riskengine headroom --fund-id alpha --symbol AAPL --side buy")).toMatchObject({ exit: 0 });
    expect(await run("riskengine headroom --fund-id alpha --symbol AAPL --side up")).toMatchObject({ exit: 2 });
  });
});
