// What the steps of an order's life are for a regulator, and that their arrival makes no difference.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { FiledOrder, LifeStep } from "../../contracts/src/records/filing.ts";
import type { OrderState } from "../../contracts/src/records/values.ts";
import { eventsOfLife } from "./life.ts";

const start = parse("2026-11-13T14:30:00.000001Z");
const at = (ms: number) => plusMilliseconds(start, ms);

const order: FiledOrder = {
  order_id: "o-1",
  fund_id: "alpha",
  symbol: "AAPL",
  side: "BUY",
  quantity: "500",
  order_type: "LIMIT",
  limit_price: "190.25",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
};
const created: LifeStep = { kind: "created", id: "s-0", at: start, order };

function moved(ms: number, to: OrderState, more: Partial<Extract<LifeStep, { kind: "moved" }>> = {}): LifeStep {
  return { kind: "moved", id: `s-${String(ms).padStart(6, "0")}`, at: at(ms), to, filledQuantity: "0", ...more };
}

const told = (...steps: readonly LifeStep[]): readonly string[] =>
  eventsOfLife(steps).map(({ type, at: when }) => `${type} ${Math.round((when - start) / 1_000)}`);

const through = [created, moved(1, "ACCEPTED"), moved(2, "ROUTED"), moved(3, "WORKING")] as const;

describe("a life", () => {
  it("2: begins when the check was passed, stamped with its receipt", () => {
    expect(told(created)).toEqual([]);
    expect(told(created, moved(1, "REJECTED", { code: "POSITION_LIMIT_EXCEEDED" }))).toEqual([]);
    expect(told(created, moved(1, "CANCELLED"))).toEqual([]);
    expect(told(created, moved(1, "ACCEPTED"))).toEqual(["new_order 0"]);
    expect(told(...through.slice(1))).toEqual([]);
  });

  it("3: has a route once it was sent, stamped with ROUTED, and one only", () => {
    expect(told(...through)).toEqual(["new_order 0", "order_routed 2"]);
    expect(told(...through.slice(0, 3))).toEqual(["new_order 0"]);
    expect(told(...through.slice(0, 3), moved(4, "UNKNOWN"), moved(5, "ROUTED"), moved(6, "WORKING"))).toEqual([
      "new_order 0",
      "order_routed 2",
    ]);
    const filled: LifeStep = { kind: "filled", id: "f-1", at: at(5) };
    expect(told(...through.slice(0, 3), filled)).toEqual(["new_order 0", "order_routed 2"]);
  });

  it("3: of a foreign system that never tells that it sends is stamped with what shows it", () => {
    const works = [moved(1, "ACCEPTED"), moved(3, "WORKING")];
    expect(told(created, ...works)).toEqual(["new_order 0"]);
    expect(told({ ...created, isForeign: true } as LifeStep, ...works)).toEqual(["new_order 0", "order_routed 3"]);
  });

  it("3: that was withdrawn unsent is cancelled without a route", () => {
    const withdrawn = moved(4, "REJECTED", { code: "APPROVAL_EXPIRED" });
    expect(told(...through.slice(0, 3), withdrawn)).toEqual(["new_order 0", "order_cancelled 4"]);
  });

  it("5: that the broker refused is routed, rejected and cancelled", () => {
    const refused = moved(4, "REJECTED", { code: "ORDER_BROKER_REJECTED" });
    expect(told(...through.slice(0, 3), refused)).toEqual([
      "new_order 0",
      "order_routed 2",
      "route_rejected 4",
      "order_cancelled 4",
    ]);
  });

  it("5: that is cancelled after a part of it traded cancels the rest", () => {
    const events = eventsOfLife([...through, moved(9, "CANCELLED", { filledQuantity: "200" })]);
    expect(events.map(({ type }) => type)).toEqual(["new_order", "order_routed", "route_cancelled", "order_cancelled"]);
    expect(events.at(-1)?.details).toEqual({ cancel_quantity: "300", leaves_quantity: "0", initiator: "F" });
  });

  it("5: that a person asked to be cancelled is the customer's; what the firm asked first stays the firm's", () => {
    const initiators = (...steps: readonly LifeStep[]): unknown =>
      eventsOfLife([...through, ...steps]).find(({ type }) => type === "order_cancelled")?.details.initiator;
    const byPerson = { askedBy: "operator:duty" };
    expect(initiators(moved(9, "CANCELLED"))).toBe("F");
    expect(initiators(moved(8, "CANCEL_PENDING", byPerson), moved(9, "CANCELLED"))).toBe("C");
    expect(initiators(moved(8, "CANCEL_PENDING"), moved(9, "CANCELLED", byPerson))).toBe("F");
    expect(initiators(moved(9, "CANCELLED", byPerson))).toBe("C");
    const refused = moved(9, "REJECTED", { code: "ORDER_BROKER_REJECTED" });
    expect(initiators(moved(8, "CANCEL_PENDING", byPerson), refused)).toBe("F");
  });

  it("6: has the terms that were approved where nobody published the order, and its own where somebody did", () => {
    const decided: LifeStep = { kind: "decided", id: "d-0", at: at(-5), order: { ...order, quantity: "300" } };
    const works = [moved(1, "ACCEPTED"), moved(3, "WORKING")];
    const events = eventsOfLife([decided, ...works]);
    expect(events.map(({ type, at: when, order: of }) => [type, when, of.quantity])).toEqual([
      ["new_order", at(-5), "300"],
      ["order_routed", at(3), "300"],
    ]);
    expect(told(decided)).toEqual([]);
    expect(eventsOfLife([decided, created, ...works])[0]?.order.quantity).toBe("500");
  });

  it("5: that fills or expires ends without a word", () => {
    for (const to of ["FILLED", "EXPIRED"] as const) {
      expect(told(...through, moved(9, to), moved(10, "CANCELLED"))).toEqual(["new_order 0", "order_routed 2"]);
    }
  });

  it("4: has an amendment where terms changed, and none where they were repeated", () => {
    const same = { terms: { quantity: "500.0", limit_price: "190.250" } };
    const other = { terms: { quantity: "400", limit_price: "190.25" }, filledQuantity: "100" };
    expect(told(...through, moved(5, "WORKING", same))).toEqual(["new_order 0", "order_routed 2"]);
    const events = eventsOfLife([...through, moved(5, "WORKING", other), moved(6, "WORKING", other)]);
    expect(events.map(({ type }) => type)).toEqual(["new_order", "order_routed", "order_modified", "route_modified"]);
    expect(events[2]).toMatchObject({ order: { quantity: "400" }, details: { leaves_quantity: "300" } });
    expect(events[0]?.order.quantity).toBe("500");
  });

  it("2: in slices begins with the first of them and has no route; a slice is its child", () => {
    const sliced: LifeStep = { kind: "sliced", id: "c-1", at: at(1) };
    expect(told(created, moved(1, "WORKING"), sliced, moved(9, "CANCELLED"))).toEqual([
      "new_order 0",
      "order_cancelled 9",
    ]);
    const child = eventsOfLife([
      created,
      moved(1, "ACCEPTED", { parentOrderId: "p-1" }),
      moved(2, "ROUTED", { parentOrderId: "p-1" }),
      moved(3, "WORKING"),
    ]);
    expect(child.map(({ type }) => type)).toEqual(["child_order", "order_routed"]);
    expect(child[0]?.details).toEqual({ parent_order_id: "p-1" });
  });
});

