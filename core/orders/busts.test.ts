// The invariants of busts.ts, and the property that they are for: whatever the order of fills, busts and restarts, the books are those without the
// busted fills.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { engineFixture, fillOf, moment, orderOf, transitionOf } from "../../testkit/risk/engine-fixture.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import type { Engine } from "../engine/engine.ts";
import { reversalOf } from "./busts.ts";

const seed = 32_550;

const approved = (engine: Engine, order: Order): void => {
  expect(engine.check(order, moment(0)).outcome).toBe("approved");
};
const lineOf = (engine: Engine) => engine.lines().find(({ symbol }) => symbol === "AAPL");
const bust = (engine: Engine, fill: Fill): void => engine.applyReversal(reversalOf(fill, `bust-${fill.fill_id}`));

/** A new process on what the last one wrote. */
function restarted(engine: Engine): Engine {
  const fresh = engineFixture();
  fresh.restore(JSON.parse(JSON.stringify(engine.snapshot())));
  expect(fresh.snapshot()).toEqual(engine.snapshot());
  return fresh;
}

describe("a bust in the engine", () => {
  it("invariant 2: what was busted of a working order may trade again and is reserved, and the ending frees it", () => {
    let engine = engineFixture();
    const order = orderOf("o");
    approved(engine, order);
    const first = fillOf(order, "60", 1);
    engine.applyFill(first);
    expect(lineOf(engine)).toMatchObject({ quantity: "60", pending_buy: "40" });
    bust(engine, first);
    engine = restarted(engine);
    expect(lineOf(engine)).toMatchObject({ quantity: "0", pending_buy: "100" });
    // The correction: a fill under an id of its own is no overfill.
    expect(engine.applyFill(fillOf(order, "60", 2))).toMatchObject({ known: true, overfill: decimal.zero });
    expect(lineOf(engine)).toMatchObject({ quantity: "60", pending_buy: "40" });
    engine.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "60" }));
    expect(lineOf(engine)).toMatchObject({ quantity: "60", pending_buy: "0" });
    expect(engine.facts().openOrders).toBe(0);
  });

  it("invariant 3: an order that is complete or has ended does not come back, also when its ending came before its fills", () => {
    const engine = engineFixture();
    const order = orderOf("o");
    approved(engine, order);
    engine.applyTransition(transitionOf(order, "FILLED", { filled_quantity: "100" }));
    const [first, second] = [fillOf(order, "60", 1), fillOf(order, "40", 2)];
    engine.applyFill(first);
    bust(engine, first);
    // 40 were reported and have not come.
    expect(lineOf(engine)).toMatchObject({ pending_buy: "40" });
    engine.applyFill(second);
    expect(lineOf(engine)).toMatchObject({ quantity: "40", pending_buy: "0" });
    bust(engine, second);
    expect([engine.lines(), engine.facts().openOrders]).toEqual([[], 0]);
  });

  it("a fill that came before its order was asked about takes nothing from the order when it is busted", () => {
    const engine = engineFixture();
    const order = orderOf("o");
    const early = fillOf(order, "30", 1);
    engine.applyFill(early);
    approved(engine, order);
    bust(engine, early);
    expect(lineOf(engine)).toMatchObject({ quantity: "0", pending_buy: "100" });
  });

  it(`invariant 1: positions are those of the fills that were not busted, over restarts, in any order, seed ${seed}`, () => {
    for (let round = 0; round < 12; round += 1) {
      const random = prng(seed + round);
      let engine = engineFixture();
      const expected = engineFixture();
      const booked: Fill[] = [];
      let busted = 0;
      for (let step = 0; step < 60; step += 1) {
        if (random.below(12) === 0) engine = restarted(engine);
        const last = booked[random.below(booked.length + 1)];
        if (last !== undefined && random.below(3) === 0) {
          bust(engine, last);
          booked.splice(booked.indexOf(last), 1);
          busted += 1;
          continue;
        }
        const side = (["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const)[random.below(4)] ?? "BUY";
        const symbol = ["AAPL", "MSFT"][random.below(2)] ?? "AAPL";
        const order = orderOf(`o-${step}`, {
          side,
          symbol,
          strategy_id: ["trend", "value"][random.below(2)] ?? "trend",
        });
        if (random.below(2) === 0) engine.check(order, moment(step));
        const ended = transitionOf(order, "CANCELLED", { filled_quantity: "10" });
        if (random.below(2) === 0) engine.applyTransition(ended);
        const fill = { ...fillOf(order, `${1 + random.below(9)}.5`), broker: "paper" };
        engine.applyFill(fill);
        engine.applyTransition({ ...ended, filled_quantity: fill.quantity });
        booked.push(fill);
      }
      for (const fill of booked) expected.applyFill(fill);
      expect(busted).toBeGreaterThan(0);
      const held = ({ funds, brokers, strategy_positions }: ReturnType<Engine["snapshot"]>) => ({
        positions: funds.flatMap(({ fund_id, positions }) => positions.map((one) => [fund_id, ...one])),
        brokers,
        strategy_positions,
      });
      expect(held(engine.snapshot())).toEqual(held(expected.snapshot()));
      const { gross, netHigh, netLow } = expected.exposure("alpha") ?? {};
      // What is still open is what endings reported and no fill has brought.
      if (engine.facts().openOrders === 0) expect(engine.exposure("alpha")).toMatchObject({ gross, netHigh, netLow });
    }
  });
});
