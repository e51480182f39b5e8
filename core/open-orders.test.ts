// The open orders against a plain map, with searches that end early, so that many orders stand beside the table.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAmount } from "./amount.ts";
import { createBooks, fundBookOf, symbolBookOf } from "./engine-books.ts";
import { createOpenOrders } from "./open-orders.ts";
import { createOrderBook, type OpenOrder, reserve } from "./reservations.ts";

const books = createBooks();

function orderOf(id: string): OpenOrder {
  const asked = { order_id: id, strategy_id: "alpha-a", side: "BUY" };
  return reserve(
    books,
    createOrderBook(),
    fundBookOf(books, "alpha"),
    symbolBookOf(books, "ABC"),
    asked,
    1,
    parseAmount("1"),
  );
}

test("they are what a map holds, whatever comes and goes, however short a search may be", () => {
  const step = fc.record({ id: fc.integer({ min: 0, max: 900 }), leaves: fc.boolean() });
  const steps = fc.array(step, { minLength: 500, maxLength: 1_500, size: "max" });
  fc.assert(
    fc.property(steps, fc.constantFrom(1, 2, 32), (lives, searchMax) => {
      const open = createOpenOrders(searchMax);
      const known = new Map<string, OpenOrder>();
      for (const { id: number, leaves } of lives) {
        const id = `order-${number}`;
        if (open.get(id) !== known.get(id)) throw new Error(`${id} is not what it should be`);
        if (leaves) {
          open.delete(id);
          known.delete(id);
        } else if (!known.has(id)) {
          const order = orderOf(id);
          open.add(order);
          known.set(id, order);
        }
      }
      expect(open.size).toBe(known.size);
      const left = [...open.values()];
      expect(left.length).toBe(known.size);
      expect(left.every((order) => known.get(order.id) === order)).toBe(true);
    }),
    { seed: 51, numRuns: 6 },
  );
});

test("thousands of them are found while the table grows", () => {
  const open = createOpenOrders(2);
  const all = Array.from({ length: 3_000 }, (_, number) => orderOf(`order-${number}`));
  for (const order of all) open.add(order);
  expect(all.every((order) => open.get(order.id) === order)).toBe(true);
  const [left, gone] = [all.slice(1_500), all.slice(0, 1_500)];
  for (const order of gone) open.delete(order.id);
  expect(gone.every((order) => open.get(order.id) === undefined)).toBe(true);
  expect(left.every((order) => open.get(order.id) === order)).toBe(true);
  expect(open.size).toBe(1_500);
});
