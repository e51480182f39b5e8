// An exit of a halted strategy reduces what that strategy holds, whatever the fund's other strategies do; crosses move strategies and never the fund.
import { describe, expect, it } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import {
  engineFixture,
  engineOptions,
  fillOf,
  moment,
  orderOf,
  transitionOf,
} from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage, inputsOf } from "../engine/decision.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { unpackViews } from "../engine/fast/view-bytes.ts";
import { fractionAt, laneOf } from "../paper/seeded-random.ts";

const since = "2026-11-15T13:30:00.000000Z";
const raised = { fund_id: "alpha", reason: "r", requested_by: "x", halt_id: "h", since, epoch: 2 };
const ofStrategy: ActiveHalt = { ...raised, severity: "STRATEGY_HALT", strategy_id: "trend" };
const ofFund: ActiveHalt = { ...raised, severity: "FUND_HALT", halt_id: "f" };
const halt = (engine: Engine, ...active: readonly ActiveHalt[]) => engine.setHalts({ known: true, epoch: 2, active });
const unproven = "STRATEGY_REDUCTION_UNPROVEN";
const exceeding = "EXIT_EXCEEDS_STRATEGY";

const exit = (id: string, quantity: string, more: Partial<Order> = {}): Order =>
  orderOf(id, { side: "SELL", quantity, reduce_only: true, ...more });

let fills = 0;
/** Bought by that strategy; sold when negative. */
function trade(engine: Engine, strategy_id: string, quantity: string, more: Partial<Fill> = {}): void {
  fills += 1;
  const side = quantity.startsWith("-") ? "SELL" : "BUY";
  const order = orderOf(`fill-${fills}`, { strategy_id, side });
  engine.applyFill({ ...fillOf(order, quantity.replace("-", "")), ...more });
}
const cross = (engine: Engine, from: string, to: string, quantity: string): void => {
  trade(engine, from, `-${quantity}`, { kind: "CROSS", broker: "internal" });
  trade(engine, to, quantity, { kind: "CROSS", broker: "internal" });
};
const held = (engine: Engine) =>
  engine.snapshot().strategy_positions?.map(([, strategy, , quantity]) => [strategy, quantity]);

