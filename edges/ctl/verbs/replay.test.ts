// The past at the terminal, against a server that answers as asked: what stood at a moment can be read without a program, and a record that differs ends with exit 10.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeServer, runFake, startFakeServer, virtualTime } from "../../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-replay-"));
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
const at = "2026-11-15T13:00:00.000000Z";

it("a moment tells its halts, its open orders, what is nearest to its limit, and of how many it cannot be told", async () => {
  const use = { fund_id: "alpha", scope: "", as_of: at, band: 50 };
  const moment = {
    fund_id: "alpha",
    at,
    nav: { value: "10000000", currency: "USD", as_of: at },
    positions: [{ strategy_id: "alpha-core", symbol: "AAPL", quantity: "10", price: "187.1", priced_at: at }],
    open_orders: [
      {
        order_id: "o-1",
        strategy_id: "alpha-core",
        symbol: "MSFT",
        side: "BUY",
        quantity: "20",
        filled_quantity: "5",
      },
    ],
    limit_use: [
      { ...use, limit: "max_gross_exposure_pct", used: "1", allowed: "4", share: 0.25 },
      { ...use, limit: "max_position_pct", scope: "AAPL", used: "3", allowed: "4", share: 0.75 },
      { ...use, limit: "daily", reason: "not kept" },
    ],
    envelope_version: 3,
    halts: [
      {
        halt_id: "h-1",
        severity: "STRATEGY_HALT",
        fund_id: "alpha",
        strategy_id: "alpha-core",
        reason: "odd fills",
        requested_by: "operator:duty",
        since: at,
      },
    ],
    restrictions: [],
  };
  server.on("GET /v1/replay/moment?fund_id=alpha&at=2026-11-15T13%3A00%3A00.000000Z", { body: moment });
  const { stdout, exit } = await run("replay moment --fund-id alpha --at 2026-11-15T13:00:00Z");
  expect(exit).toBe(0);
  for (const words of [
    /limits of version 3, 1 open orders, 1 halts, 0 restrictions/,
    /STRATEGY_HALT {2}strategy alpha-core of alpha.*“odd fills”/,
    /Open: BUY 20 MSFT, 5 of it filled \(o-1\)/,
    /Used of limits: max_position_pct AAPL 75\.0 %, max_gross_exposure_pct 25\.0 %/,
    /Of 1 limits it cannot be told/,
    /AAPL +10/,
  ]) {
    expect(stdout).toMatch(words);
  }
});

it("verify ends with 0 where all are the same, and with 10 where one differs, which it names", async () => {
  const counts = { fund_id: "alpha", from: at, through: "2026-11-15T13:30:00.000000Z", decisions: 12, skipped: 1 };
  const causes = [{ cause: "DUPLICATE", count: 1 }];
  const whole = { ...counts, same: 11, different: 0, skipped_causes: causes, differences: [] };
  server.on("POST /v1/replay/verify", { body: whole });
  const words = "replay verify --fund-id alpha --from 2026-11-15T13:00:00Z";
  expect(await run(words)).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/11 of 12 the same, 0 different, 1 skipped \(1 DUPLICATE\)/),
  });
  const difference = {
    order_id: "o-7",
    decision_id: "d-7",
    decided_at: at,
    cause: "MISSING",
    recorded: { approved: false, gate: "static", code: "NOTIONAL_ABOVE_MAX" },
  };
  server.on("POST /v1/replay/verify", { body: { ...whole, same: 10, different: 1, differences: [difference] } });
  expect(await run(words)).toMatchObject({
    exit: 10,
    stdout: expect.stringMatching(/MISSING +o-7 +DENIED NOTIONAL_ABOVE_MAX/),
  });
});

it("a long period is asked for piece by piece, each from where the one before ended, and added up", async () => {
  const ends = ["2026-11-15T13:10:00.000000Z", "2026-11-15T13:20:00.000000Z", "2026-11-15T13:30:00.000000Z"];
  const asked: string[] = [];
  server.on("POST /v1/replay/verify", ({ body }) => {
    const { from } = JSON.parse(body) as { readonly from: string };
    const through = ends[asked.push(from) - 1];
    const counts = { fund_id: "alpha", from, through, decisions: 5, same: 4, different: 0, skipped: 1 };
    return { body: { ...counts, skipped_causes: [{ cause: "SCHEMA", count: 1 }], differences: [] } };
  });
  const { stdout } = await run("replay verify --fund-id alpha --from 2026-11-15T13:00:00Z --to 2026-11-15T13:30:00Z");
  expect(asked).toEqual([at, ends[0], ends[1]]);
  expect(stdout).toMatch(/12 of 15 the same, 0 different, 3 skipped \(3 SCHEMA\)/);
});
