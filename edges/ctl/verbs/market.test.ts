// Prices, bars, news, signals, an amendment and a flatten by its name, against a server that answers as asked.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeServer, runFake, startFakeServer, virtualTime } from "../../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-market-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});
const run = (line: string) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse("2026-11-15T13:30:00Z")),
    folder: home,
  });
const at = "2026-11-15T13:29:57.000000Z";

/** Each as a table, as CSV and as JSON that is the server's own answer. */
async function threeForms(line: string, route: string, body: readonly object[], table: RegExp, head: string) {
  server.on(route, { body });
  expect((await run(line)).stdout).toMatch(table);
  expect((await run(`${line} --format csv`)).stdout.split("\n")[0]).toBe(head);
  expect(JSON.parse((await run(`${line} --json`)).stdout)).toEqual(body);
}

it("quotes with their age", async () => {
  const quote = { symbol: "AAPL", bid: "187.1", ask: "187.2", quoted_at: at, age_s: 3, currency: "USD" };
  const head = "symbol,bid,ask,last,bid_size,ask_size,volume,currency,venue,quoted_at,age_s";
  const table = /AAPL +187\.10 +187\.20 +USD +3 s ago/;
  await threeForms(
    "market quotes list --symbol AAPL,SPY",
    "GET /v1/market/quotes?symbols=AAPL%2CSPY",
    [quote],
    table,
    head,
  );
});

it("bars of an interval", async () => {
  const bar = { symbol: "AAPL", interval: "1h", start: at, open: "1", high: "3", low: "0.5", close: "2", volume: "9" };
  const route = "GET /v1/market/bars/AAPL?interval=1h&count_max=24";
  const head = "symbol,interval,start,open,high,low,close,volume,trade_count";
  await threeForms("market bars list AAPL --interval 1h --limit 24", route, [bar], /3 s ago +1\.00 +3\.00/, head);
  expect(await run("market bars list AAPL --interval 2h")).toMatchObject({ exit: 2 });
});

it("news and signals", async () => {
  const news = { news_id: "n-1", story_id: "s-1", symbol: "AAPL", headline: "Up", source: "paper", at };
  const newsHead = "at,symbol,headline,source,news_id,story_id";
  await threeForms(
    "market news list",
    "GET /v1/market/news?hours=24&count_max=101",
    [news],
    /AAPL +Up +paper/,
    newsHead,
  );
  const signal = { strategy_id: "s", symbol: "AAPL", value: 0.25, at, horizon_s: 3600 };
  const route = "GET /v1/research/strategies/s/signals?count_max=101";
  const head = "at,strategy_id,symbol,value,realised_return,horizon_s";
  await threeForms("research signals list s", route, [signal], /AAPL +0\.250000 +not yet +1 h/, head);
});

it("an amendment sends what was typed and its own key, and nothing is no amendment", async () => {
  const order = { order_id: "o-1", side: "BUY", quantity: "50", symbol: "AAPL", order_type: "LIMIT", tif: "DAY" };
  const status = { order, state: "WORKING", filled_quantity: "0", remaining_quantity: "50", created_at: at };
  server.on("POST /v1/oms/orders/o-1/amend", { body: status });
  const shown = await run("oms orders amend o-1 --quantity 50 --limit-price 187.5 --reason smaller");
  expect(shown).toMatchObject({ exit: 0, stdout: expect.stringContaining("BUY 50 AAPL") });
  const body: unknown = JSON.parse(server.calls("POST /v1/oms/orders/o-1/amend")[0]?.body ?? "");
  const key = "00000000-0000-4000-8000-000000000001";
  expect(body).toEqual({ idempotency_key: key, quantity: "50", limit_price: "187.5", reason: "smaller" });
  expect(await run("oms orders amend o-1")).toMatchObject({ exit: 2 });
});

it("a flatten by its name: 8 while something is left, 10 when the broker does not call it flat", async () => {
  const line = { fund_id: "beta", strategy_id: "s", symbol: "BTC-USD", quantity: "2", state: "OWED", attempts: 1, at };
  const flatten = { flatten_id: "f-1", requested_by: "x", reason: "", requested_at: at, lines: [line], orders: [] };
  const fund = { fund_id: "beta", state: "OPEN", left: [], open_orders: 0 };
  server.on("GET /v1/flatten", { body: { ...flatten, funds: [fund] } });
  const shown = await run("operations flatten show");
  expect(shown).toMatchObject({
    exit: 8,
    stdout: expect.stringMatching(/0 of 1 positions closed[\s\S]*BTC-USD +2 +OWED/),
  });
  server.on("GET /v1/flatten?flatten_id=f-1", { body: { ...flatten, funds: [{ ...fund, state: "NOT_FLAT" }] } });
  expect(await run("operations flatten show f-1")).toMatchObject({ exit: 10 });
  server.on("GET /v1/flatten", { body: { ...flatten, funds: [{ ...fund, state: "FLAT" }], done_at: at } });
  expect(await run("operations flatten show")).toMatchObject({ exit: 0 });
});
