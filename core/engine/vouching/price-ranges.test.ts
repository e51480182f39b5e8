// Prices that are not believed yet, in the engine: what they stop, which end counts, and that nothing is approved beside them that would not be without them.
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format } from "../../../contracts/src/instant.ts";
import {
  engineFixture,
  fillOf,
  markOf,
  moment,
  orderOf,
  prices,
  reference,
  valueAll,
} from "../../../testkit/risk/engine-fixture.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import type { Engine } from "../engine.ts";

const ample = { max_notional: 1e9, max_position_pct: 0.5, max_gross_exposure_pct: 2 };
const begun = (more = {}): Engine => {
  const engine = engineFixture({ ...ample, ...more }, { priceJumpMax: decimal.parse("0.25") });
  say(engine, 0, prices);
  return engine;
};

/** Prices as they are heard at that second of our clock. */
function say(engine: Engine, second: number, said: Readonly<Record<string, string>>, source = "test"): void {
  engine.noteClock(moment(second * 1_000));
  for (const [symbol, price] of Object.entries(said)) {
    engine.setMark({ ...markOf(symbol, price, moment(second * 1_000)), source });
  }
}
let count = 0;
function codeOf(engine: Engine, second: number, order: Parameters<typeof orderOf>[1] = {}): string {
  count += 1;
  const asked = orderOf(`p-${count}`, { quantity: "10", dry_run: true, ...order });
  return engine.check(asked, moment(second * 1_000)).code ?? "";
}
const navOf = (nav: number, second: number) => ({
  fund_id: "alpha",
  nav: String(nav),
  currency: "USD",
  as_of: format(moment(second * 1_000)),
});

describe("a price that jumped", () => {
  it("stops new risk in its symbol at once, lets exits and others pass, and is confirmed after 5 s", () => {
    const engine = begun();
    engine.applyFill(fillOf(orderOf("held"), "100"));
    say(engine, 1, { AAPL: "1000" });
    expect(codeOf(engine, 1)).toBe("PRICE_NOT_VOUCHED");
    expect(codeOf(engine, 1, { symbol: "MSFT" })).toBe("");
    expect(codeOf(engine, 1, { side: "SELL", reduce_only: true })).toBe("");
    engine.noteClock(moment(5_999));
    expect(codeOf(engine, 5.999)).toBe("PRICE_NOT_VOUCHED");
    engine.noteClock(moment(6_000));
    expect(codeOf(engine, 6)).toBe("");
  });

  it("counts what is held at the higher end, whichever way it moved", () => {
    for (const price of ["1000", "20"]) {
      const engine = begun();
      engine.applyFill(fillOf(orderOf("held"), "2400"));
      const before = engine.exposure("alpha")?.gross ?? 0n;
      say(engine, 1, { AAPL: price });
      const ratio = price === "1000" ? 5n : 1n;
      expect(engine.exposure("alpha")?.gross).toBe(before * ratio);
      say(engine, 2, { AAPL: "200" });
      expect([engine.exposure("alpha")?.gross, codeOf(engine, 2)]).toEqual([before, ""]);
    }
  });

  it("makes a value of whoever holds it a range: it counts at the lower end, and no money leaves", () => {
    const engine = begun();
    engine.applyFill(fillOf(orderOf("held"), "100"));
    say(engine, 1, { AAPL: "1000" });
    const judged = engine.values.judge(navOf(1_080_000, 1), true);
    expect([judged.standing, decimal.format(judged.counts), decimal.format(judged.best ?? decimal.zero)]).toEqual([
      "EXPLAINED",
      "1000000",
      "1080000",
    ]);
    const asked = { fundId: "alpha", amount: decimal.one, cash: decimal.parse("99999"), at: moment(1_500) };
    expect(engine.reserveWithdrawal(asked, moment(1_500))).toMatchObject({ code: "FLOW_LIMITS_UNKNOWN" });
    say(engine, 2, { AAPL: "201" });
    expect(engine.values.judge(navOf(1_080_000, 2), true).standing).toBe("VOUCHED");
    expect(engine.reserveWithdrawal({ ...asked, at: moment(2_500) }, moment(2_500))).toBeUndefined();
  });

  it("of an option is none as far as its underlying explains it", () => {
    const engine = begun();
    say(engine, 1, { "SPY-C500": "30" });
    // A quarter of 480 moves it by 30, and five times its price is no reason.
    const option = { symbol: "SPY-C500", asset_class: "OPTION", quantity: "1" };
    expect(codeOf(engine, 1, option)).toBe("");
    say(engine, 2, { "SPY-C500": "80" });
    expect(codeOf(engine, 2, option)).toBe("PRICE_NOT_VOUCHED");
  });

  it("has the bound that its instrument says", () => {
    const engine = begun();
    const instruments = reference.instruments.map((one) =>
      one.symbol === "AAPL" ? { ...one, price_jump_max: "9" } : one,
    );
    engine.setReference({ ...reference, instruments });
    say(engine, 1, { AAPL: "1000", MSFT: "2000" });
    expect([codeOf(engine, 1), codeOf(engine, 1, { symbol: "MSFT" })]).toEqual(["", "PRICE_NOT_VOUCHED"]);
  });

  it("is none after a split, which turns what it is held against", () => {
    const engine = begun();
    const was = { symbol: "AAPL", ratio: [1, 4] as const };
    engine.setHeldSymbols([{ symbol: "AAPL", reason: "a split", since: moment(0), was }]);
    engine.setHeldSymbols([]);
    say(engine, 1, { AAPL: "50" });
    expect(codeOf(engine, 1)).toBe("");
    say(engine, 2, { AAPL: "250" });
    expect(codeOf(engine, 2)).toBe("PRICE_NOT_VOUCHED");
  });

  it("is of the funds that see it alone", () => {
    const engine = begun();
    const funds = reference.funds.map((fund) =>
      fund.fund_id === "beta" ? { ...fund, mode: "LIVE" as const, valued_by: "desk" } : fund,
    );
    engine.setReference({ ...reference, funds });
    say(engine, 1, { AAPL: "200" }, "paper");
    say(engine, 2, { AAPL: "1000" });
    const live = { fund_id: "beta", strategy_id: "coins", quantity: "1" };
    expect([codeOf(engine, 2), codeOf(engine, 2, live)]).toEqual(["", "PRICE_NOT_VOUCHED"]);
  });
});