const states: readonly OrderState[] = [
  "ACCEPTED",
  "ROUTED",
  "UNKNOWN",
  "WORKING",
  "PARTIALLY_FILLED",
  "CANCEL_PENDING",
  "REJECTED",
  "CANCELLED",
  "EXPIRED",
  "FILLED",
];

describe("any steps", () => {
  it("1: give the same events in whatever order they arrive, each under a name of its own", () => {
    const step = fc.record({
      to: fc.constantFrom(...states),
      quantity: fc.integer({ min: 1, max: 4 }).map((hundreds) => String(hundreds * 100)),
      filledQuantity: fc.constantFrom("0", "50", "100"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (given, weights) => {
        const steps = given.map(({ to, quantity, filledQuantity }, index) =>
          moved(index + 1, to, { filledQuantity, terms: { quantity } }),
        );
        const all = [created, ...steps];
        const shuffled = all
          .map((one) => [weights.next().value ?? 0, one] as const)
          .sort(([one], [other]) => one - other)
          .map(([, one]) => one);
        const events = eventsOfLife(all);
        expect(eventsOfLife(shuffled)).toEqual(events);
        expect(new Set(events.map(({ key }) => key)).size).toBe(events.length);
        const kinds = events.map(({ type }) => type);
        expect(kinds.filter((type) => type === "new_order").length).toBe(events.length === 0 ? 0 : 1);
        expect(kinds.filter((type) => type === "order_routed").length).toBeLessThanOrEqual(1);
        expect(kinds.indexOf("order_cancelled")).toBe(kinds.includes("order_cancelled") ? kinds.length - 1 : -1);
        const routed = kinds.indexOf("order_routed");
        for (const [index, type] of kinds.entries())
          if (type.startsWith("route_")) expect(index).toBeGreaterThan(routed);
      }),
      { numRuns: 100, seed: 48 },
    );
  });
});
