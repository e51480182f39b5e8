// The other end of what limits count while something is open. Numbers in the names are the invariants of other-end.ts; a twin engine stands for each set of what may
// be untrue.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { LimitUse } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../contracts/src/instant.ts";
import type { RiskBlock } from "../../contracts/src/records/block.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { engineFixture, fillOf, hold, markOf, moment, orderOf, prices } from "../../testkit/risk/engine-fixture.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import type { Engine } from "./engine.ts";
import { exposureUse, inOrder, lossUse, unusedLimits } from "./limit-use.ts";
import { leastLoss } from "./other-end.ts";

const ample = { max_notional: 1e9, max_position_pct: 0.5, max_gross_exposure_pct: 2, strict_sides: false };
const begun = (): Engine => {
  const engine = engineFixture(ample, { priceJumpMax: decimal.parse("0.25") });
  say(engine, 0, prices);
  return engine;
};

function say(engine: Engine, second: number, said: Readonly<Record<string, string>>): void {
  engine.noteClock(moment(second * 1_000));
  for (const [symbol, price] of Object.entries(said)) engine.setMark(markOf(symbol, price, moment(second * 1_000)));
}

const blockOf = ({ fill_id, order_id, fund_id, symbol, price, side, quantity }: Fill): RiskBlock => ({
  block_id: `block-${fill_id}`,
  cause: "FILL_WITHOUT_ORDER",
  fund_id,
  symbol,
  fill: { fill_id, order_id, price, is_exit: false, side, quantity },
  reason: "nobody knows",
  at: format(moment(1)),
});

function usesOf(engine: Engine): ReadonlyMap<string, LimitUse> {
  const symbols = engine.lines().flatMap(({ fund_id, symbol }) => (fund_id === "alpha" ? [symbol] : []));
  const at = moment(1_000);
  const uses = inOrder([
    ...engine.read((state) => unusedLimits(state, "alpha", at)),
    ...engine.read((state) => exposureUse(state, "alpha", symbols, at)),
  ]);
  return new Map(uses.map((use) => [`${use.limit} ${use.scope}`.trim(), use]));
}
const endsOf = (use: LimitUse | undefined) => [use?.used, use?.used_least, use?.allowed, use?.allowed_most, use?.cause];

function value(engine: Engine, nav: number, second: number): void {
  const said = { fund_id: "alpha", nav: String(nav), currency: "USD", as_of: format(moment(second * 1_000)) };
  engine.values.take(said, engine.values.judge(said, true), true);
}

