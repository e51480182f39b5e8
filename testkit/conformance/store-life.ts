// Checks of a store's life: health tells the truth, closing is final, and a transaction caught by it is whole or nothing.
import { expect } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { publish } from "./bus-kit.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { numbers } from "./store-transactions.ts";
import { thingChanged } from "./subjects.ts";
import { gate, pass, rejection } from "./waiting.ts";

export const healthIsTruthful: StoreCheck = {
  promise: 0,
  sentence: "health says reachable while it is, and says why when it is not",
  async run(fixture) {
    expect(await fixture.store.health()).toEqual({ reachable: true });
    await fixture.store.close();
    const health = await fixture.store.health();
    expect(health.reachable).toBe(false);
    expect(health.complaint ?? "").not.toBe("");
    const store = await fixture.reopen();
    expect(await store.health()).toEqual({ reachable: true });
  },
};

export const closedRefuses: StoreCheck = {
  promise: 2,
  sentence: "after close every question is refused with a fault that says so, and closing twice is harmless",
  async run(fixture) {
    await publish(fixture.store, { key: "k", n: 1 });
    await fixture.store.close();
    await fixture.store.close();
    let runs = 0;
    const late = fixture.store.transact("conformance.late", async (unit) => {
      runs += 1;
      await unit.events.publish(thingChanged, { key: "k", n: 2 });
    });
    const fault = await rejection(late, "a transaction after close");
    expect(fault).toBeInstanceOf(Fault);
    expect((fault as Fault).message).not.toBe("");
    expect(runs).toBe(0);
    expect(await rejection(fixture.store.outcomeOf("1"), "a question after close")).toBeInstanceOf(Fault);
    await fixture.reopen();
    expect(await numbers(fixture)).toEqual([1]);
  },
};

export const closeDuringATransaction: StoreCheck = {
  promise: 2,
  sentence: "a transaction that is caught by close is either resolved and there, or rejected and gone",
  async run(fixture) {
    const held = gate();
    const begun = gate();
    const caught = fixture.store
      .transact("conformance.caught", async (unit) => {
        await unit.events.publish(thingChanged, { key: "k", n: 1 });
        begun.open();
        await held.opened;
      })
      .then(
        () => "resolved",
        () => "rejected",
      );
    await begun.opened;
    const closing = fixture.store.close();
    await pass(fixture, 50);
    held.open();
    const end = await caught;
    await closing;
    await fixture.reopen();
    expect(await numbers(fixture)).toEqual(end === "resolved" ? [1] : []);
  },
};

export const lifeChecks: readonly StoreCheck[] = [healthIsTruthful, closedRefuses, closeDuringATransaction];
