// Values from outside, judged by what the engine knows itself. Numbers in the names are the invariants of judge-value.ts; a twin hears the same without the lies.
import { describe, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { BlockCause, RiskBlock } from "../../../contracts/src/records/block.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { Fill } from "../../../contracts/src/records/order.ts";
import { engineFixture, fillOf, markOf, moment, orderOf, prices } from "../../../testkit/risk/engine-fixture.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import type { Engine } from "../engine.ts";

const navOf = (nav: number | string, second: number, differs: Partial<NavUpdated> = {}): NavUpdated => ({
  fund_id: "alpha",
  nav: String(nav),
  currency: "USD",
  as_of: format(moment(second * 1_000)),
  ...differs,
});

/** Hears it as the shell does; answers how it was judged. */
function hear(engine: Engine, nav: NavUpdated, isOwn = false) {
  const judged = engine.values.judge(nav, isOwn);
  engine.values.take(nav, judged, isOwn);
  return judged;
}
const standingOf = (engine: Engine, nav: NavUpdated, isOwn = false) => hear(engine, nav, isOwn).standing;

function valued(nav = 1_000_000, differs: Partial<NavUpdated> = {}): Engine {
  const engine = engineFixture();
  engine.noteClock(moment(0));
  hear(engine, navOf(nav, 1, differs));
  return engine;
}

const blockOf = (cause: BlockCause, more: Partial<RiskBlock> = {}): RiskBlock => ({
  block_id: "b-1",
  cause,
  fund_id: "alpha",
  reason: "nobody knows",
  at: format(moment(1)),
  ...more,
});
const openFill = (fill: Fill, id = "b-1"): RiskBlock => {
  const { fill_id, order_id, price, side, quantity, fee, kind, symbol } = fill;
  const about = {
    fill_id,
    order_id,
    price,
    is_exit: false,
    side,
    quantity,
    ...(fee !== undefined && { fee }),
    ...(kind !== undefined && { kind }),
  };
  return blockOf("FILL_OUTSIDE_COLLAR", { block_id: id, symbol, fill: about });
};
const ended = (cause: BlockCause, by = "duty") => ({
  block_id: "b-1",
  cause,
  fund_id: "alpha",
  ended_by: by,
  reason: "true",
  at: format(moment(2)),
});

describe("1: a value from outside", () => {
  it("is vouched for when it is the first, and explained up to the bound on both sides", () => {
    const engine = engineFixture();
    expect(standingOf(engine, navOf(1_000_000, 1))).toBe("VOUCHED");
    for (const [nav, standing] of [
      ["1050000", "VOUCHED"],
      ["1050000.01", "UNEXPLAINED"],
      ["950000", "VOUCHED"],
      ["949999.99", "UNEXPLAINED"],
    ] as const) {
      expect([nav, engine.values.judge(navOf(nav, 2), false).standing]).toEqual([nav, standing]);
    }
  });

  it("does not walk away in small steps within a day, and may in two", () => {
    const engine = valued();
    engine.noteClock(moment(1_000));
    expect(standingOf(engine, navOf(1_040_000, 2))).toBe("VOUCHED");
    expect(standingOf(engine, navOf(1_080_000, 3))).toBe("UNEXPLAINED");
    engine.noteClock(moment(86_400_000 + 2_000));
    expect(standingOf(engine, navOf(1_040_000, 4))).toBe("VOUCHED");
    expect(standingOf(engine, navOf(1_080_000, 5))).toBe("VOUCHED");
  });

  it("in which money came or went waits, whatever its size; what was accepted is what the next is judged by", () => {
    const engine = valued();
    const deposited = navOf(1_010_000, 2, { net_flows: "10000" });
    const judged = hear(engine, deposited);
    expect([judged.standing, decimal.format(judged.counts), decimal.format(judged.lost)]).toEqual([
      "UNEXPLAINED",
      "1000000",
      "1000000",
    ]);
    engine.acceptance.open(blockOf("VALUE_UNEXPLAINED", { value: engine.values.shown(deposited, judged) }));
    engine.acceptance.end(ended("VALUE_UNEXPLAINED", "riskengine"));
    expect(standingOf(engine, { ...deposited, as_of: format(moment(3_000)) })).toBe("UNEXPLAINED");
    engine.acceptance.open(
      blockOf("VALUE_UNEXPLAINED", { block_id: "b-2", value: engine.values.shown(deposited, judged) }),
    );
    engine.acceptance.end({ ...ended("VALUE_UNEXPLAINED"), block_id: "b-2" });
    expect(standingOf(engine, { ...deposited, as_of: format(moment(4_000)) })).toBe("VOUCHED");
  });

  it("is judged after a restart by the one that was kept, or by the last before one that waits", () => {
    const engine = engineFixture();
    engine.values.remember(navOf(2_000_000, 1));
    expect(standingOf(engine, navOf(2_200_000, 2))).toBe("UNEXPLAINED");
    const other = engineFixture();
    const value = {
      nav: "10000000",
      net_flows: "0",
      as_of: format(moment(1_000)),
      vouched_nav: "1000000",
      vouched_net_flows: "0",
    };
    other.acceptance.open(blockOf("VALUE_UNEXPLAINED", { value }));
    other.values.remember(navOf(10_000_000, 1));
    expect(standingOf(other, navOf(10_000_000, 2))).toBe("UNEXPLAINED");
    expect(standingOf(other, navOf(1_010_000, 3))).toBe("VOUCHED");
  });
});

describe("2, 3: while a fill is open", () => {
  const sale = { ...fillOf(orderOf("lie", { side: "SELL" }), "1000"), price: "1000" };

  it("a value of our own treasury counts at its lower end, and is vouched for otherwise", () => {
    const engine = valued();
    expect(hear(engine, navOf(3_000_000, 2), true)).toMatchObject({ standing: "VOUCHED" });
    engine.applyFill(sale);
    engine.acceptance.open(openFill(sale));
    // Sold at 1,000 what is worth 200.
    const judged = hear(engine, navOf(3_800_000, 3), true);
    expect([judged.standing, decimal.format(judged.counts), decimal.format(judged.lost)]).toEqual([
      "EXPLAINED",
      "3000000",
      "3000000",
    ]);
    engine.acceptance.end(ended("FILL_OUTSIDE_COLLAR"));
    expect(hear(engine, navOf(3_800_000, 4), true).standing).toBe("VOUCHED");
  });

  it("one leg of a cross brings what it was sold for until the other leg is there", () => {
    const engine = valued();
    hear(engine, navOf(3_000_000, 2), true);
    const leg = { ...sale, kind: "CROSS" as const };
    engine.applyFill(leg);
    engine.acceptance.open(openFill(leg));
    const judged = hear(engine, navOf(3_800_000, 3), true);
    expect([judged.standing, decimal.format(judged.counts)]).toEqual(["EXPLAINED", "3000000"]);
  });

  it("one from outside is explained with it and without it, and vouched for neither way", () => {
    const engine = valued();
    engine.applyFill(sale);
    engine.acceptance.open(openFill(sale));
    for (const [nav, standing] of [
      [1_800_000, "EXPLAINED"],
      [1_000_000, "EXPLAINED"],
      [1_400_000, "EXPLAINED"],
      [2_000_000, "UNEXPLAINED"],
      [900_000, "UNEXPLAINED"],
    ] as const) {
      const judged = engine.values.judge(navOf(nav, 2), false);
      expect([nav, judged.standing]).toEqual([nav, standing]);
      expect(judged.counts <= decimal.parse("1000000")).toBe(true);
    }
  });
});

describe("4: what is approved beside lies", () => {
  it("is approved without them, too; and what lets money out", () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = prng(seed);
      const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
      const [engine, twin] = [engineFixture(), engineFixture()];
      let cash = 1_000_000;
      const held = new Map<string, number>();
      const priceOf = new Map(Object.entries(prices).map(([symbol, price]) => [symbol, Number(price)]));
      const truth = (): number =>
        [...held].reduce((sum, [symbol, quantity]) => sum + quantity * (priceOf.get(symbol) ?? 0), cash);
      let isLying = false;
      for (const one of [engine, twin]) hear(one, navOf(truth(), 1));
      for (let step = 2; step < 30; step += 1) {
        const symbol = pick(["AAPL", "MSFT", "XOM"]);
        const kind = random.below(3);
        if (kind === 0) {
          priceOf.set(symbol, Math.round((priceOf.get(symbol) ?? 0) * (90 + random.below(21))) / 100);
          for (const one of [engine, twin])
            one.setMark(markOf(symbol, String(priceOf.get(symbol)), moment(step * 100)));
        } else if (kind === 1) {
          const quantity = 1 + random.below(60);
          const fill = {
            ...fillOf(orderOf(`t-${seed}-${step}`, { symbol }), String(quantity)),
            price: String(priceOf.get(symbol)),
          };
          for (const one of [engine, twin]) one.applyFill(fill);
          held.set(symbol, (held.get(symbol) ?? 0) + quantity);
          cash -= quantity * (priceOf.get(symbol) ?? 0);
        }
        isLying = random.below(3) > 0;
        const lie = truth() * (isLying ? pick([0.3, 0.9, 1.2, 3, 10, 1_000]) : 1);
        const flows = isLying && random.below(3) === 0 ? { net_flows: String(lie - truth()) } : {};
        hear(engine, navOf(lie, step, flows));
        hear(twin, navOf(truth(), step));
        const at = moment(step * 100);
        for (let ask = 0; ask < 3; ask += 1) {
          const asked = orderOf(`a-${seed}-${step}-${ask}`, {
            symbol: pick(["AAPL", "MSFT", "XOM"]),
            side: pick(["BUY", "SELL_SHORT"]),
            quantity: String(1 + random.below(3_000)),
            dry_run: true,
          });
          if (engine.check(asked, at).outcome === "approved")
            expect([seed, step, twin.check(asked, at).outcome]).toEqual([seed, step, "approved"]);
        }
        const amount = decimal.parse(String(1 + random.below(1_500_000)));
        const out = { fundId: "alpha", amount, cash: decimal.parse("99999999"), at };
        if (engine.reserveWithdrawal(out, at) === undefined) {
          expect([seed, step, twin.reserveWithdrawal(out, at)]).toEqual([seed, step, undefined]);
          break;
        }
      }
    }
  });
});
