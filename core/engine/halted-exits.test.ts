// Exits under every reason that there is to take no new risk: what the engine proves to shrink the position passes, and what only says so does not.
import { describe, expect, test } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import {
  engineFixture,
  fillOf,
  hold,
  moment,
  orderOf,
  stand,
  transitionOf,
} from "../../testkit/risk/engine-fixture.ts";
import type { Engine } from "./engine.ts";

const since = "2026-11-15T13:30:00.000000Z";
const raised = { fund_id: "alpha", reason: "r", requested_by: "x", halt_id: "h", since, epoch: 2 };
const halted = (halt: Partial<ActiveHalt>) => (engine: Engine) =>
  engine.setHalts({ known: true, epoch: 2, active: [{ severity: "FUND_HALT", ...raised, ...halt }] });

const situations: readonly (readonly [name: string, code: string, begin: (engine: Engine) => void])[] = [
  ["the firm is halted", "FIRM_HALTED", halted({ severity: "FIRM_HALT", fund_id: "" })],
  ["the fund is halted", "FUND_HALTED", halted({})],
  ["the strategy is halted", "STRATEGY_HALTED", halted({ severity: "STRATEGY_HALT", strategy_id: "trend" })],
  [
    "a loss waits for its confirmation",
    "LOSS_CONFIRMATION_PENDING",
    (engine) => stand(engine, { code: "LOSS_CONFIRMATION_PENDING", fundId: "alpha", reason: "" }),
  ],
  [
    "a loss limit is not judged",
    "LOSS_NOT_JUDGED",
    (engine) => stand(engine, { code: "LOSS_NOT_JUDGED", fundId: "alpha", reason: "daily: r" }),
  ],
  [
    "the disk is nearly full",
    "DISK_LOW",
    (engine) => stand(engine, { code: "DISK_LOW", reason: "The disk of /data has 900 MB free" }),
  ],
  [
    "a change was not audited",
    "UNAUDITED_CHANGE",
    (engine) =>
      stand(engine, { code: "UNAUDITED_CHANGE", reason: "The row h-1 of halt was removed without its event" }),
  ],
  [
    "the audit log is behind",
    "AUDIT_UNAVAILABLE",
    (engine) =>
      stand(engine, { code: "AUDIT_UNAVAILABLE", from: moment(0), reason: "The audit log is behind since 13:29" }),
  ],
];

const sell = (id: string, quantity: string, more: Partial<Order> = {}): Order =>
  orderOf(id, { quantity, order_type: "MARKET", side: "SELL", reduce_only: true, ...more });

describe.each(situations)("%s", (_name, code, begin) => {
  function open(quantity = "100"): Engine {
    const engine = engineFixture();
    if (quantity !== "0") hold(engine, "alpha", "AAPL", quantity);
    begin(engine);
    return engine;
  }
  const unproven = "SCHEMA_REDUCE_ONLY_UNPROVEN";

  test("an exit of all of it passes, of a long and of a short position, and the next one has nothing left", () => {
    for (const [quantity, side] of [
      ["100", "SELL"],
      ["-100", "BUY_TO_COVER"],
    ] as const) {
      const engine = open(quantity);
      const exit = engine.check(sell("exit", "100", { side }), moment(0));
      expect(exit).toMatchObject({ outcome: "approved", classification: "REDUCE" });
      expect(engine.check(sell("again", "1", { side }), moment(1)).code).toBe(unproven);
    }
  });

  test("what only claims it does not: from flat, the wrong way, one too many, or beside another exit that is pending", () => {
    expect(open("0").check(sell("flat", "1"), moment(0)).code).toBe(unproven);
    expect(open().check(sell("more", "1", { side: "BUY" }), moment(0)).code).toBe(unproven);
    expect(open().check(sell("flip", "101"), moment(0)).code).toBe(unproven);
    const engine = open();
    expect(engine.check(sell("first", "60"), moment(0)).outcome).toBe("approved");
    expect(engine.check(sell("second", "60"), moment(1)).code).toBe(unproven);
    expect(engine.check(sell("rest", "40"), moment(2)).outcome).toBe("approved");
  });

  test("a reduction that is not marked, and a flip, are stopped as new risk is", () => {
    expect(open().check(sell("unmarked", "100", { reduce_only: false }), moment(0)).code).toBe(code);
    expect(open().check(sell("flip", "150", { reduce_only: false }), moment(0)).code).toBe(code);
    expect(open().check(sell("buy", "1", { side: "BUY", reduce_only: false }), moment(0)).code).toBe(code);
  });

  test("an exit that ended or traded gives back what it did not close", () => {
    const engine = open();
    const first = sell("first", "100");
    engine.check(first, moment(0));
    engine.applyFill(fillOf(first, "30"));
    engine.applyTransition(transitionOf(first, "CANCELLED", { filled_quantity: "30" }));
    expect(engine.check(sell("all", "100"), moment(1)).code).toBe(unproven);
    expect(engine.check(sell("rest", "70"), moment(2)).outcome).toBe("approved");
  });
});
