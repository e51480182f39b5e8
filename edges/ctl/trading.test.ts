// The verbs of orders, positions, accounts, strategies, stops, the reconciler and drills against a server that answers as asked: what is sent, what is read, and
// how it ends.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-trading-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const funds = [
  { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", nav: "10000000.5", nav_at: "x", halted: false },
  { fund_id: "omega", name: "Omega", mode: "LIVE", currency: "USD", halted: false },
];
beforeEach(() => {
  server.seen.length = 0;
  server.on("GET /v1/treasury/funds", { body: funds });
});

const run = (line: string) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse("2026-11-15T13:30:00Z")),
    folder: home,
  });
const bodyOf = (route: string): unknown => JSON.parse(server.calls(route).at(-1)?.body ?? "null");
const at = "2026-11-15T13:29:00.000000Z";

describe("positions", () => {
  const apple = {
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    quantity: "1200",
    currency: "USD",
    as_of: at,
    average_price: "187.333333333333333333",
    mark_price: "190",
    mark_at: "2026-11-15T13:29:58.000000Z",
    market_value: "228000",
    unrealised_pnl: "3200.005",
  };
  const short = { ...apple, symbol: "XOM", quantity: "-5", market_value: "-500.25", unrealised_pnl: "-0.1" };
  const { mark_price: _mark, mark_at: _at, market_value: _value, unrealised_pnl: _pnl, ...rest } = apple;
  const unpriced = { ...rest, symbol: "SPY" };

  it("of a fund are a table with its mode and numbers to the right, exact CSV, and JSON", async () => {
    server.on("GET /v1/oms/positions?fund_id=alpha", { body: [apple, short, unpriced] });
    const shown = await run("oms positions list --fund-id alpha");
    expect(shown.stdout.split("\n")).toEqual([
      "Every row: fund alpha, strategy alpha-momentum, average 187.3333, currency USD, as of 1 min ago",
      "",
      "MODE   SYMBOL  QUANTITY      MARK      VALUE      PNL  PRICED",
      "PAPER  AAPL        1200    190.00  228000.00  3200.00  2 s ago",
      "PAPER  XOM           -5    190.00    -500.25    -0.10  2 s ago",
      "PAPER  SPY         1200  no price",
      "",
    ]);
    expect((await run("oms positions list --fund-id alpha --wide")).stdout.split("\n").slice(0, 2)).toEqual([
      "FUND   MODE   STRATEGY        SYMBOL  QUANTITY   AVERAGE      MARK      VALUE      PNL  CURRENCY  PRICED                          AS OF",
      "alpha  PAPER  alpha-momentum  AAPL        1200  187.3333    190.00  228000.00  3200.00  USD       2026-11-15T13:29:58Z (2 s ago)  2026-11-15T13:29:00Z (1 min ago)",
    ]);
    const csv = (await run("oms positions list --fund-id alpha --format csv")).stdout.split("\n");
    expect(csv[0]?.slice(0, 45)).toBe("fund_id,mode,strategy_id,symbol,quantity,aver");
    expect(csv[2]).toBe(
      `alpha,PAPER,alpha-momentum,XOM,-5,187.333333333333333333,190,-500.25,-0.1,USD,2026-11-15T13:29:58.000000Z,${at}`,
    );
    const json = await run("oms positions list --fund-id alpha --json");
    expect(JSON.parse(json.stdout)).toEqual([apple, short, unpriced].map((one) => ({ ...one, mode: "PAPER" })));
    expect(await run("oms positions list")).toMatchObject({ exit: 2 });
  });

  it("are reported although nobody can say which funds are paper", async () => {
    server.on("GET /v1/oms/positions?fund_id=alpha", { body: [apple] });
    server.on("GET /v1/treasury/funds", problem(503, "SERVICE_UNAVAILABLE", "The service treasury does not answer."));
    const shown = await run("oms positions list --fund-id alpha");
    expect(shown).toMatchObject({ exit: 0, stdout: expect.stringMatching(/alpha +\? +alpha-momentum/) });
    expect(shown.stderr).toContain("PAPER and which LIVE cannot be reported");
  });

  it("of all funds come with totals that mix neither paper and money nor currencies, and leave out what has no price", async () => {
    const live = { ...apple, fund_id: "omega" };
    const euro = { ...apple, symbol: "SAP", currency: "EUR", market_value: "7", unrealised_pnl: "1" };
    server.on("GET /v1/oms/positions", { body: [apple, short, unpriced, live, euro] });
    const { stdout } = await run("ls");
    const totals = stdout.slice(stdout.lastIndexOf("\n\n") + 2).split("\n");
    expect(totals).toEqual([
      "FUND   MODE   POSITIONS  WITHOUT PRICE  MARKET VALUE  UNREALISED PNL  CURRENCY          NAV  NAV AT",
      "alpha  PAPER          1              0          7.00            1.00  EUR       10000000.50  x",
      "alpha  PAPER          3              1     227499.75         3199.90  USD       10000000.50  x",
      "omega  LIVE           1              0     228000.00         3200.00  USD        not valued",
      "",
    ]);
    const json = JSON.parse((await run("ls --json")).stdout) as { mode: string }[];
    expect(json.map(({ mode }) => mode)).toEqual(["PAPER", "PAPER", "PAPER", "LIVE", "PAPER"]);
    expect((await run("ls --format csv")).stdout.split("\n")).toHaveLength(7);
    const total = { fund_id: "alpha", mode: "PAPER", positions: 3, without_price: 1, market_value: "227499.75" };
    const both = { unrealised_pnl: "3199.905", currency: "USD", nav: "10000000.5", nav_at: "x" };
    expect(JSON.parse((await run("ls --totals --json")).stdout)[1]).toEqual({ ...total, ...both });
    expect((await run("ls --totals --format csv")).stdout.split("\n")[2]).toBe(
      "alpha,PAPER,3,1,227499.75,3199.905,USD,10000000.5,x",
    );
    server.on("GET /v1/oms/positions", { body: [] });
    expect((await run("ls")).stdout).toMatch(/^Nothing is held\.\n\nFUND /);
  });
});

