// Fills that nobody vouches for: whichever set of them is untrue, no limit is judged by less than what the fund holds then, and by no more than the worst of these
// sets. Compared with an engine for each set.
import { describe, expect, it } from "vitest";
import * as instant from "../../contracts/src/instant.ts";
import type { RiskBlock } from "../../contracts/src/records/block.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { engineFixture, fillOf, markOf, moment, orderOf, prices } from "../../testkit/risk/engine-fixture.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import type { Engine } from "../engine/engine.ts";

const ample = { max_position_pct: 100, max_gross_exposure_pct: 500, max_net_exposure_pct: 500, max_notional: 1e9 };
const symbols = ["AAPL", "MSFT", "SAP", "SPY", "SPY-C500", "SPY-P400"] as const;
const kinds = [undefined, undefined, "SEED", "ADJUSTMENT", "CROSS"] as const;
const at = moment(1);

const blockOf = ({ fill_id, order_id, fund_id, symbol, price, side, quantity, kind }: Fill): RiskBlock => ({
  block_id: `block-${fill_id}`,
  cause: "FILL_WITHOUT_ORDER",
  fund_id,
  symbol,
  fill: { fill_id, order_id, price, is_exit: false, side, quantity, ...(kind !== undefined && { kind }) },
  reason: "nobody knows",
  at: instant.format(at),
});
const endOf = (fill: Fill) => {
  const { block_id, cause, fund_id, symbol } = blockOf(fill);
  return { block_id, cause, fund_id, symbol: symbol ?? "", ended_by: "duty", reason: "true", at: instant.format(at) };
};

interface Life {
  readonly orders: readonly ReturnType<typeof orderOf>[];
  readonly fills: readonly Fill[];
  /** How many of the fills nobody vouches for, from the first on. */
  readonly openCount: number;
}

function lifeOf(seed: number): Life {
  const random = prng(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
  const orders = Array.from({ length: 4 }, (_unused, n) => {
    const symbol = pick(["AAPL", "MSFT", "SPY"]);
    return orderOf(`o-${n}`, { symbol, side: pick(["BUY", "SELL_SHORT"]), quantity: String(1 + random.below(50)) });
  });
  const fills = Array.from({ length: 7 }, (_unused, n): Fill => {
    const order = orderOf(`f-${n}`, { symbol: pick(symbols), side: pick(["BUY", "SELL"]) });
    const kind = pick(kinds);
    return { ...fillOf(order, String(1 + random.below(120))), ...(kind !== undefined && { kind }) };
  });
  return { orders, fills, openCount: 1 + random.below(4) };
}

function engineOf({ orders }: Life): Engine {
  const engine = engineFixture(ample);
  for (const order of orders) expect(engine.check(order, at).outcome).toBe("approved");
  return engine;
}

/** As it would be if just those of the open fills were untrue: a fill that is, moved nothing, and a cross that is, was a trade. */
function withUntrue(life: Life, untrue: number): Engine {
  const engine = engineOf(life);
  for (const [n, fill] of life.fills.entries()) {
    const isUntrue = n < life.openCount && (untrue & (1 << n)) !== 0;
    const { kind: _kind, ...trade } = fill;
    if (!isUntrue) engine.applyFill(fill);
    else if (fill.kind === "CROSS") engine.applyFill(trade);
  }
  return engine;
}

function figuresOf(engine: Engine) {
  const { gross, netHigh, netLow, sectors } = engine.exposure("alpha") ?? expect.fail("no fund");
  const of = (sector: string): bigint => sectors.get(sector) ?? 0n;
  return { gross, netHigh, netLow, technology: of("technology"), index: of("index"), options: of("options") };
}

const largest = (values: readonly bigint[]): bigint => values.reduce((one, other) => (other > one ? other : one));
const least = (values: readonly bigint[]): bigint => values.reduce((one, other) => (other < one ? other : one));

describe("fills that nobody vouches for", () => {
  it.each(Array.from({ length: 40 }, (_unused, n) => 85_000 + n))(
    "seed %i: invariant 1 and 2, over every set",
    (seed) => {
      const life = lifeOf(seed);
      const engine = engineOf(life);
      const open = life.fills.slice(0, life.openCount);
      for (const fill of open) engine.acceptance.open(blockOf(fill));
      for (const fill of life.fills) engine.applyFill(fill);
      // Prices move while they are open.
      const moves = { AAPL: "190", SPY: "481.5" };
      for (const [symbol, price] of Object.entries({ ...prices, ...moves })) engine.setMark(markOf(symbol, price, at));
      const all = Array.from({ length: 2 ** life.openCount }, (_unused, untrue) => {
        const one = withUntrue(life, untrue);
        for (const [symbol, price] of Object.entries({ ...prices, ...moves })) one.setMark(markOf(symbol, price, at));
        return figuresOf(one);
      });
      const worst = {
        gross: largest(all.map(({ gross }) => gross)),
        netHigh: largest(all.map(({ netHigh }) => netHigh)),
        netLow: least(all.map(({ netLow }) => netLow)),
        technology: largest(all.map(({ technology }) => technology)),
        index: largest(all.map(({ index }) => index)),
        options: largest(all.map(({ options }) => options)),
      };
      expect(figuresOf(engine)).toEqual(worst);
      // A snapshot has the same ends.
      const restored = engineFixture(ample);
      restored.restore(JSON.parse(JSON.stringify(engine.snapshot())));
      for (const [symbol, price] of Object.entries({ ...prices, ...moves }))
        restored.setMark(markOf(symbol, price, at));
      expect(figuresOf(restored)).toEqual(worst);
      // Invariant 3.
      for (const fill of open) engine.acceptance.end(endOf(fill));
      expect(figuresOf(engine)).toEqual(all[0]);
      const linesOf = (one: Engine): readonly string[] =>
        one
          .lines()
          .map((line) => JSON.stringify(line))
          .sort();
      expect(linesOf(engine)).toEqual(linesOf(withUntrue(life, 0)));
    },
  );

  it("are no open orders for whoever proves an exit, and none in what is listed", () => {
    const engine = engineFixture(ample);
    const fill = fillOf(orderOf("theirs"), "100");
    engine.acceptance.open(blockOf(fill));
    engine.applyFill(fill);
    expect(engine.lines()).toMatchObject([{ symbol: "AAPL", quantity: "100", pending_sell: "0" }]);
    const exit = orderOf("exit", { side: "SELL", quantity: "100", reduce_only: true });
    expect(engine.check(exit, at)).toMatchObject({ outcome: "approved", classification: "REDUCE" });
    const again = orderOf("again", { side: "SELL", quantity: "1", reduce_only: true });
    expect(engine.check(again, at)).toMatchObject({ outcome: "denied" });
  });

  it("keep what a fill that is untrue would have closed: a sale of everything hides no exposure", () => {
    const engine = engineFixture(ample);
    engine.applyFill(fillOf(orderOf("ours"), "100"));
    const sale: Fill = { ...fillOf(orderOf("theirs"), "100"), side: "SELL" };
    engine.acceptance.open(blockOf(sale));
    engine.applyFill(sale);
    expect(engine.lines()).toEqual([]);
    expect(figuresOf(engine)).toMatchObject({ gross: 20_000n * 10n ** 36n, netHigh: 20_000n * 10n ** 36n, netLow: 0n });
    engine.acceptance.end(endOf(sale));
    expect(figuresOf(engine).gross).toBe(0n);
  });
});
