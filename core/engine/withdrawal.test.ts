// Money that leaves a fund: never more than leaves every limit met, told to the cent, and gone for every decision that follows.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format } from "../../contracts/src/instant.ts";
import {
  engineFixture,
  envelopeRecord,
  hold,
  markAll,
  moment,
  orderOf,
  prices,
  stand,
  valueAll,
} from "../../testkit/risk/engine-fixture.ts";
import type { Engine } from "./engine.ts";

const seed = 237;
const at = moment(0);
const nav = 1_000_000;
const ask = (engine: Engine, amount: string, cash = "1000000", when = at) =>
  engine.reserveWithdrawal(
    { fundId: "alpha", amount: decimal.parse(amount), cash: decimal.parse(cash), at: when },
    when,
  );
const codeOf = (engine: Engine, amount: string, cash?: string) => ask(engine, amount, cash)?.code ?? "";
const mostOf = (engine: Engine): string =>
  /^At most ([\d.]+) USD/.exec(ask(engine, "99999999999")?.reason ?? "")?.[1] ?? "0";

describe("23.7: a withdrawal", () => {
  test("1: leaves NAV above zero, and passes up to the last cent of it", () => {
    expect(ask(engineFixture(), "1000000")).toEqual({
      code: "FLOW_LIMIT_EXCEEDED",
      reason:
        "At most 999999.99 USD can be withdrawn from alpha now: its NAV is 1,000,000.00 USD and must stay above zero.",
    });
    expect(codeOf(engineFixture(), "999999.99")).toBe("");
  });

  test("1: leaves every limit met: position, sector, gross, net, and an underlying with its options", () => {
    const engine = engineFixture();
    // 100,000 at a limit of 20 %.
    hold(engine, "alpha", "AAPL", "500");
    expect(ask(engine, "600000")).toEqual({
      code: "FLOW_LIMIT_EXCEEDED",
      reason:
        'At most 500000 USD can be withdrawn from alpha now: the position in "AAPL" is 100,000.00 USD, and max_position_pct allows 20 % of NAV.',
    });
    expect(codeOf(engine, "500000")).toBe("");
    const sector = engineFixture({ max_position_pct: 1 });
    hold(sector, "alpha", "AAPL", "500");
    hold(sector, "alpha", "MSFT", "500");
    expect(ask(sector, "999000")?.reason).toContain(
      'sector "technology" is 300,000.00 USD, and sector_limits_pct.technology',
    );
    const net = engineFixture({ max_position_pct: 1, sector_limits_pct: {} });
    hold(net, "alpha", "XOM", "-5000");
    expect(ask(net, "999000")?.reason).toContain("net exposure is 500,000.00 USD");
    const gross = engineFixture({
      max_position_pct: 1,
      sector_limits_pct: {},
      max_gross_exposure_pct: 0.9,
      max_net_exposure_pct: 0.9,
    });
    hold(gross, "alpha", "XOM", "-4000");
    hold(gross, "alpha", "SPY", "500");
    expect(ask(gross, "999000")?.reason).toContain("gross exposure is 640,000.00 USD");
    const options = engineFixture();
    hold(options, "alpha", "SPY-C500", "4");
    hold(options, "alpha", "SPY", "100");
    expect(ask(options, "999000")?.reason).toContain('the exposure to "SPY" with its options is 96,000.00 USD');
  });

  test("1: counts what open orders may still do", () => {
    const engine = engineFixture();
    expect(engine.check(orderOf("o-1", { quantity: "500" }), at).outcome).toBe("approved");
    expect(codeOf(engine, "500000.01")).toBe("FLOW_LIMIT_EXCEEDED");
  });

  test("2: is bounded by the cash there is, and says so", () => {
    expect(ask(engineFixture(), "100.01", "100")).toEqual({
      code: "FLOW_CASH_SHORT",
      reason: "At most 100 USD can be withdrawn from alpha now: it has 100 USD in cash.",
    });
    expect(ask(engineFixture(), "1", "-5")?.reason).toBe(
      "Nothing can be withdrawn from alpha now: it has -5 USD in cash.",
    );
  });

  test("3: is gone for the next one, for orders, and for values that were made before it", () => {
    const engine = engineFixture();
    expect([codeOf(engine, "600000"), codeOf(engine, "600000")]).toEqual(["", "FLOW_LIMIT_EXCEEDED"]);
    const order = (id: string, quantity: string) => engine.check(orderOf(id, { quantity }), at);
    // 20 % of the 400,000 that are left.
    expect(order("o-1", "401").outcome).toBe("denied");
    valueAll(engine, at);
    expect(order("o-2", "401").outcome).toBe("denied");
    // The next value tells: it was booked, or it was not.
    valueAll(engine, moment(1));
    expect(engine.check(orderOf("o-3", { quantity: "401" }), moment(1)).outcome).toBe("approved");
  });

  test("4: nothing leaves under a halt of the firm or the fund, or while nobody knows; a strategy's halt is no reason", () => {
    const halted = (severity: "FIRM_HALT" | "FUND_HALT" | "STRATEGY_HALT", fund_id: string) => {
      const engine = engineFixture();
      const halt = { severity, fund_id, halt_id: "h-1", reason: "r", requested_by: "x", since: format(at), epoch: 2 };
      engine.setHalts({
        known: true,
        epoch: 2,
        active: [{ ...halt, ...(severity === "STRATEGY_HALT" && { strategy_id: "trend" }) }],
      });
      return codeOf(engine, "1");
    };
    expect([halted("FIRM_HALT", ""), halted("FUND_HALT", "alpha")]).toEqual(["FLOW_HALTED", "FLOW_HALTED"]);
    expect([halted("FUND_HALT", "beta"), halted("STRATEGY_HALT", "alpha")]).toEqual(["", ""]);
    const unknown = engineFixture();
    unknown.setHalts({ known: false, epoch: 2, active: [] });
    expect(codeOf(unknown, "1")).toBe("FLOW_HALTED");
  });

  test("4: nothing leaves while NAV or limits cannot be evaluated", () => {
    const held = () => {
      const engine = engineFixture();
      hold(engine, "alpha", "AAPL", "1");
      return engine;
    };
    const later = (engine: Engine, ms: number) => ask(engine, "1", "1000000", moment(ms));
    expect(later(held(), 10_001)?.reason).toContain("the oldest price of a position is 10.0 s old");
    const marked = held();
    markAll(marked, moment(60_001));
    expect(later(marked, 60_001)?.reason).toContain("its NAV is 60.0 s old");
    const missing = engineFixture();
    missing.setNav({ fund_id: "alpha", nav: "1", currency: "EUR", as_of: format(moment(1)) });
    expect(later(missing, 1)?.reason).toContain("has not been valued");
    const losing = held();
    stand(losing, { code: "LOSS_NOT_JUDGED", fundId: "alpha", reason: "old" });
    expect(ask(losing, "1")).toMatchObject({ code: "FLOW_LIMITS_UNKNOWN", reason: expect.stringContaining("(old)") });
    stand(losing, { code: "LOSS_CONFIRMATION_PENDING", fundId: "alpha", reason: "" });
    expect(ask(losing, "1")?.reason).toContain("waits for its confirmation");
    const nobody = engineFixture().reserveWithdrawal({ fundId: "x", amount: decimal.one, cash: decimal.one, at }, at);
    expect(nobody?.code).toBe("FLOW_LIMITS_UNKNOWN");
    expect(
      engineFixture().reserveWithdrawal(
        { fundId: "alpha", amount: decimal.one, cash: decimal.one, at: moment(9_000) },
        at,
      )?.code,
    ).toBe("FLOW_LIMITS_UNKNOWN");
    const unpriced = held();
    hold(unpriced, "alpha", "NOBODY", "1");
    expect(ask(unpriced, "1")?.reason).toContain("NOBODY");
  });
});