const terms = {
  idempotency_key: "k",
  order_id: "o-1",
  fund_id: "alpha",
  strategy_id: "s",
  symbol: "AAPL",
  side: "BUY",
  quantity: "10",
  order_type: "MARKET",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
  actor: "operator:duty",
};
const status = {
  order: terms,
  state: "ACCEPTED",
  filled_quantity: "0",
  remaining_quantity: "10",
  created_at: at,
  updated_at: at,
  submitted_by: "operator:eve",
};

describe("orders submit", () => {
  const route = "POST /v1/oms/orders";
  const line = "oms orders submit --fund-id alpha --strategy-id s --symbol AAPL --side BUY --quantity 10";
  beforeEach(() => server.on("GET /v1/treasury/instruments", { body: [{ symbol: "AAPL", asset_class: "EQUITY" }] }));

  it("sends every term, its own name and key, and the reason as the thesis", async () => {
    server.on(route, { body: status });
    const more =
      "--order-type STOP_LIMIT --limit-price 190 --stop-price 189 --tif GTD --expires-at 2026-11-16T21:00:00Z";
    await run(`${line} ${more} --reduce-only --venue XNAS --reason momentum`);
    const id = "ctl-00000000-0000-4000-8000-000000000001";
    const { actor: _actor, ...sent } = terms;
    expect(bodyOf(route)).toEqual({
      ...sent,
      order_id: id,
      idempotency_key: id,
      order_type: "STOP_LIMIT",
      limit_price: "190",
      stop_price: "189",
      tif: "GTD",
      expires_at: "2026-11-16T21:00:00Z",
      reduce_only: true,
      venue: "XNAS",
      thesis: "momentum",
    });
    for (const [prices, order_type] of [
      ["--limit-price 190", "LIMIT"],
      ["--stop-price 189", "STOP"],
      ["--limit-price 190 --stop-price 189", "STOP_LIMIT"],
      ["--order-type MARKET --limit-price 190", "MARKET"],
    ] as const) {
      await run(`${line} ${prices}`);
      expect(bodyOf(route), prices).toMatchObject({ order_type });
    }
    await run(`${line} --order-id mine --idempotency-key again --asset-class OPTION`);
    expect(bodyOf(route)).toMatchObject({ order_id: "mine", idempotency_key: "again", asset_class: "OPTION" });
  });

  const filled = { filled_quantity: "4", remaining_quantity: "6", average_price: "187.25" };
  const rejected = { code: "NOTIONAL_ABOVE_MAX", reason: "Too large." };
  it.each([
    ["ACCEPTED", {}, 0, "not with the broker yet; nothing is filled"],
    ["ROUTED", {}, 0, "nothing is filled"],
    ["WORKING", {}, 0, "nothing is filled yet"],
    ["PARTIALLY_FILLED", filled, 0, "Filled are 4 of 10 at 187.25 on average; the rest is working."],
    ["FILLED", { ...filled, filled_quantity: "10" }, 0, "Filled are 10 of 10 at 187.25 on average."],
    ["CANCELLED", {}, 0, "It is cancelled. Nothing is filled."],
    [
      "CANCELLED",
      { reason: "The corporate action split-1 cancels it." },
      0,
      "Why: The corporate action split-1 cancels it.",
    ],
    ["REJECTED", rejected, 6, "NOTIONAL_ABOVE_MAX: Too large."],
    ["PENDING_CHECK", {}, 8, "has not answered yet"],
    ["UNKNOWN", {}, 8, "it may trade, or not"],
  ])("%s is reported as that and as nothing more", async (state, more, exit, words) => {
    server.on(route, { body: { ...status, state, ...more } });
    const done = await run(line);
    expect(done).toMatchObject({ exit, stdout: expect.stringContaining(words) });
    expect(done.stdout).toContain(`BUY 10 AAPL MARKET DAY for alpha (PAPER)\no-1 is ${state}.`);
    if (!/FILLED/.test(state)) expect(done.stdout).not.toMatch(/Filled|[^g] is filled/);
  });

  const decided = { decision: { approved: false, rejecting_gate: "static", code: "NOTIONAL_ABOVE_MAX", reason: "r" } };
  it.each([
    ["the risk engine denied", { state: "REJECTED", ...rejected, ...decided }, ["ctl why o-1"]],
    ["a halt refused at the door", { state: "REJECTED", code: "ORDER_HALTED" }, ["ctl riskengine halts list"]],
    ["the risk engine never answered for", { state: "REJECTED", code: "ORDER_CHECK_UNANSWERED" }, []],
    ["the risk engine has not answered for yet", { state: "PENDING_CHECK" }, []],
  ])("an order that %s is followed only by verbs that know of it", async (_, more, then) => {
    server.on(route, { body: { ...status, ...more } });
    const { stderr } = await run(line);
    const next = stderr.slice(stderr.indexOf("Next:")).trim().split(/\n */).slice(1);
    expect(next).toEqual(["ctl oms orders show o-1", ...then]);
  });

  it("asks only, in a dry run", async () => {
    const decision = { approved: true, rejecting_gate: "", code: "", reason: "" };
    server.on(route, { body: { ...status, decision } });
    const good = await run(`${line} --dry-run`);
    expect(good).toMatchObject({ exit: 0, stdout: "BUY 10 AAPL MARKET DAY would be approved. Nothing was sent.\n" });
    expect(bodyOf(route)).toMatchObject({ dry_run: true });
    const no = { approved: false, rejecting_gate: "static", code: "BROKER_NOT_ALLOWED", reason: "No." };
    server.on(route, { body: { ...status, state: "REJECTED", decision: no } });
    const bad = await run(`${line} --dry-run`);
    expect(bad).toMatchObject({ exit: 6, stdout: expect.stringContaining("BROKER_NOT_ALLOWED (static): No.") });
    server.on(route, { body: status });
    expect(await run(`${line} --dry-run`)).toMatchObject({ exit: 9, stdout: "" });
  });

  it.each([
    [409, "ORDER_HALTED", 6, false],
    [409, "ORDER_KEY_CONFLICT", 7, false],
    [403, "PERMISSION_DENIED", 5, false],
    [503, "SERVICE_UNAVAILABLE", 9, true],
    [504, "DEADLINE_EXCEEDED", 9, true],
  ])("%i %s ends with %i, and says how to ask again where the answer was lost", async (code, name, exit, lost) => {
    server.on(route, problem(code, name, "Because."));
    const done = await run(line);
    expect(done).toMatchObject({ exit, stdout: "", stderr: expect.stringContaining("Because.") });
    expect(done.stderr.includes("--idempotency-key ctl-")).toBe(lost);
  });

  it("knows no other symbols than there are", async () => {
    const done = await run(line.replace("AAPL", "APPL"));
    expect(done).toMatchObject({ exit: 2, stderr: expect.stringContaining('There is no instrument "APPL".') });
    expect(server.calls(route)).toEqual([]);
  });
});