describe("23.3: an exit of a halted strategy", () => {
  it("does not open a short against what another strategy holds", () => {
    const engine = engineFixture();
    trade(engine, "value", "100");
    expect(engine.check(exit("open", "100", { dry_run: true }), moment(0)).code).toBe(exceeding);
    halt(engine, ofStrategy);
    const denied = engine.check(exit("none", "100"), moment(1));
    expect([denied.code, denied.gate, denied.classification]).toEqual([unproven, "drawdown_halt", "REDUCE"]);
    expect(denied.reason).toBe(
      "The strategy is halted, so its exits must reduce its own position as well as the fund's: the strategy itself holds 0.",
    );
    // A fund's halt asks for the fund's position alone, but does not take the strategy's halt away.
    halt(engine, ofFund);
    expect(engine.check(exit("fund", "1"), moment(2)).code).toBe(exceeding);
    const stop = engine.check(exit("stop-1", "1"), moment(2), { actor: "service:oms", isPlatform: true });
    expect(stop.code).toBe("");
    halt(engine, ofFund, ofStrategy);
    expect(engine.check(exit("both", "1"), moment(3)).code).toBe(unproven);
    engine.setHalts({ known: false, epoch: 2, active: [] });
    expect(engine.check(exit("unknown", "1"), moment(4)).code).toBe(unproven);
  });

  it("passes up to what the strategy holds beyond its own other orders, and says that it reduces it", () => {
    const engine = engineFixture();
    trade(engine, "trend", "60");
    trade(engine, "value", "100");
    halt(engine, ofStrategy);
    expect(engine.check(exit("more", "61"), moment(0)).code).toBe(unproven);
    const first = exit("first", "40");
    const passed = engine.check(first, moment(1));
    expect(decisionMessage(passed, "d")).toMatchObject({ approved: true, reduces_strategy: true });
    const second = engine.check(exit("second", "21"), moment(2));
    expect(second.code).toBe(unproven);
    expect(second.reason).toMatch(/itself holds 60, of which its other open orders may sell 40\.$/);
    // Another strategy's orders take nothing from it; an amendment is not counted against itself.
    halt(engine);
    expect(engine.check(exit("other", "50", { strategy_id: "value" }), moment(3)).code).toBe("");
    halt(engine, ofStrategy);
    const amended = { ...exit("first", "60"), idempotency_key: "more-of-it" };
    expect(engine.check(amended, moment(4)).code).toBe("");
    engine.applyTransition(transitionOf(first, "CANCELLED", { filled_quantity: "0" }));
    expect(engine.check(exit("again", "60"), moment(5)).code).toBe("");
  });

  it("reduces a short position of its own with BUY, and of nobody else", () => {
    const engine = engineFixture();
    trade(engine, "trend", "-30");
    trade(engine, "value", "-30");
    halt(engine, ofStrategy);
    for (const side of ["BUY", "BUY_TO_COVER"]) {
      expect(engine.check(exit(`${side}-31`, "31", { side }), moment(0)).code).toBe(unproven);
      expect(engine.check(exit(`${side}-30`, "30", { side, dry_run: true }), moment(0)).code).toBe("");
    }
    expect(engine.check(exit("61", "61", { side: "BUY" }), moment(1)).code).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
  });

  it("does not count an approval of its strategy that nobody sent in time", () => {
    const engine = engineFixture();
    trade(engine, "trend", "60");
    trade(engine, "value", "100");
    expect(engine.check(exit("unsent", "60"), moment(0)).code).toBe("");
    halt(engine, ofStrategy);
    expect(engine.check(exit("early", "60"), moment(5_000)).code).toBe(unproven);
    engine.sweepUnsent(moment(6_000), 0, 100);
    expect(engine.check(exit("late", "60"), moment(6_000)).code).toBe("");
  });

  it("was proven then and there only: an approval without the mark says nothing of its strategy", () => {
    const engine = engineFixture();
    trade(engine, "value", "100");
    const of = (more: Partial<Order>) =>
      decisionMessage(engine.check(orderOf("o", more), moment(0)), "d").reduces_strategy;
    expect(of({ side: "SELL", quantity: "1", reduce_only: true, dry_run: true })).toBeUndefined();
    expect(of({ side: "SELL", quantity: "1", strategy_id: "value", dry_run: true })).toBeUndefined();
    expect(of({ side: "SELL", quantity: "1", strategy_id: "value", reduce_only: true, dry_run: true })).toBe(true);
  });

  it("has what it read in its record", () => {
    const engine = engineFixture();
    trade(engine, "trend", "60");
    halt(engine, ofStrategy);
    const bytes = inputsOf(engine.check(exit("a", "60"), moment(0)));
    const [{ view }] = unpackViews(bytes);
    expect(view).toMatchObject({ strategyHalted: true, strategyPosition: 60n * 10n ** 18n });
  });
});

describe("45.5: a marked exit closes what its own strategy holds", () => {
  it("two exits of one strategy do not take it below zero while another one holds the rest", () => {
    const engine = engineFixture();
    trade(engine, "trend", "100");
    trade(engine, "value", "100");
    expect(engine.check(exit("first", "60"), moment(0)).code).toBe("");
    const second = engine.check(exit("second", "60"), moment(1));
    expect([second.code, second.gate, second.classification]).toEqual([exceeding, "short_side", "REDUCE"]);
    expect(decisionMessage(second, "d").closing_quantity_allowed).toBe("40");
    expect(second.reason).toBe(
      'The strategy "trend" holds 100 "AAPL", of which its other open orders may sell 60; a marked exit of it may sell at most 40.',
    );
    expect(engine.check(exit("rest", "40"), moment(2)).code).toBe("");
    // What the other one holds is its own to sell.
    expect(engine.check(exit("other", "100", { strategy_id: "value" }), moment(3)).code).toBe("");
  });

  it("an unmarked order is judged by the fund's position, and its denial says what a marked one might close", () => {
    const engine = engineFixture();
    trade(engine, "trend", "40");
    trade(engine, "value", "60");
    const plain = { reduce_only: undefined } as const;
    expect(engine.check(exit("plain", "100", { ...plain, dry_run: true }), moment(0)).code).toBe("");
    const more = engine.check(exit("more", "101", plain), moment(1));
    expect([more.code, decisionMessage(more, "d").closing_quantity_allowed]).toEqual(["SELL_EXCEEDS_LONG", "40"]);
  });

  it("a stop and a flattened fund close what the fund holds, and nobody else under their names", () => {
    const engine = engineFixture();
    trade(engine, "value", "100");
    const platform = { actor: "service:oms", isPlatform: true };
    const desk = { actor: "service:desk", isPlatform: false };
    const of = (id: string) => exit(id, "100", { dry_run: true });
    for (const id of ["stop-1", "flatten-1/2"]) expect(engine.check(of(id), moment(0), platform).code).toBe("");
    expect(engine.check(of("stop-1"), moment(1), desk).code).toBe(exceeding);
    expect(engine.check(of("tv-1"), moment(2), platform).code).toBe(exceeding);
    const [{ view }] = unpackViews(inputsOf(engine.check(of("stop-2"), moment(3), platform)));
    expect(view.closesForFund).toBe(true);
  });
});

