// Approvals that nobody sent: they run out, what shows later that they were sent brings them back, and an exit is not kept in by them.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import {
  engineFixture,
  engineOptions,
  fillOf,
  hold,
  moment,
  orderOf,
  transitionOf,
} from "../../testkit/risk/engine-fixture.ts";
import { decisionMessage } from "../engine/decision.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { isWhole } from "../engine/snapshot.ts";
import { nothing, toDecimal } from "../money/amount.ts";
import type { OpenOrder } from "./open-order.ts";
import type { OrderBook } from "./reservations.ts";
import { lapsedQuantity } from "./unsent-approvals.ts";

const validMs = engineOptions.approvalValidMs;
const far = instant.plusMilliseconds(moment(0), 3_600_000);

function pending(engine: Engine): readonly string[] {
  const line = engine.lines().find(({ fund_id, symbol }) => fund_id === "alpha" && symbol === "AAPL");
  return [line?.quantity ?? "0", line?.pending_buy ?? "0", line?.pending_sell ?? "0"];
}

/** An engine with one approved purchase of 100 that nobody sent. */
function approved(): Engine {
  const engine = engineFixture();
  expect(engine.check(orderOf("a", { quantity: "100" }), moment(0)).outcome).toBe("approved");
  return engine;
}

describe("22.2: an approval that is never sent", () => {
  it("expires as a whole when its time has run out, and not before (invariant 1)", () => {
    const engine = approved();
    expect(engine.expire("a", instant.plusMilliseconds(moment(0), validMs - 1))).toBeUndefined();
    expect(pending(engine)).toEqual(["0", "100", "0"]);
    expect(engine.expire("a", instant.plusMilliseconds(moment(0), validMs))).toMatchObject({ what: "ORDER" });
    expect(pending(engine)).toEqual(["0", "0", "0"]);
    expect(engine.facts().openOrders).toBe(0);
    expect(engine.approval("a")).toMatchObject({ state: "EXPIRED", reserved_quantity: "0" });
  });

  it.each(["ROUTED", "WORKING", "PARTIALLY_FILLED", "UNKNOWN", "CANCEL_PENDING"] as const)(
    "never expires after %s was reported (invariant 1)",
    (to) => {
      const engine = approved();
      engine.applyTransition(transitionOf(orderOf("a", { quantity: "100" }), to));
      expect(engine.expire("a", far)).toBeUndefined();
      expect(pending(engine)).toEqual(["0", "100", "0"]);
    },
  );

  it("expires all the same when it was merely accepted", () => {
    const engine = approved();
    engine.applyTransition(transitionOf(orderOf("a", { quantity: "100" }), "ACCEPTED"));
    expect(engine.expire("a", far)).toBeDefined();
  });

  it("never expires after a fill, or after its owner said that it was sent; which is said once", () => {
    const engine = approved();
    engine.applyFill(fillOf(orderOf("a", { quantity: "100" }), "10"));
    expect(engine.expire("a", far)).toBeUndefined();
    const other = approved();
    expect(other.confirmSent("a")).toBe("noted");
    expect(other.confirmSent("a")).toBe("known");
    expect(other.confirmSent("nobody")).toBeUndefined();
    expect(other.expire("a", far)).toBeUndefined();
    expect(other.approval("a")).toMatchObject({ state: "SENT" });
  });

  it("counts again when something shows later that it was sent (invariant 2)", () => {
    const order = orderOf("a", { quantity: "100" });
    const late = approved();
    late.expire("a", far);
    expect(late.applyTransition(transitionOf(order, "ACCEPTED")).reservedAgain).toBe(false);
    expect(pending(late)).toEqual(["0", "0", "0"]);
    expect(late.applyTransition(transitionOf(order, "WORKING")).reservedAgain).toBe(true);
    expect(pending(late)).toEqual(["0", "100", "0"]);
    expect(late.applyTransition(transitionOf(order, "WORKING")).reservedAgain).toBe(false);
    const confirmed = approved();
    confirmed.expire("a", far);
    expect(confirmed.confirmSent("a")).toBe("reserved again");
    expect(pending(confirmed)).toEqual(["0", "100", "0"]);
  });

  it("books a late fill once, and reserves the rest again", () => {
    const engine = approved();
    engine.expire("a", far);
    const effect = engine.applyFill(fillOf(orderOf("a", { quantity: "100" }), "40"));
    expect(effect).toMatchObject({ known: true, afterExpiry: true, reservedAgain: true });
    expect(pending(engine)).toEqual(["40", "60", "0"]);
  });

  it("is gone when its ending is reported late, but for what that says has traded", () => {
    const order = orderOf("a", { quantity: "100" });
    const engine = approved();
    engine.expire("a", far);
    expect(engine.applyTransition(transitionOf(order, "CANCELLED")).reservedAgain).toBe(false);
    expect(engine.facts().openOrders).toBe(0);
    const traded = approved();
    traded.expire("a", far);
    traded.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "30" }));
    expect(pending(traded)).toEqual(["0", "30", "0"]);
  });

  it("can be taken back to the last bit (invariant 3)", () => {
    const engine = approved();
    const before = JSON.stringify(engine.snapshot());
    const expiry = engine.expire("a", far);
    if (expiry === undefined) throw new Error("it did not expire");
    engine.unexpire(expiry);
    expect(JSON.stringify(engine.snapshot())).toBe(before);
  });

  it("may be asked about again under its own id, and then it is a new approval", () => {
    const engine = approved();
    engine.expire("a", far);
    const again = engine.check({ ...orderOf("a", { quantity: "70" }), idempotency_key: "again" }, moment(5));
    expect(again.outcome).toBe("approved");
    expect(pending(engine)).toEqual(["0", "70", "0"]);
    engine.withdraw(again);
    expect(engine.approval("a")).toMatchObject({ state: "EXPIRED" });
  });

  it("takes an unsent amendment back to what is in force, and knows it when it is reported all the same", () => {
    const order = orderOf("a", { quantity: "100" });
    const engine = approved();
    engine.applyTransition(transitionOf(order, "WORKING"));
    engine.check({ ...order, quantity: "250", idempotency_key: "more" }, moment(1));
    expect(pending(engine)).toEqual(["0", "250", "0"]);
    expect(engine.expire("a", far)).toMatchObject({ what: "AMENDMENT" });
    expect(pending(engine)).toEqual(["0", "100", "0"]);
    const reported = transitionOf(order, "WORKING", { quantity: "250", at: instant.format(moment(90_000)) });
    expect(engine.applyTransition(reported).reservedAgain).toBe(true);
    expect(pending(engine)).toEqual(["0", "250", "0"]);
  });

  it("is known as released when somebody released it, until something shows that it was sent", () => {
    const engine = approved();
    expect(engine.expire("a", far, "RELEASED")).toMatchObject({ what: "ORDER" });
    expect(engine.approval("a")).toMatchObject({ state: "RELEASED", reserved_quantity: "0" });
    const restored = createEngine(engineOptions);
    const snapshot = JSON.parse(JSON.stringify(engine.snapshot()));
    expect(isWhole(snapshot)).toBe(true);
    restored.restore(snapshot);
    expect(restored.approval("a")).toMatchObject({ state: "RELEASED" });
    expect(JSON.stringify(restored.snapshot())).toBe(JSON.stringify(engine.snapshot()));
    expect(restored.confirmSent("a")).toBe("reserved again");
    expect(restored.approval("a")).toMatchObject({ state: "SENT" });
    const other = approved();
    const before = JSON.stringify(other.snapshot());
    const expiry = other.expire("a", far, "RELEASED");
    if (expiry !== undefined) other.unexpire(expiry);
    expect(JSON.stringify(other.snapshot())).toBe(before);
    expect(other.expire("a", far)).toBeDefined();
    expect(other.approval("a")).toMatchObject({ state: "EXPIRED" });
  });

  it("in a snapshot that does not say whether somebody released it makes the journal be read whole", () => {
    const engine = approved();
    expect(isWhole(engine.snapshot())).toBe(true);
    engine.expire("a", far, "RELEASED");
    const snapshot = engine.snapshot();
    const before = snapshot.expired?.map(({ released: _released, ...rest }) => rest) ?? [];
    expect(isWhole({ ...snapshot, expired: before })).toBe(false);
  });

  it("survives a snapshot, expired or not", () => {
    const engine = approved();
    engine.check(orderOf("b", { quantity: "30" }), moment(1));
    engine.expire("a", instant.plusMilliseconds(moment(0), validMs));
    const restored = createEngine(engineOptions);
    restored.restore(JSON.parse(JSON.stringify(engine.snapshot())));
    expect(JSON.stringify(restored.snapshot())).toBe(JSON.stringify(engine.snapshot()));
    expect(restored.confirmSent("a")).toBe("reserved again");
    expect(restored.expire("b", far)).toBeDefined();
  });
});