describe("orders and trades", () => {
  it("are listed as far as was asked for", async () => {
    const orders = Array.from({ length: 500 }, (_, at) => ({ ...status, order: { ...terms, order_id: `o-${at}` } }));
    server.on("GET /v1/oms/orders?fund_id=alpha&open=true&count_max=500", { body: orders });
    server.on("GET /v1/oms/orders?fund_id=alpha&open=true&count_max=2&after=o-499", { body: orders.slice(0, 2) });
    const all = await run("oms orders list --fund-id alpha --open --limit 501 --json");
    expect(JSON.parse(all.stdout)).toHaveLength(501);
    expect(all.stderr).toContain("There are more than 501");
    server.on("GET /v1/oms/orders?count_max=101", { body: orders.slice(0, 1) });
    const shown = await run("oms orders list");
    expect(shown.stdout).toMatch(/o-0 +alpha +PAPER +s +AAPL +BUY +10 +MARKET +ACCEPTED +0/);
    expect(shown.stderr).toBe("");
  });

  it("are shown one by one and cancelled, which is not done before the broker says so", async () => {
    server.on("GET /v1/oms/orders/o-1", { body: { ...status, broker_order_id: "b-7" } });
    const shown = await run("oms orders show o-1");
    expect(shown.stdout).toMatch(
      /^o-1 is ACCEPTED\.[\s\S]*Fund +alpha \(PAPER\), strategy s[\s\S]*Broker +paper, as b-7/,
    );
    expect(shown.stdout).toMatch(/Submitted by +operator:eve\nActor, claimed +operator:duty/);
    const route = "POST /v1/oms/orders/o-1/cancel";
    server.on(route, { body: { ...status, state: "CANCEL_PENDING" } });
    const pending = await run("oms orders cancel o-1 --reason mistake");
    expect(pending).toMatchObject({ exit: 8, stdout: expect.stringContaining("has not confirmed yet") });
    expect(bodyOf(route)).toEqual({ reason: "mistake" });
    server.on(route, { body: { ...status, state: "CANCELLED" } });
    expect(await run("oms orders cancel o-1")).toMatchObject({ exit: 0 });
    server.on(route, problem(409, "ORDER_NOT_OPEN", "It is filled."));
    expect(await run("oms orders cancel o-1")).toMatchObject({ exit: 6 });
  });

  it("are reported trade by trade", async () => {
    const fill = {
      fill_id: "f-1",
      order_id: "o-1",
      fund_id: "alpha",
      strategy_id: "s",
      symbol: "AAPL",
      side: "BUY",
      quantity: "1.5",
      price: "0.00001234",
      fee: "0.5",
      currency: "USD",
      filled_at: at,
      kind: "ADJUSTMENT",
    };
    server.on("GET /v1/oms/fills?fund_id=alpha&order_id=o-1&count_max=101", { body: [fill] });
    const { stdout } = await run("oms fills list --fund-id alpha --order-id o-1");
    expect(stdout).toMatch(/f-1 +o-1 +alpha +PAPER +s +AAPL +BUY +1\.5 +0\.00001234 +0\.50 +USD +ADJUSTMENT/);
  });
});

