// What every list does alike: fits the terminal, has everything with --wide, is asked again with --watch, and is shown page by page.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type FakeServer,
  problem,
  type RunOptions,
  runFake,
  startFakeServer,
  virtualTime,
} from "../../../testkit/ctl/fakes.ts";
import { formatOption, watchOption, wideOption } from "../text/listing.ts";
import { verbs } from "../verbs/index.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-lists-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const time = () => virtualTime(Date.parse("2026-11-15T13:30:00Z"));
const run = (line: string, more: Partial<RunOptions> = {}) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...time(),
    folder: home,
    ...more,
  });

const at = "2026-11-15T13:29:57.000000Z";
const order = (id: string, fundId: string, state = "WORKING") => ({
  order: {
    idempotency_key: "k",
    order_id: id,
    fund_id: fundId,
    strategy_id: `${fundId}-momentum`,
    symbol: "AAPL",
    side: "BUY",
    quantity: "10",
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "operator:duty",
  },
  state,
  filled_quantity: "0",
  remaining_quantity: "10",
  created_at: at,
  updated_at: at,
  submitted_by: "operator:eve",
});
const ids = ["019a7c10-0001-7000-8000-000000000001", "019a7c11-0001-7000-8000-000000000002", "019a7c12-9999"];
const orders = [order(ids[0] ?? "", "alpha"), order(ids[1] ?? "", "alpha", "FILLED"), order(ids[2] ?? "", "omega")];
beforeEach(() => {
  server.seen.length = 0;
  server.on("GET /v1/oms/orders?count_max=101", { body: orders });
  const fund = { name: "x", currency: "USD", halted: false };
  server.on("GET /v1/treasury/funds", {
    body: [
      { ...fund, fund_id: "alpha", mode: "PAPER" },
      { ...fund, fund_id: "omega", mode: "LIVE" },
    ],
  });
});

it("every list has --wide and --watch, what changes something and answers with a list has --wide", () => {
  const lists = verbs.filter(({ options }) => options.includes(formatOption));
  expect(lists.filter(({ options }) => !options.includes(wideOption)).map(({ name }) => name)).toEqual([]);
  // What judges a period again is no list that somebody watches.
  const listed = lists.filter(({ name }) => name !== "replay verify");
  const unlike = listed.filter(({ options, changesState }) => options.includes(watchOption) === changesState);
  expect(unlike.map(({ name }) => name)).toEqual([]);
});

describe("a list on a terminal", () => {
  it("fits 80 columns: ages, no empty columns, what every row says above it, short ids; what has no room is named", async () => {
    const shown = await run("oms orders list", { size: { columns: 80, rows: 50 } });
    expect(shown.stdout.split("\n")).toEqual([
      "Every row: created 3 s ago, symbol AAPL, side BUY, quantity 10, type MARKET, filled 0, submitted by operator:eve",
      "",
      "ORDER     FUND   MODE   STRATEGY        STATE",
      "019a7c10  alpha  PAPER  alpha-momentum  WORKING",
      "019a7c11  alpha  PAPER  alpha-momentum  FILLED",
      "019a7c12  omega  LIVE   omega-momentum  WORKING",
      "",
    ]);
    const narrow = await run("oms orders list", { size: { columns: 40, rows: 50 } });
    expect(narrow.stderr).toContain("No room for: strategy. --wide shows every column.");
    expect(narrow.stdout).toContain("019a7c12  omega  LIVE   WORKING");
  });

  it("has everything with --wide, and whole ids in a pipe, CSV and JSON", async () => {
    const wide = await run("oms orders list --wide", { size: { columns: 40, rows: 50 } });
    expect(wide.stdout).toContain(`2026-11-15T13:29:57Z (3 s ago)  ${ids[0]}  alpha  PAPER  alpha-momentum  AAPL`);
    expect(wide.stderr).toBe("");
    expect((await run("oms orders list")).stdout).toContain(`${ids[0]}  alpha`);
    for (const format of ["csv", "json"]) {
      const { stdout } = await run(`oms orders list --format ${format}`, { size: { columns: 40, rows: 50 } });
      for (const id of ids) expect(stdout).toContain(id);
    }
  });

  it("is shown page by page where a person sits: Enter shows more, q ends it, PAGER=cat has it at once", async () => {
    const many = Array.from({ length: 30 }, (_none, index) => order(`o-${index + 10}`, "alpha"));
    server.on("GET /v1/oms/orders?count_max=101", { body: many });
    const size = { columns: 100, rows: 11 };
    const quit = await run("oms orders list", { size, typed: ["", "q"] });
    expect(quit.stdout).toContain("o-26");
    expect(quit.stdout).not.toContain("o-28");
    expect(quit.stderr).toContain("20 of 33 lines. Enter shows more, q ends it: ");
    expect((await run("oms orders list", { size, typed: ["", "", ""] })).stdout).toContain("o-39");
    const environment = { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "t", PAGER: "cat" };
    const whole = await run("oms orders list", { size, typed: [], environment });
    expect(whole.stdout).toContain("o-39");
    expect(whole.stderr).not.toContain("Enter");
    expect((await run("oms orders list", { size })).stdout).toContain("o-39");
  });
});

