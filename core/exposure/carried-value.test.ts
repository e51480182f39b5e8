// What a fund should be worth, against a plain valuation of its cash and holdings, through random fills, fees, prices, rates, busts and splits.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import { engineFixture, fillOf, markOf, moment, orderOf, prices } from "../../testkit/risk/engine-fixture.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import type { Engine } from "../engine/engine.ts";

const symbols = ["AAPL", "MSFT", "XOM", "SAP", "SPY-C500"] as const;
const multiplierOf = (symbol: string): number => (symbol.startsWith("SPY-") ? 100 : 1);
const eurUsd = 1.08;
const rateOf = (symbol: string): number => (symbol === "SAP" ? eurUsd : 1);

const navOf = (value: number, second: number): NavUpdated => ({
  fund_id: "alpha",
  nav: value.toFixed(6),
  currency: "USD",
  as_of: format(moment(second * 1_000)),
});
const carried = (engine: Engine, second: number): number =>
  decimal.toNumber(engine.values.judge(navOf(1, second), false).low);

describe("a carried value", () => {
  it("1, 2: is what cash and holdings are worth, whatever the order of fills and prices", () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = prng(seed);
      const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
      const engine = engineFixture();
      const held = new Map<string, number>();
      const priceOf = new Map(Object.entries(prices).map(([symbol, price]) => [symbol, Number(price)]));
      let cash = 1_000_000;
      const worth = (): number =>
        [...held].reduce(
          (sum, [symbol, quantity]) =>
            sum + quantity * (priceOf.get(symbol) ?? 0) * multiplierOf(symbol) * rateOf(symbol),
          cash,
        );
      const first = navOf(cash, 1);
      engine.values.take(first, engine.values.judge(first, false), false);
      for (let step = 2; step < 40; step += 1) {
        const symbol = pick(symbols);
        if (random.below(3) === 0) {
          const price = Math.round((priceOf.get(symbol) ?? 0) * (80 + random.below(41))) / 100;
          priceOf.set(symbol, price);
          engine.setMark(markOf(symbol, String(price), moment(step * 1_000)));
        } else {
          const [side, direction] = pick([["BUY", 1] as const, ["SELL", -1] as const]);
          const quantity = 1 + random.below(90);
          const price = Math.round((priceOf.get(symbol) ?? 0) * (95 + random.below(11))) / 100;
          const fee = random.below(500) / 100;
          const order = orderOf(`c-${seed}-${step}`, { symbol, side });
          const fill = { ...fillOf(order, String(quantity)), price: String(price), fee: String(fee), currency: "USD" };
          engine.applyFill(fill);
          if (random.below(5) === 0) {
            const other = side === "BUY" ? "SELL" : "BUY";
            engine.applyReversal({ ...fill, side: other, fee: String(-fee), kind: "BUST", bust_id: "b" });
          } else {
            held.set(symbol, (held.get(symbol) ?? 0) + direction * quantity);
            cash -= direction * quantity * price * multiplierOf(symbol) * rateOf(symbol) + fee;
          }
        }
        expect(carried(engine, step)).toBeCloseTo(worth(), 4);
      }
    }
  });

  it("3: does not change with a split, also before the first price in the new terms", () => {
    const engine = engineFixture();
    engine.applyFill(fillOf(orderOf("s"), "500"));
    const first = navOf(1_000_000, 1);
    engine.values.take(first, engine.values.judge(first, false), false);
    engine.setHeldSymbols([{ symbol: "AAPL", reason: "a split", since: moment(0) }]);
    engine.applyFill({ ...fillOf(orderOf("s"), "500", 2), price: "0", kind: "CORPORATE_ACTION" });
    expect(carried(engine, 2)).toBe(1_000_000);
    engine.setHeldSymbols([]);
    engine.setMark(markOf("AAPL", "100", moment(3_000)));
    expect(carried(engine, 3)).toBe(1_000_000);
    engine.setMark(markOf("AAPL", "101", moment(4_000)));
    expect(carried(engine, 4)).toBe(1_001_000);
  });

  it("does not explain what a position without a price made", () => {
    const engine = engineFixture();
    engine.applyFill({ ...fillOf(orderOf("u", { symbol: "NEW" }), "500"), symbol: "NEW" });
    const first = navOf(1_000_000, 1);
    engine.values.take(first, engine.values.judge(first, false), false);
    expect(engine.values.judge(navOf(1_040_000, 2), false).standing).toBe("VOUCHED");
    expect(engine.values.judge(navOf(1_060_000, 2), false).standing).toBe("UNEXPLAINED");
  });
});