describe("accounts", () => {
  it("are valued over time", async () => {
    const nav = {
      fund_id: "alpha",
      nav: "3.005",
      cash: "1",
      positions_value: "2.005",
      net_flows: "1",
      currency: "USD",
      oldest_price_age_ms: 61_000,
      as_of: at,
    };
    const query = "fund_id=alpha&from=2026-11-15T01%3A30%3A00.000000Z&every=minute&count_max=500";
    server.on(`GET /v1/treasury/navs?${query}`, { body: [nav] });
    const shown = await run("treasury navs list --fund-id alpha --hours 12 --every minute");
    expect(shown.stdout).toMatch(/^alpha \(PAPER\)\n\n[\s\S]*3\.00 +1\.00 +2\.00 +1\.00 +USD +1 min 1 s/);
    expect(await run("treasury navs list --fund-id alpha --every week")).toMatchObject({ exit: 2 });
  });

  it("have a ledger with a line per posting, and JSON with the entries", async () => {
    const postings = [
      { account: "cash", currency: "USD", amount: "-100.5" },
      { account: "position:AAPL", currency: "USD", amount: "100.5" },
    ];
    const entry = {
      entry_id: "e-1",
      fund_id: "alpha",
      kind: "FILL",
      postings,
      reason: "f-1",
      booked_by: "service:treasury",
      at,
    };
    server.on("GET /v1/treasury/ledger?fund_id=alpha&count_max=101", { body: [entry] });
    const csv = (await run("treasury ledger list --fund-id alpha --format csv")).stdout.split("\n");
    expect(csv[1]).toBe(`${at},e-1,FILL,cash,-100.5,USD,service:treasury,f-1`);
    expect(JSON.parse((await run("treasury ledger list --fund-id alpha --json")).stdout)).toEqual([entry]);
  });

  it("are paid dividends, once per action, with a reason", async () => {
    const route = "POST /v1/treasury/corporate-actions";
    const entry = { fund_id: "alpha", reason: "0.26 USD a share on 100 AAPL" };
    server.on(route, { body: { action_id: "q4", entries: [entry], already_booked: false } });
    const asked = "treasury corporate-action book --symbol AAPL --ex-date 2026-11-16 --action-id q4";
    const fine = "--kind CASH_DIVIDEND --amount-per-share 0.26 --reason dividend";
    expect(await run(`${asked} ${fine}`)).toMatchObject({
      exit: 0,
      stdout: "alpha: 0.26 USD a share on 100 AAPL\n",
    });
    expect(bodyOf(route)).toEqual({
      action_id: "q4",
      kind: "CASH_DIVIDEND",
      symbol: "AAPL",
      amount_per_share: "0.26",
      ex_date: "2026-11-16",
      reason: "dividend",
    });
    server.on(route, { body: { action_id: "q4", entries: [], already_booked: false, state: "DONE" } });
    const nobody = "Nobody held AAPL when it went ex; nothing was booked.\n";
    expect((await run(`${asked} ${fine}`)).stdout).toBe(nobody);
    server.on(route, { body: { action_id: "q4", entries: [], already_booked: false, state: "EX" } });
    expect((await run(`${asked} ${fine} --pay-date 2026-11-20`)).stdout).toMatch(/is paid on 2026-11-20/);
    expect(bodyOf(route)).toMatchObject({ pay_date: "2026-11-20" });
    for (const wrong of [
      "--kind SPLIT --amount-per-share 1 --reason x",
      "--kind CASH_DIVIDEND --amount-per-share 0 --reason x",
      "--kind CASH_DIVIDEND --amount-per-share 1",
    ]) {
      expect(await run(`${asked} ${wrong}`)).toMatchObject({ exit: 2, stdout: "" });
    }
    expect(server.calls(route)).toHaveLength(3);
  });

  it("take money in and out, in their own currency, with a reason", async () => {
    const route = "POST /v1/treasury/flows";
    server.on(route, { body: { entry_id: "e-2" } });
    const out = await run("treasury flow book --fund-id alpha --amount -12.5 --reason redemption");
    expect(out).toMatchObject({ exit: 0, stdout: "12.5 USD were taken out of alpha: entry e-2.\n" });
    const key = "ctl-00000000-0000-4000-8000-000000000001";
    const sent = { fund_id: "alpha", amount: "-12.5", currency: "USD", idempotency_key: key, reason: "redemption" };
    expect(bodyOf(route)).toEqual(sent);
    server.on(route, { body: { entry_id: "e-2", at, already_booked: true } });
    expect((await run("treasury flow book --fund-id alpha --amount 12.5 --reason again")).stdout).toBe(
      "12.5 USD were put into alpha already 2026-11-15T13:29:00Z (1 min ago), and not again: entry e-2.\n",
    );
    for (const wrong of ["--amount 1,000 --reason x", "--amount 0 --reason x", "--amount 5"]) {
      expect(await run(`treasury flow book --fund-id alpha ${wrong}`)).toMatchObject({ exit: 2, stdout: "" });
    }
    expect(await run("treasury flow book --fund-id nope --amount 5 --reason x")).toMatchObject({ exit: 1 });
    expect(server.calls(route)).toHaveLength(2);
  });

  it("T6: ask for the second factor when money moves, and exit 5 without it", async () => {
    const route = "POST /v1/treasury/flows";
    const problem = { code: "STEP_UP_REQUIRED", detail: "That needs a proof.", status: 403 };
    server.on(route, { status: 403, body: problem });
    const asked = "treasury flow book --fund-id alpha --amount 12.5 --idempotency-key k --reason in";
    expect(await run(asked)).toMatchObject({ exit: 5, stderr: expect.stringContaining("--totp CODE") });
    server.on("POST /v1/auth/step-up", { status: 201, body: { proof: "psu_x", expires_at: at } });
    await run(`${asked} --totp 123456`);
    const parameters = { fund_id: "alpha", idempotency_key: "k", currency: "USD", amount: "12.5", reason: "in" };
    expect(bodyOf("POST /v1/auth/step-up")).toEqual({ action: "BookFlow", parameters, totp: "123456" });
    expect(bodyOf(route)).toMatchObject({ step_up_proof: "psu_x" });
  });
});

