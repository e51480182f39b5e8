// What a denial notes that counted a worse end: both ends and the cause, where something of the fund is open, and nothing elsewhere.
import { expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format } from "../../contracts/src/instant.ts";
import { engineFixture, fillOf, hold, markOf, moment, orderOf, prices } from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage } from "./decision.ts";
import type { Engine } from "./engine.ts";

const narrow = { max_notional: 1e9, max_position_pct: 0.5, max_gross_exposure_pct: 0.1, strict_sides: false };

function begun(): Engine {
  const engine = engineFixture(narrow, { priceJumpMax: decimal.parse("0.25") });
  engine.noteClock(moment(0));
  for (const [symbol, price] of Object.entries(prices)) engine.setMark(markOf(symbol, price, moment(0)));
  return engine;
}

/** The figures of the gate that denied, by name. */
function denied(engine: Engine, id: string, symbol: string, quantity: string) {
  const decision = decisionMessage(engine.check(orderOf(id, { symbol, quantity }), moment(2_000)), id);
  const failed = decision.checks.find(({ result }) => result === "FAILED");
  return { code: decision.code, ...Object.fromEntries(failed?.figures.map(({ name, value }) => [name, value]) ?? []) };
}

it("a denial by a limit notes both ends and the cause while a fill waits that nobody vouches for", () => {
  const engine = begun();
  hold(engine, "alpha", "XOM", "10");
  expect(denied(engine, "before", "XOM", "2000")).toMatchObject({ code: "GROSS_EXPOSURE_EXCEEDED" });
  expect(denied(engine, "before-2", "XOM", "2000")).not.toHaveProperty("open");
  const fill = fillOf(orderOf("f"), "100");
  const { fill_id, order_id, fund_id, symbol, price, side, quantity } = fill;
  engine.acceptance.open({
    block_id: "block-1",
    cause: "FILL_WITHOUT_ORDER",
    fund_id,
    symbol,
    fill: { fill_id, order_id, price, is_exit: false, side, quantity },
    reason: "nobody knows",
    at: format(moment(1)),
  });
  engine.applyFill(fill);
  expect(denied(engine, "beside", "XOM", "900")).toMatchObject({
    code: "GROSS_EXPOSURE_EXCEEDED",
    used_worst: "21000.00",
    used_least: "1000.00",
    allowed: "100000.00",
    open: "nobody vouches for fills of AAPL",
  });
});

it("a denial by a limit notes how much more the fund's value may allow", () => {
  const engine = begun();
  hold(engine, "alpha", "XOM", "10");
  hold(engine, "alpha", "AAPL", "100");
  const said = { fund_id: "alpha", nav: "1080000", currency: "USD", as_of: format(moment(1_000)) };
  engine.noteClock(moment(1_000));
  // The fund holds it, so any value between those at its two prices is explained, and the lower one counts.
  engine.setMark(markOf("AAPL", "1000", moment(1_000)));
  engine.values.take(said, engine.values.judge(said, true), true);
  const figures = denied(engine, "higher", "XOM", "2000");
  expect(figures).toMatchObject({ allowed: "100000.00", allowed_most: "108000.00" });
  expect(figures).toMatchObject({ used_worst: "101000.00", used_least: "21000.00" });
  expect(figures).toMatchObject({ open: "prices of AAPL are not confirmed; the fund's value is not vouched for" });
});
