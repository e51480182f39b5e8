// Ids that have one hash are distinguished: those of strategies, symbols and open orders are looked up by a hash before anybody compares them.
import { expect, it } from "vitest";
import {
  engineFixture,
  markAll,
  moment,
  orderOf,
  reference,
  startOfDay,
  valueAll,
} from "../../testkit/risk/engine-fixture.ts";
import { createIdMap, hashOfId } from "../state/id-table.ts";

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

it("whoever asks with an id gets what stands under it, though another id has the same hash", () => {
  const [one, other] = twins((number) => `strategy-${number}`);
  const map = createIdMap<string>();
  map.set(one, "one");
  expect(map.find(other, hashOfId(other))).toBeUndefined();
  map.set(other, "other");
  expect([map.get(one), map.get(other)]).toEqual(["one", "other"]);
  map.delete(one);
  expect([map.get(one), map.get(other)]).toEqual([undefined, "other"]);
});

it("strategies with one hash trade for their own funds, and one that nobody has is not known", () => {
  const [one, other] = twins((number) => `s${number}`);
  const engine = engineFixture();
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
  const engine = engineFixture();
  const ask = (id: string) => engine.check(orderOf(id, { quantity: "1" }), moment(1)).outcome;
  expect([ask(one), ask(other)]).toEqual(["approved", "approved"]);
  expect(engine.exposure("alpha")?.openOrders).toBe(2);
});