describe("strategies", () => {
  const strategy = {
    strategy_id: "s",
    fund_id: "alpha",
    status: "live",
    allocation_pct: 0.4,
    sentence: "It follows.",
    base_status: "live",
    base_allocation_pct: 0.4,
    restriction_ids: [],
  };

  it("are listed and set", async () => {
    server.on("GET /v1/research/strategies?fund_id=alpha", {
      body: [{ ...strategy, pnl: "-12.345", live_ic_mean: 0.0512345 }],
    });
    const { stdout } = await run("research strategies list --fund-id alpha");
    expect(stdout).toMatch(/s +alpha +trading +\? +40\.00 % +40\.00 % +-12\.34 +never +0\.0512 +It follows\./);
    const route = "POST /v1/research/strategies/s";
    server.on(route, { body: { ...strategy, status: "shadow", allocation_pct: 0.25 } });
    const done = await run("research strategies set s --status shadow --allocation-pct 0.25 --reason drift");
    expect(done.stdout).toBe("s (alpha) is shadow, with 25 % of NAV.\n");
    expect(bodyOf(route)).toEqual({ status: "shadow", allocation_pct: 0.25, reason: "drift" });
    for (const wrong of [
      "--reason x",
      "--status paused --reason x",
      "--allocation-pct 25% --reason x",
      "--status shadow",
    ]) {
      expect(await run(`research strategies set s ${wrong}`)).toMatchObject({ exit: 2 });
    }
  });

  it("have a backtest: the newest days for people, all of them for programs", async () => {
    const days = Array.from({ length: 12 }, (_, day) => ({ day: `2026-11-${day + 1}`, return: 0.00125 }));
    const figures = { annual_return: 0.12, annual_volatility: 0.1, max_drawdown: 0.05 };
    server.on("GET /v1/research/strategies/s/backtest", {
      body: { strategy_id: "s", from: "2025-11-14", to: "2026-11-13", days, ...figures },
    });
    const shown = await run("research backtest show s");
    expect(shown.stdout).toMatch(/Annual return +12 %\n[\s\S]*Sharpe +none\n[\s\S]*Days +12\n/);
    expect(shown.stdout.match(/0\.125 %/g)).toHaveLength(10);
    expect((await run("research backtest show s --format csv")).stdout.split("\n")).toHaveLength(14);
  });
});