describe("22.2: the proof that an exit reduces", () => {
  it("is not kept out by an unsent approval past its time, whose exposure counts all the same (invariant 4)", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    expect(engine.check(orderOf("a", { side: "SELL", quantity: "100" }), moment(0)).outcome).toBe("approved");
    const exit = (key: string) => orderOf(key, { side: "SELL", quantity: "100", reduce_only: true });
    engine.sweepUnsent(far, 0, 10_000);
    const early = engine.check(exit("early"), instant.plusMilliseconds(moment(0), validMs));
    expect(early).toMatchObject({ outcome: "denied", code: "SCHEMA_REDUCE_ONLY_UNPROVEN" });
    const late = engine.check(exit("late"), instant.plusMilliseconds(moment(0), validMs + 1));
    expect(late).toMatchObject({ outcome: "approved", classification: "REDUCE" });
    expect(pending(engine)).toEqual(["100", "0", "200"]);
  });

  it("24: is the only one to add up what lapsed: an order that closes nothing does not, however many there are", () => {
    const engine = engineFixture();
    hold(engine, "alpha", "AAPL", "100");
    for (const key of ["a", "b"]) engine.check(orderOf(key, { quantity: "10" }), moment(0));
    engine.check(orderOf("c", { side: "SELL", quantity: "20" }), moment(0));
    engine.sweepUnsent(far, 0, 10_000);
    const later = instant.plusMilliseconds(moment(0), validMs + 1);
    const lapsedFor = (order: Order) => toDecimal(engine.check(order, later).source.view.lapsed ?? nothing);
    expect(decimal.format(lapsedFor(orderOf("bought", { quantity: "1" })))).toBe("0");
    expect(decimal.format(lapsedFor(orderOf("sold", { side: "SELL", quantity: "1" })))).toBe("20");
  });

  it("24: goes through the lapsed orders of its own fund alone", () => {
    const [own, other] = [{}, {}] as unknown as [OpenOrder["fund"], OpenOrder["fund"]];
    const book = {} as OpenOrder["book"];
    const untouchable = new Proxy({} as OpenOrder, {
      get: () => {
        throw new Error("another fund's order was read");
      },
    });
    const orders = { lapsing: new Map([[book, new Map([[other, [untouchable]]])]]) } as unknown as OrderBook;
    expect(lapsedQuantity(orders, own, book, 1, undefined, far)).toBe(nothing);
    expect(() => lapsedQuantity(orders, other, book, 1, undefined, far)).toThrow("another fund's order was read");
  });
});

