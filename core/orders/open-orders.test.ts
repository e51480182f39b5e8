// The open orders against a plain map, with searches that end early, so that many orders stand beside the table.
import fc from "fast-check";
import { expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { parseAmount } from "../money/amount.ts";
import { hashOfId } from "../state/id-table.ts";
import { createBooks, fundBookOf, symbolBookOf } from "../state/records.ts";
import type { OpenOrder } from "./open-order.ts";
import { createOpenOrders } from "./open-orders.ts";
import { createOrderBook, reserve } from "./reservations.ts";

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
    Number.NaN,
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
      expect(open.count()).toBe(known.size);
      const left = [...open.values()];
      expect(left.length).toBe(known.size);
      expect(left.every((order) => known.get(order.id) === order)).toBe(true);
    }),
    { seed: 51, numRuns: inputCount(6, 3) },
  );
});

test("those that ended are told as such for as long as there is room, the oldest leaving first, and may come back", () => {
  const step = fc.record({ id: fc.integer({ min: 0, max: 60 }), does: fc.constantFrom("add", "end", "delete") });
  const steps = fc.array(step, { minLength: 200, maxLength: 600, size: "max" });
  fc.assert(
    fc.property(steps, fc.constantFrom(1, 32), fc.constantFrom(1, 7), (lives, searchMax, endedMax) => {
      const open = createOpenOrders(searchMax, endedMax);
      const known = new Map<string, OpenOrder>();
      // Each ending as it came, with the id or, once that was opened again, nothing.
      const ended: (string | undefined)[] = [];
      for (const { id: number, does } of lives) {
        const id = `order-${number}`;
        if (does === "add" && !known.has(id)) {
          const order = orderOf(id);
          open.add(order);
          known.set(id, order);
          if (ended.includes(id)) ended[ended.indexOf(id)] = undefined;
        } else if (does === "end" && known.delete(id)) ended.push(id);
        else if (does === "delete") known.delete(id);
        if (does === "end") open.end(id);
        if (does === "delete") open.delete(id);
        const expected = known.get(id) ?? (ended.slice(-endedMax).includes(id) ? "ended" : undefined);
        if (open.find(id, hashOfId(id)) !== expected) throw new Error(`${id} is not what it should be`);
        if (open.get(id) !== known.get(id)) throw new Error(`${id} is open, or not, and should not be`);
      }
      expect(open.count()).toBe(known.size);
    }),
    { seed: 52, numRuns: inputCount(20, 8) },
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
  expect(open.count()).toBe(1_500);
});