const quantity = fc.integer({ min: -1_200, max: 1_200 });

test(`23.7, 1 and 2: the greatest amount that is told passes, a cent more does not, and after it every limit holds (seed ${seed})`, () => {
  let bound = 0;
  fc.assert(
    fc.property(
      fc.record({ AAPL: quantity, MSFT: quantity, XOM: quantity, SPY: quantity }),
      fc.nat(400),
      (held, ordered) => {
        const made = () => {
          const engine = engineFixture({ max_position_pct: 0.6, shorting_enabled: true });
          for (const [symbol, size] of Object.entries(held))
            if (size !== 0) hold(engine, "alpha", symbol, String(size));
          if (ordered > 0) engine.check(orderOf("o-1", { symbol: "XOM", quantity: String(ordered), side: "BUY" }), at);
          return engine;
        };
        const most = mostOf(made());
        const [largest, more] = [decimal.parse(most), decimal.add(decimal.parse(most), decimal.parse("0.01"))];
        expect(codeOf(made(), decimal.format(more), "99999999")).toBe("FLOW_LIMIT_EXCEEDED");
        if (largest <= 0n) return;
        bound += 1;
        expect(codeOf(made(), most, "99999999")).toBe("");
        // Added up here in plain numbers, from the lines alone.
        const left = nav - Number(most);
        const limits = envelopeRecord("alpha", { max_position_pct: 0.6 });
        const lines = made()
          .lines()
          .filter(({ fund_id: id }) => id === "alpha");
        const notional = lines.map(({ symbol, quantity: size, pending_buy: buys, pending_sell: sells }) => {
          const [high, low] = [Number(size) + Number(buys), Number(size) - Number(sells)].map(
            (one) => one * Number(prices[symbol]),
          );
          return { symbol, high: high ?? 0, low: low ?? 0, gross: Math.max(Math.abs(high ?? 0), Math.abs(low ?? 0)) };
        });
        const sum = (of: readonly number[]) => of.reduce((one, other) => one + other, 0);
        const technology = notional.filter(({ symbol }) => symbol === "AAPL" || symbol === "MSFT");
        const used = [
          ...notional.map(({ gross }) => gross / limits.max_position_pct),
          sum(notional.map(({ gross }) => gross)) / (limits.max_gross_exposure_pct ?? 1),
          Math.max(Math.abs(sum(notional.map(({ high }) => high))), Math.abs(sum(notional.map(({ low }) => low)))),
          sum(technology.map(({ gross }) => gross)) / 0.5,
        ];
        expect(Math.max(...used, 0)).toBeLessThanOrEqual(left + 1e-6);
        expect(Math.max(...used, 0.01)).toBeGreaterThan(left - 0.02);
      },
    ),
    { numRuns: 100, seed },
  );
  expect(bound).toBeGreaterThan(10);
});