describe("the other end of a limit", () => {
  it("1: is not told while nothing is open", () => {
    const engine = begun();
    hold(engine, "alpha", "AAPL", "100");
    for (const use of usesOf(engine).values())
      expect(endsOf(use).slice(1)).toEqual([undefined, use.allowed, undefined, undefined]);
  });

  it("2: is what is left without a fill that nobody vouches for, and the limits that do not count it have none", () => {
    const engine = begun();
    hold(engine, "alpha", "XOM", "10");
    const fill = fillOf(orderOf("f"), "100");
    engine.acceptance.open(blockOf(fill));
    engine.applyFill(fill);
    const uses = usesOf(engine);
    const cause = "nobody vouches for fills of AAPL";
    expect(endsOf(uses.get("max_position_pct AAPL"))).toEqual(["20000", "0", "500000", undefined, cause]);
    expect(endsOf(uses.get("max_gross_exposure_pct"))).toEqual(["21000", "1000", "2000000", undefined, cause]);
    expect(endsOf(uses.get("max_net_exposure_pct"))).toEqual(["21000", "1000", "1000000", undefined, cause]);
    expect(endsOf(uses.get("sector_limits_pct.technology technology")).slice(1, 2)).toEqual(["0"]);
    expect(endsOf(uses.get("max_position_pct XOM"))).toEqual(["1000", undefined, "500000", undefined, undefined]);
  });

  it("2: is the lower end of a price, and of a value the higher one, until each is over", () => {
    const engine = begun();
    hold(engine, "alpha", "AAPL", "100");
    say(engine, 1, { AAPL: "1000" });
    value(engine, 1_080_000, 1);
    const price = "prices of AAPL are not confirmed; the fund's value is not vouched for";
    expect(endsOf(usesOf(engine).get("max_position_pct AAPL"))).toEqual(["100000", "20000", "500000", "540000", price]);
    // A loss of 100,000 by the worse end is one of 20,000 by the better one.
    expect(engine.read(({ books }) => leastLoss(books, "alpha", decimal.parse("1100000")))).toBe(
      decimal.parse("20000"),
    );
    expect(engine.read(({ books }) => leastLoss(books, "alpha", decimal.parse("1050000")))).toBe(0n);
    engine.noteClock(moment(6_000));
    const later = usesOf(engine).get("max_position_pct AAPL");
    expect(endsOf(later)).toEqual(["100000", undefined, "500000", "540000", "the fund's value is not vouched for"]);
    value(engine, 1_080_000, 7);
    expect(endsOf(usesOf(engine).get("max_position_pct AAPL")).slice(1)).toEqual([
      undefined,
      "540000",
      undefined,
      undefined,
    ]);
    expect(engine.read(({ books }) => leastLoss(books, "alpha", decimal.parse("1100000")))).toBeUndefined();
  });

  it("2: of a loss stands beside it where it is less", () => {
    const loss = { fund_id: "alpha", limit: "daily", period: "d", loss: "5000", limit_loss: "20000", state: "JUDGED" };
    const [use] = lossUse(loss, moment(0), decimal.parse("100"));
    expect(use).toMatchObject({ used: "5000", used_least: "100", cause: "the fund's value is not vouched for" });
    for (const least of [undefined, decimal.parse("5000")]) {
      expect(lossUse(loss, moment(0), least)[0]).not.toHaveProperty("cause");
    }
  });

  it("3: is no least of a fund with options", () => {
    const engine = begun();
    hold(engine, "alpha", "SPY-C500", "1");
    hold(engine, "alpha", "AAPL", "100");
    say(engine, 1, { AAPL: "1000" });
    expect([...usesOf(engine).values()].every(({ used_least }) => used_least === undefined)).toBe(true);
  });

  it.each(Array.from({ length: 25 }, (_unused, n) => 45_000 + n))(
    "2: seed %i: holds for every set of what may be untrue",
    (seed) => {
      const random = prng(seed);
      const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
      const symbols = ["AAPL", "MSFT", "SPY", "XOM"];
      const sides = ["BUY", "SELL"];
      const [openCount, count] = [1 + random.below(3), 6];
      const fills = Array.from({ length: count }, (_unused, n) =>
        fillOf(orderOf(`f-${n}`, { symbol: pick(symbols), side: pick(sides) }), String(1 + random.below(120))),
      );
      const orders = Array.from({ length: 3 }, (_unused, n) =>
        orderOf(`o-${n}`, {
          symbol: pick(symbols),
          side: pick(["BUY", "SELL_SHORT"]),
          quantity: String(1 + random.below(50)),
        }),
      );
      const lived = (isBooked: (n: number) => boolean, isOpen: boolean): Engine => {
        const engine = begun();
        for (const order of orders) engine.check(order, moment(1));
        for (const [n, fill] of fills.entries()) {
          if (isOpen && n < openCount) engine.acceptance.open(blockOf(fill));
          if (isBooked(n)) engine.applyFill(fill);
        }
        return engine;
      };
      const told = usesOf(lived(() => true, true));
      for (let untrue = 0; untrue < 1 << openCount; untrue += 1) {
        const twin = usesOf(lived((n) => n >= openCount || (untrue & (1 << n)) === 0, false));
        for (const [limit, { used, used_least = used }] of told) {
          const true_ = decimal.parse(twin.get(limit)?.used ?? "0");
          expect(decimal.parse(used_least ?? "0") <= true_, `${limit} with set ${untrue}`).toBe(true);
          expect(decimal.parse(used ?? "0") >= true_, `${limit} with set ${untrue}`).toBe(true);
        }
      }
    },
  );
});