describe("the matrix of a fund", () => {
  const cell = { strategy_id: "s", symbol: "AAPL", quantity: "10", price: "190", priced_at: at, market_value: "1900" };
  const sum = { market_value: "1900", gross: "1900", share: 0.19, gross_share: 1, unrealised_pnl: "-5", without: [] };
  const matrix = {
    fund_id: "alpha",
    mode: "PAPER",
    currency: "USD",
    nav: "10000",
    as_of: at,
    cells: [
      { ...cell, share: 0.19, unrealised_pnl: "-5", signal: 0.25, signal_at: at },
      { strategy_id: "s", symbol: "XOM", quantity: "-1" },
    ],
    by_strategy: [{ strategy_id: "s", ...sum, without: ["XOM"] }],
    by_symbol: [],
    total: { ...sum, without: ["XOM"], concentration: 1 },
    correlations: {
      days: 30,
      symbols: ["AAPL", "MSFT", "XOM"],
      left_out: [],
      pairs: [
        { a: "AAPL", b: "MSFT", r: 0.4, n: 30 },
        { a: "AAPL", b: "XOM", r: -0.6, n: 30 },
        { a: "MSFT", b: "XOM", r: null, n: 19, reason: "TOO_FEW" },
      ],
    },
  };

  it("is a table with what its sums are without, and whole for programs", async () => {
    server.on("GET /v1/research/matrix?fund_id=alpha&days=30", { body: matrix });
    const shown = await run("research matrix --fund-id alpha --days 30");
    expect(shown).toMatchObject({ exit: 0 });
    expect(shown.stdout).toContain("alpha (PAPER)");
    expect(shown.stdout).toMatch(/Held +1900\.00, 19 %\n/);
    expect(shown.stdout).toMatch(/Without +XOM: no price\n/);
    expect(shown.stdout).toMatch(/Most alike +AAPL and XOM: -0\.60 \(n 30\)/);
    expect(shown.stdout).toMatch(/XOM +-1 +none/);
    expect(JSON.parse((await run("research matrix --fund-id alpha --days 30 --json")).stdout)).toEqual(matrix);
    expect(await run("research matrix --fund-id alpha --days 1")).toMatchObject({ exit: 2 });
    expect(await run("research matrix")).toMatchObject({ exit: 2 });
  });
});

