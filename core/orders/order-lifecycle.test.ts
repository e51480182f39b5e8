// The table of an order's life, cell by cell where it matters, and as a whole under random events.
import { describe, expect, it } from "vitest";
import { orderState } from "../../contracts/src/records/values.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { hasEnded, lifecycle, mayBeWithBroker, nextState, orderEvents } from "./order-lifecycle.ts";

const seed = 6_001;
const ends = orderState.options.filter(hasEnded);
const open = orderState.options.filter((state) => !hasEnded(state));

describe("the life of an order", () => {
  it("invariant 1: nothing leaves an end state", () => {
    expect(ends).toEqual(["REJECTED", "FILLED", "CANCELLED", "EXPIRED"]);
    for (const state of ends) {
      for (const event of orderEvents) expect(nextState(state, event), `${state} ${event}`).toBeUndefined();
    }
  });

  it("invariant 2: a trade moves every order that has not ended", () => {
    for (const state of open) {
      expect(nextState(state, "fill_whole"), state).toBe("FILLED");
      const part = state === "CANCEL_PENDING" ? "CANCEL_PENDING" : "PARTIALLY_FILLED";
      expect(nextState(state, "fill_part"), state).toBe(part);
    }
  });

  it("invariant 3: only what was accepted is routed, and silence never rejects", () => {
    const before = open.filter((state) => nextState(state, "route") === "ROUTED");
    expect(before).toEqual(["ACCEPTED", "UNKNOWN"]);
    expect(open.filter((state) => nextState(state, "approve") !== undefined)).toEqual(["PENDING_CHECK"]);
    for (const state of open) {
      const lost = nextState(state, "lose");
      expect(lost === undefined || lost === "UNKNOWN", state).toBe(true);
    }
    expect(nextState("PENDING_CHECK", "route")).toBeUndefined();
    expect(nextState("WORKING", "refuse")).toBeUndefined();
  });

  it("invariant 4: what a broker may have is only cancelled by the broker's word", () => {
    for (const state of open.filter(mayBeWithBroker).filter((one) => one !== "CANCEL_PENDING")) {
      expect(nextState(state, "want_cancel"), state).toBe("CANCEL_PENDING");
    }
    expect(nextState("CANCEL_PENDING", "acknowledge")).toBeUndefined();
    expect(nextState("CANCEL_PENDING", "lose")).toBeUndefined();
    expect(nextState("CANCEL_PENDING", "broker_cancel")).toBe("CANCELLED");
  });

  it(`every life reaches an end, and no life goes back from it, seed ${seed}`, () => {
    const thrown = prng(seed);
    let ended = 0;
    for (let life = 0; life < 300; life += 1) {
      let state: (typeof orderState.options)[number] = "PENDING_CHECK";
      let wasRouted = false;
      let hasTraded = false;
      for (let step = 0; step < 60; step += 1) {
        const event = orderEvents[thrown.below(orderEvents.length)] ?? "approve";
        const next = nextState(state, event);
        if (hasEnded(state)) expect(next).toBeUndefined();
        if (next === undefined) continue;
        wasRouted ||= next === "ROUTED";
        hasTraded ||= event === "fill_part" || event === "fill_whole";
        // Nothing works or is unknown that was neither sent, sliced nor traded.
        if (next === "UNKNOWN") expect(wasRouted).toBe(true);
        if (next === "REJECTED") expect(hasTraded && state !== "CANCEL_PENDING").toBe(false);
        state = next;
      }
      if (hasEnded(state)) ended += 1;
    }
    expect(ended).toBeGreaterThan(280);
  });

  it("has a row for every state", () => {
    expect(Object.keys(lifecycle).sort()).toEqual([...orderState.options].sort());
  });
});
