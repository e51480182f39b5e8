// Who may speak of an order: the source that asked for it, and a login that no token names for any program outside, as before.
import { expect, test } from "vitest";
import { type OrderStanding, refusedOrder } from "./judge-order.ts";

const standing = (differs: Partial<OrderStanding>): OrderStanding => ({
  source: "desk",
  isUnpaired: false,
  owners: ["desk"],
  isUnclaimed: false,
  ...differs,
});

test.each<[string, boolean, Partial<OrderStanding>]>([
  ["its asker", true, {}],
  ["another source", false, { source: "other" }],
  ["another source, of an order of ours", false, { owners: ["oms"] }],
  ["anybody, of an order that nobody asked about", true, { owners: [] }],
  ["anybody, of an order of which nobody knows who asked", true, { owners: ["other"], isUnclaimed: true }],
  ["one of two who asked under the same id", true, { owners: ["other", "desk"] }],
  [
    "a token's, through the login that had it before",
    true,
    { source: "house", login: "foreign-oms", owners: ["foreign-oms"] },
  ],
  ["a token's, through another login", false, { source: "house", login: "foreign.x", owners: ["foreign-oms"] }],
  ["an unpaired login, of a program's", true, { source: "foreign-oms", isUnpaired: true }],
  ["an unpaired login, of an order of ours", false, { source: "foreign-oms", isUnpaired: true, owners: ["oms"] }],
])("%s: %s", (_who, mayEnter, differs) => {
  const refusal = refusedOrder("o-1", standing(differs));
  expect(refusal?.code).toBe(mayEnter ? undefined : "EVENT_ORDER_NOT_YOURS");
});

test("a refusal names the order and who reported, and what to do; not whose it is", () => {
  const { sentence = "" } = refusedOrder("o-1", standing({ source: "other", owners: ["secret-desk"] })) ?? {};
  expect(sentence).toContain("Order o-1 was not asked for by other");
  expect(sentence).toContain("hand-over");
  expect(sentence).not.toContain("secret-desk");
});