describe("stops, the reconciler and the books", () => {
  const stop = {
    fund_id: "alpha",
    strategy_id: "s",
    symbol: "AAPL",
    quantity: "10",
    basis_price: "200",
    trigger_price: "190",
    state: "RESTING",
    attempts: 0,
  };

  it("tell the stops, and that nobody watches them", async () => {
    server.on("GET /v1/healthz", { body: { status: "ok" } });
    server.on("GET /v1/riskengine/stops?owed=true", { body: [] });
    expect(await run("riskengine stops list --owed")).toMatchObject({
      exit: 0,
      stdout: "No exit is owed.\n",
      stderr: "",
    });
    const over = { ...stop, state: "ENDED", outcome: "EXITED", exited_quantity: "10", ended_at: at };
    server.on("GET /v1/riskengine/stops?ended_hours=48&count_max=500", { body: [over] });
    const ended = await run("riskengine stops list --ended --hours 48");
    expect(ended.stdout).toMatch(/EXITED +10 +1 min ago/);
    expect(await run("riskengine stops list --ended --owed")).toMatchObject({ exit: 2 });
    server.on("GET /v1/riskengine/stops?fund_id=alpha", { body: [stop] });
    const notes = ["operations: Synthetic stops are switched off."];
    server.on("GET /v1/healthz", { body: { status: "ok", notes } });
    const off = await run("riskengine stops list --fund-id alpha");
    expect(off.stdout).toMatch(/alpha +s +AAPL +10 +200\.00 +190\.00 +RESTING/);
    expect(off.stderr).toContain("synthetic_stop.enabled");
    expect(JSON.parse((await run("riskengine stops list --fund-id alpha --json")).stdout)).toEqual([stop]);
  });

  it("prove a fund flat only with a reason, and say by the exit code whether it is", async () => {
    const proof = { proof_id: "flat-1", fund_id: "alpha", account: "alpha", broker: "paper", asked_at: at };
    const said = { asked_by: "operator:duty", reason: "r", asked: ["open orders", "positions"] };
    const route = "POST /v1/riskengine/flat-proofs";
    server.on(route, { body: { ...proof, ...said, flat: true, left: [], open_orders: 0 } });
    expect(await run("riskengine flat prove --fund-id alpha")).toMatchObject({ exit: 2 });
    const flat = await run("riskengine flat prove --fund-id alpha --reason r");
    expect(flat).toMatchObject({ exit: 0, stdout: expect.stringContaining("alpha is flat") });
    server.on(route, {
      body: { ...proof, ...said, flat: false, left: [{ symbol: "AAPL", quantity: "3" }], open_orders: 2 },
    });
    const left = await run("riskengine flat prove --fund-id alpha --reason r");
    expect(left).toMatchObject({ exit: 10, stdout: expect.stringContaining("paper has 3 AAPL, and 2 open orders") });
  });

  it("end a stop only with a reason", async () => {
    const route = "POST /v1/riskengine/stops/st-1/end";
    server.on(route, { body: { ...stop, stop_id: "st-1", state: "ENDED" } });
    expect(await run("riskengine stops end st-1")).toMatchObject({ exit: 2 });
    const done = await run("riskengine stops end st-1 --reason closed");
    expect(done.stdout).toContain("is ENDED. Nothing closes that position now.");
    expect(bodyOf(route)).toEqual({ reason: "closed" });
  });

  const difference = {
    difference_id: "d-1",
    fund_id: "alpha",
    account: "alpha",
    broker: "paper",
    symbol: "AAPL",
    our_quantity: "10",
    broker_quantity: "0",
    class: "LOST_FILL",
    status: "SUSPECTED",
    evidence: "One report.",
    first_seen_at: at,
    at,
  };
  const clean = { compared: ["alpha"], unanswered: [], symbols: 8, differences: [], at };

  it.each([
    ["agreement", clean, 0, "What was compared agrees."],
    ["a difference", { ...clean, differences: [difference] }, 10, "LOST_FILL"],
    ["a cleared one", { ...clean, differences: [{ ...difference, status: "CLEARED" }] }, 0, "CLEARED"],
    ["no answer", { ...clean, compared: [], unanswered: ["alpha: silent"] }, 9, "so nothing is known"],
    ["half an answer", { ...clean, unanswered: ["beta: silent"] }, 9, "Not compared: beta: silent"],
  ])("reconcile --force tells %s by its exit code", async (_what, body, exit, words) => {
    server.on("POST /v1/riskengine/reconciliations", { body });
    const done = await run("riskengine reconcile --fund-id alpha --force");
    expect(done).toMatchObject({ exit, stdout: expect.stringContaining(words) });
    expect(bodyOf("POST /v1/riskengine/reconciliations")).toEqual({ fund_id: "alpha" });
  });

  it("without --force shows what is open and asks no broker", async () => {
    server.on("GET /v1/riskengine/differences?open=true&count_max=1000", { body: [difference] });
    expect(await run("riskengine reconcile")).toMatchObject({ exit: 10 });
    server.on("GET /v1/riskengine/differences?fund_id=alpha&open=true&count_max=1000", { body: [] });
    expect(await run("riskengine reconcile --fund-id alpha")).toMatchObject({ exit: 0 });
    expect(server.calls("POST /v1/riskengine/reconciliations")).toEqual([]);
    server.on("GET /v1/riskengine/differences?count_max=101", { body: [difference] });
    expect((await run("riskengine differences list")).stdout).toMatch(
      /SUSPECTED +alpha +paper +AAPL +10 +0 +LOST_FILL/,
    );
  });

  const check = {
    name: "fills",
    sentence: "Positions are the sum of fills.",
    agrees: true,
    checked_at: at,
    compared: 15,
  };
  it.each([
    ["agree", [check], 0, /fills +yes +15/],
    ["differ", [check, { ...check, agrees: false, difference: "AAPL 10, 9" }], 10, /fills +NO +15 .*AAPL 10, 9/],
    ["were never compared", [{ ...check, checked_at: undefined }], 9, /fills +not known +15 +never/],
    ["do not exist", [], 9, /Nothing has been compared yet/],
  ])("books that %s end so", async (_what, body, exit, words) => {
    server.on("GET /v1/riskengine/books", { body });
    expect(await run("riskengine books")).toMatchObject({ exit, stdout: expect.stringMatching(words) });
  });
});