describe("23.3: SELL_SHORT with reduce_only", () => {
  it("is no order, whatever is held", () => {
    for (const quantity of ["0", "100", "-100"]) {
      const engine = engineFixture();
      if (quantity !== "0") trade(engine, "trend", quantity);
      const { code, gate, reason } = engine.check(exit("short", "10", { side: "SELL_SHORT" }), moment(0));
      expect([code, gate]).toEqual(["SCHEMA_SHORT_NOT_REDUCING", "schema"]);
      expect(reason).toMatch(/close a long position with SELL\.$/);
    }
  });
});

describe("23.3: what strategies hold", () => {
  it("a cross moves both strategies and neither the fund nor a broker, also between its two fills", () => {
    const engine = engineFixture();
    trade(engine, "trend", "100", { broker: "paper" });
    trade(engine, "value", "-100", { broker: "paper" });
    const before = engine.snapshot();
    trade(engine, "trend", "-100", { kind: "CROSS", broker: "internal" });
    expect(engine.snapshot()).toMatchObject({ funds: before.funds, brokers: before.brokers });
    // Nothing that the other side could be closed against.
    const opposite = exit("between", "1", { side: "BUY", strategy_id: "value" });
    expect(engine.check(opposite, moment(0)).code).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
    trade(engine, "value", "100", { kind: "CROSS", broker: "internal" });
    expect(engine.snapshot()).toMatchObject({ funds: before.funds, brokers: before.brokers, strategy_positions: [] });
  });

  it("is the sum of the fills, survives a restart, and no exit of a halted strategy ever crosses its zero (invariants 1, 2 and 3)", () => {
    const lane = laneOf(23_003, "strategies");
    let drawn = 0;
    const random = (): number => {
      drawn += 1;
      return fractionAt(lane, drawn);
    };
    const engine = engineFixture();
    halt(engine, ofStrategy);
    const sums = new Map([
      ["trend", 0],
      ["value", 0],
    ]);
    const resting: { readonly order: Order; readonly quantity: number }[] = [];
    let passed = 0;
    for (let step = 1; step <= 600; step += 1) {
      const strategy = random() < 0.5 ? "trend" : "value";
      const quantity = 1 + Math.floor(random() * 50);
      const own = sums.get(strategy) ?? 0;
      const kind = random();
      if (kind < 0.4) {
        const change = own > 100 || (own > -100 && random() < 0.5) ? -quantity : quantity;
        trade(engine, strategy, String(change));
        sums.set(strategy, own + change);
      } else if (kind < 0.5) {
        cross(engine, "trend", "value", String(quantity));
        sums.set("trend", (sums.get("trend") ?? 0) - quantity);
        sums.set("value", (sums.get("value") ?? 0) + quantity);
      } else if (kind < 0.8) {
        const trend = sums.get("trend") ?? 0;
        const side = random() < 0.5 ? "SELL" : "BUY";
        const order = exit(`exit-${step}`, String(quantity), { side });
        if (engine.check(order, moment(step)).code !== "") continue;
        passed += 1;
        const pending = resting.filter((one) => one.order.side === side).reduce((sum, one) => sum + one.quantity, 0);
        expect(quantity + pending).toBeLessThanOrEqual(side === "SELL" ? trend : -trend);
        resting.push({ order, quantity });
      } else {
        for (const { order } of resting.splice(0)) {
          engine.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "0" }));
        }
      }
      const expected = [...sums].filter(([, sum]) => sum !== 0).map(([name, sum]) => [name, String(sum)]);
      expect(held(engine)).toEqual(expected);
    }
    expect(passed).toBeGreaterThan(10);
    const snapshot = engine.snapshot();
    const restored = createEngine(engineOptions);
    restored.restore(JSON.parse(JSON.stringify(snapshot)));
    expect(JSON.stringify(restored.snapshot())).toBe(JSON.stringify(snapshot));
  });
});