describe("sources that differ", () => {
  it("stop new risk, count at the higher end, and end when one falls silent", () => {
    const engine = begun();
    engine.applyFill(fillOf(orderOf("held"), "100"));
    engine.noteClock(moment(1_000));
    engine.compareMark({ ...markOf("AAPL", "220", moment(1_000)), source: "other" });
    expect([codeOf(engine, 1), engine.exposure("alpha")?.gross]).toEqual(["PRICE_NOT_VOUCHED", 22_000n * 10n ** 36n]);
    for (const second of [2, 3, 4, 5]) say(engine, second, { AAPL: "200" });
    expect([codeOf(engine, 5), engine.exposure("alpha")?.gross]).toEqual(["PRICE_NOT_VOUCHED", 22_000n * 10n ** 36n]);
    engine.noteClock(moment(6_000));
    expect([codeOf(engine, 6), engine.exposure("alpha")?.gross]).toEqual(["", 20_000n * 10n ** 36n]);
  });
});

describe("what is approved beside prices that are not believed", () => {
  it("is approved by what was believed before, and by what was heard since", () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = prng(seed);
      const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
      const [engine, twin, believer] = [begun(), begun(), begun()];
      for (const one of [engine, twin, believer]) {
        one.applyFill(fillOf(orderOf("h1"), "100"));
        one.applyFill({ ...fillOf(orderOf("h2", { symbol: "MSFT", side: "BUY" }), "300"), fill_id: "h2" });
        one.applyFill({ ...fillOf(orderOf("h3", { symbol: "XOM", side: "SELL_SHORT" }), "500"), fill_id: "h3" });
        valueAll(one, moment(500));
      }
      const symbol = pick(["AAPL", "MSFT", "XOM"]);
      const lie = String(Math.round(Number(prices[symbol]) * pick([0.1, 0.5, 0.7, 1.3, 2, 8])));
      say(engine, 1, { [symbol]: lie });
      // The believer takes it as the price, the twin never heard it.
      for (let second = 1; second <= 6; second += 1) say(twin, second, {});
      say(believer, 1, { [symbol]: lie });
      believer.noteClock(moment(6_000));
      for (let ask = 0; ask < 25; ask += 1) {
        const asked = {
          symbol: pick(["AAPL", "MSFT", "XOM"]),
          side: pick(["BUY", "SELL_SHORT"]),
          quantity: String(1 + random.below(4_000)),
        };
        if (codeOf(engine, 1.5, asked) !== "") continue;
        expect([seed, symbol, lie, asked, codeOf(twin, 6, asked), codeOf(believer, 6, asked)]).toEqual([
          seed,
          symbol,
          lie,
          asked,
          "",
          "",
        ]);
      }
    }
  });
});