describe("paper weather", () => {
  const route = "PUT /v1/oms/paper-weather";
  const gap = { symbol: "XOM", pct: 0.1, from: at };
  const stormy = {
    broker_silent_until: "2026-11-15T13:40:00.000000Z",
    gaps: [gap],
    halted_symbols: ["SPY"],
    news: [],
    informed: [],
    reason: "drill",
    report_loss_pct: 0.5,
    set_by: "operator:duty",
    at,
  };

  it("is shown", async () => {
    server.on("GET /v1/oms/paper-weather", { body: stormy });
    const { stdout } = await run("paper weather show");
    expect(stdout).toMatch(/Broker +silent until 2026-11-15T13:40:00Z \(in 10 min\)\nReports lost +50 %/);
    expect(stdout).toMatch(/Gap +XOM \+10 % since 2026-11-15T13:29:00Z/);
    server.on("GET /v1/oms/paper-weather", {
      body: { gaps: [], halted_symbols: [], news: [], informed: [], reason: "", broker_silent_until: at },
    });
    expect((await run("paper weather show")).stdout).toMatch(/^Broker +answers$/m);
  });

  it("changes by what was typed and keeps the rest, or begins anew", async () => {
    server.on("GET /v1/oms/paper-weather", { body: stormy });
    server.on(route, { body: stormy });
    await run(
      "paper weather set --gap AAPL=-0.12,MSFT=0.05 --halt-symbol SPY --halt-symbol XOM --report-repeat-pct 0.1 --reason drill",
    );
    expect(bodyOf(route)).toEqual({
      broker_silent_until: stormy.broker_silent_until,
      report_loss_pct: 0.5,
      report_repeat_pct: 0.1,
      gaps: [gap, { symbol: "AAPL", pct: -0.12 }, { symbol: "MSFT", pct: 0.05 }],
      halted_symbols: ["SPY", "XOM"],
      news: [],
      informed: [],
      reason: "drill",
    });
    await run("paper weather set --broker-silent off --reason drill");
    expect(bodyOf(route)).toEqual({
      reason: "drill",
      report_loss_pct: 0.5,
      gaps: [gap],
      halted_symbols: ["SPY"],
      news: [],
      informed: [],
    });
    await run("paper weather set --clear --broker-silent 90s --reason drill");
    expect(bodyOf(route)).toEqual({
      reason: "drill",
      broker_silent_until: "2026-11-15T13:31:30.000000Z",
      gaps: [],
      halted_symbols: [],
      news: [],
      informed: [],
    });
    await run("paper weather set --clear --reason over");
    expect(bodyOf(route)).toEqual({ gaps: [], halted_symbols: [], news: [], informed: [], reason: "over" });
  });

  it.each(["", "--gap AAPL", "--gap AAPL=12%", "--broker-silent soon", "--report-loss-pct half"])(
    "refuses %s before anything is sent",
    async (typed) => {
      server.on(route, { body: stormy });
      expect(await run(`paper weather set ${typed}`.trim())).toMatchObject({ exit: 2, stdout: "" });
      expect(server.calls(route)).toEqual([]);
    },
  );
});