describe("--watch", () => {
  /** Rounds end by Ctrl-C after so many sleeps. */
  const watched = async (line: string, rounds: number, more: Partial<RunOptions> = {}) => {
    const stop = new AbortController();
    const virtual = time();
    const sleep: (typeof virtual.timers)["sleep"] = async (ms, signal) => {
      await virtual.timers.sleep(ms, signal);
      if (virtual.slept.length === rounds) stop.abort();
    };
    const timers = { ...virtual.timers, sleep };
    const shown = await run(line, { clock: virtual.clock, timers, signal: stop.signal, ...more });
    return { ...shown, slept: virtual.slept };
  };

  it("asks again every 2 s or as typed, draws in place without clearing, and ends by Ctrl-C", async () => {
    const shown = await watched("oms orders list --watch", 2, { size: { columns: 80, rows: 50 } });
    expect(shown).toMatchObject({ exit: 130, slept: [2_000, 2_000] });
    expect(server.calls("GET /v1/oms/orders?count_max=101")).toHaveLength(2);
    expect(shown.stdout).toContain("2026-11-15T13:30:02Z  every 2 s, Ctrl-C ends it");
    expect(shown.stdout).toContain("\u001b[8A\r");
    expect(shown.stdout).not.toContain("\u001b[2J");
    expect((await watched("oms orders list --watch 7", 1)).slept).toEqual([7_000]);
  });

  it("is one line of JSON each time with --json", async () => {
    const { stdout } = await watched("oms orders list --watch 1 --json", 3);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as unknown[]).length)).toEqual([3, 3, 3]);
  });

  it("cuts what is higher than the terminal, and says so", async () => {
    const { stdout } = await watched("oms orders list --watch", 1, { size: { columns: 80, rows: 6 } });
    expect(stdout).toContain("... 4 lines more");
    expect(stdout.split("\n")).toHaveLength(6);
  });

  it("keeps the last answer as STALE while nobody answers, and ends with what will not pass", async () => {
    let asked = 0;
    server.on("GET /v1/oms/orders?count_max=101", () => {
      asked += 1;
      return asked === 2 ? problem(503, "SERVICE_UNAVAILABLE", "The service oms does not answer.") : { body: orders };
    });
    const { stdout } = await watched("oms orders list --watch 3", 3, { size: { columns: 120, rows: 50 } });
    expect(stdout).toContain(
      "STALE  2026-11-15T13:30:03Z  The figures are from 3 s ago. The service oms does not answer.",
    );
    server.on(
      "GET /v1/oms/orders?count_max=101",
      problem(503, "SERVICE_UNAVAILABLE", "The service oms does not answer."),
    );
    expect(await watched("oms orders list --watch", 9)).toMatchObject({ exit: 9, slept: [] });
  });

  it("has no csv, and wants whole seconds", async () => {
    expect(await run("oms orders list --watch --format csv")).toMatchObject({ exit: 2 });
    for (const typed of ["0", "x", "9999"])
      expect(await run(`oms orders list --watch ${typed}`)).toMatchObject({ exit: 2 });
  });
});

it("what takes longer than a second says so where a person sits, and takes it back", async () => {
  const virtual = time();
  const after: (typeof virtual.timers)["after"] = (_ms, act) => {
    queueMicrotask(act);
    return () => undefined;
  };
  let left = 3;
  const timers = {
    ...virtual.timers,
    after: (ms: number, act: () => void) => (left-- > 0 ? after(ms, act) : () => undefined),
  };
  const shown = await run("oms orders list", { clock: virtual.clock, timers, typed: [] });
  expect(shown.stderr).toContain("Waiting for the server: 0 s. Ctrl-C ends it.");
  expect(shown.stderr.endsWith("\r\u001b[K")).toBe(true);
  left = 3;
  expect((await run("oms orders list", { clock: virtual.clock, timers })).stderr).toBe("");
});
