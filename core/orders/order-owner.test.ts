// Whose an order is after it was handed over, by the moments at which that was done.
import { expect, test } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import { type HandOver, ownerOf } from "./order-owner.ts";

const at = (n: number) => fromMicroseconds(n);
const all = (from: string, to: string, n: number): HandOver => ({ from, to, at: at(n) });
const one = (orderId: string, from: string, to: string, n: number): HandOver => ({ from, to, orderId, at: at(n) });

test.each<[string, string | undefined, number, readonly HandOver[]]>([
  ["stays its asker's", "old", 1, []],
  ["goes with all that its asker had", "new", 1, [all("old", "new", 2)]],
  ["is its asker's when it was asked for after that", "old", 3, [all("old", "new", 2)]],
  ["goes on from hand to hand", "newest", 1, [all("old", "new", 2), all("new", "newest", 3)]],
  ["does not go from hand to hand against their order", "new", 1, [all("new", "newest", 1), all("old", "new", 2)]],
  ["comes back", "old", 1, [all("old", "new", 2), all("new", "old", 3)]],
  ["goes alone", "new", 1, [one("o-1", "old", "new", 2)]],
  ["stays when another one goes", "old", 1, [one("o-2", "old", "new", 2)]],
  ["goes wherever it was asked for before anybody kept when", "new", Number.NaN, [all("old", "new", 2)]],
])("an order %s", (_what, owner, askedAt, handOvers) => {
  expect(ownerOf("o-1", "old", askedAt, handOvers)).toBe(owner);
});

test("an order of which nobody knows who asked is the first one's that reported on it", () => {
  expect(ownerOf("o-1", "", 1, [one("o-1", "", "desk", 2)])).toBe("desk");
  expect(ownerOf("o-2", "", 1, [one("o-1", "", "desk", 2)])).toBe("");
});
