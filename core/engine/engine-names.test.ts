// Ids that have one hash are told apart: those of strategies, symbols and open orders are looked up by a hash before anybody compares them.
import { expect, it } from "vitest";
import { engineRig, markAll, moment, orderOf, reference, startOfDay, valueAll } from "../../testkit/risk/engine-rig.ts";
import { createIdMap, hashOfId } from "./fast/id-table.ts";

/** Two ids of that form with the same hash, the first two that there are. */
function twins(of: (number: number) => string): readonly [string, string] {
  const known = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const id = of(number);
    const other = known.get(hashOfId(id));
    if (other !== undefined) return [other, id];
    known.set(hashOfId(id), id);
  }
}

it("what is likely is what stands under the hash, and whoever asks with the id gets his own", () => {
  const [one, other] = twins((number) => `strategy-${number}`);
  const map = createIdMap<string>();
  map.set(one, "one");
  expect(map.likely(hashOfId(other))).toBe("one");
  expect(map.find(other, hashOfId(other))).toBeUndefined();
  map.set(other, "other");
  expect([map.get(one), map.get(other)]).toEqual(["one", "other"]);
  map.delete(one);
  expect([map.get(one), map.get(other), map.likely(hashOfId(one))]).toEqual([undefined, "other", "other"]);
});

it("what is likely is known of those that came before and after somebody first asked, and never of those that left", () => {
  const map = createIdMap<string>();
  const ids = Array.from({ length: 5_000 }, (_, number) => `strategy-${number}`);
  const likelyCount = (): number => ids.filter((id) => map.likely(hashOfId(id)) === id).length;
  for (const id of ids.slice(0, 100)) map.set(id, id);
  expect(likelyCount()).toBeGreaterThan(95);
  // The table grows several times meanwhile; of ids that stand in each other's way the last one is likely.
  for (const id of ids.slice(100)) map.set(id, id);
  expect(likelyCount()).toBeGreaterThan(4_700);
  for (const id of ids.slice(0, 2_500)) map.delete(id);
  expect(ids.slice(0, 2_500).filter((id) => map.likely(hashOfId(id)) === id)).toEqual([]);
  expect(likelyCount()).toBeGreaterThan(2_350);
});

it("strategies with one hash trade for their own funds, and one that nobody has is not known", () => {
  const [one, other] = twins((number) => `s${number}`);
  const engine = engineRig();
  const funds = reference.funds.map((fund) => {
    if (fund.fund_id === "alpha") return { ...fund, strategies: [one] };
    return fund.fund_id === "beta" ? { ...fund, strategies: [other] } : fund;
  });
  engine.setReference({ ...reference, funds });
  markAll(engine, startOfDay);
  valueAll(engine, startOfDay);
  const ask = (id: string, fund_id: string, strategy_id: string) =>
    engine.check(orderOf(id, { fund_id, strategy_id, quantity: "1" }), moment(1)).code;
  expect([ask("a", "alpha", one), ask("b", "beta", other)]).toEqual(["", ""]);
  expect([ask("c", "alpha", other), ask("d", "beta", one)]).toEqual([
    "SCHEMA_STRATEGY_UNKNOWN",
    "SCHEMA_STRATEGY_UNKNOWN",
  ]);
  engine.setReference({ ...reference, funds: funds.map((fund) => ({ ...fund, strategies: [one] })).slice(0, 1) });
  expect(ask("e", "alpha", other)).toBe("SCHEMA_STRATEGY_UNKNOWN");
});

it("an order whose id has the hash of an open one is a new order", () => {
  const [one, other] = twins((number) => `o-${number}`);
  const engine = engineRig();
  const ask = (id: string) => engine.check(orderOf(id, { quantity: "1" }), moment(1)).outcome;
  expect([ask(one), ask(other)]).toEqual(["approved", "approved"]);
  expect(engine.exposure("alpha")?.openOrders).toBe(2);
});