describe("22.2: an amendment of an order that was sent", () => {
  const order = orderOf("a", { quantity: "100" });
  const more = { ...order, quantity: "250", idempotency_key: "more" };

  /** Everything that is known of the order, whatever order it was heard in. */
  function heard(steps: readonly ((engine: Engine) => void)[]): string {
    const engine = approved();
    for (const step of steps) step(engine);
    return JSON.stringify(engine.snapshot());
  }

  it.each([
    ["before", 500, "AMENDMENT"],
    ["after", 1_500, undefined],
  ] as const)("is shown to be sent by what is dated after its approval only: %s", (_when, dated, expires) => {
    const source = approved();
    const decision = decisionMessage(source.check(more, moment(1_000)), "d2");
    const steps: ((engine: Engine) => void)[] = [
      (engine) => engine.adoptDecision(more, decision, moment(1_000)),
      (engine) => engine.applyTransition(transitionOf(order, "WORKING", { at: instant.format(moment(dated)) })),
      (engine) => engine.applyFill({ ...fillOf(order, "10"), filled_at: instant.format(moment(dated)) }),
    ];
    const orders = [
      [0, 1, 2],
      [1, 0, 2],
      [1, 2, 0],
      [2, 1, 0],
    ].map((places) => heard(places.flatMap((place) => steps[place] ?? [])));
    expect(new Set(orders).size).toBe(1);
    const engine = approved();
    for (const step of steps) step(engine);
    expect(engine.expire("a", far)?.what).toBe(expires);
  });

  it("holds nothing once it was dropped, by its key; another that waits stays, and so does the order", () => {
    const engine = approved();
    engine.applyTransition(transitionOf(order, "WORKING"));
    engine.check(more, moment(1_000));
    engine.check({ ...order, quantity: "150", idempotency_key: "less" }, moment(1_001));
    const dropped = (key: string) => transitionOf(order, "WORKING", { dropped_amendment_key: key });
    engine.applyTransition(dropped("another's"));
    expect(pending(engine)).toEqual(["0", "250", "0"]);
    expect(engine.applyTransition(dropped("more")).reservedAgain).toBe(false);
    expect(pending(engine)).toEqual(["0", "150", "0"]);
    engine.applyTransition(dropped("less"));
    engine.applyTransition(dropped("a"));
    expect(pending(engine)).toEqual(["0", "100", "0"]);
  });
});
