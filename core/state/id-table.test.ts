// The table of ids against a map of the language, with ids that want the same slots.
import fc from "fast-check";
import { expect, test } from "vitest";
import { addId, createIdMap, createIdTable, hashOfId, idCount, noPlace, placeOf, removePlace } from "./id-table.ts";

/** Few different hashes, so that nearly all ids want the slots of others; the lowest bits of some lie at the table's end. */
const crowdedHash = (id: string): number => -1 - (hashOfId(id) & 3);

test("it knows what a map knows, however crowded it is, and gives no place twice", () => {
  const steps = fc.array(fc.record({ id: fc.integer({ min: 0, max: 60 }), adds: fc.boolean() }), { maxLength: 300 });
  fc.assert(
    fc.property(steps, fc.constantFrom(hashOfId, crowdedHash), fc.constantFrom(2, 32), (lives, hash, searchMax) => {
      const table = createIdTable(searchMax);
      const known = new Map<string, number>();
      for (const { id: number, adds } of lives) {
        const id = `id-${number}`;
        const place = known.get(id);
        if (adds && place === undefined) {
          const given = addId(table, id, hash(id));
          expect([...known.values()]).not.toContain(given);
          known.set(id, given);
        } else if (!adds && place !== undefined) {
          removePlace(table, place);
          known.delete(id);
        }
        for (let other = 0; other <= 60; other += 1) {
          expect(placeOf(table, `id-${other}`, hash(`id-${other}`))).toBe(known.get(`id-${other}`) ?? noPlace);
        }
        expect(idCount(table)).toBe(known.size);
      }
      for (const [id, place] of known) expect(table.ids[place]).toBe(id);
    }),
    { seed: 61, numRuns: 40 },
  );
});

test("thousands are found while it grows, and places that are free again are given again", () => {
  const table = createIdTable(2);
  const places = Array.from({ length: 5_000 }, (_, number) => addId(table, `s-${number}`, hashOfId(`s-${number}`)));
  expect(new Set(places).size).toBe(5_000);
  expect(places.every((place, number) => placeOf(table, `s-${number}`, hashOfId(`s-${number}`)) === place)).toBe(true);
  removePlace(table, places[17] ?? 0);
  expect(placeOf(table, "s-17", hashOfId("s-17"))).toBe(noPlace);
  expect(addId(table, "another", hashOfId("another"))).toBe(places[17]);
});

test("a map of ids is one: what is set is found and listed, what is deleted is not", () => {
  const map = createIdMap<number>();
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  expect([map.get("a"), map.find("b", hashOfId("b")), map.get("c"), map.count()]).toEqual([3, 2, undefined, 2]);
  expect([undefined, null, 7].map((id) => map.get(id as never))).toEqual([undefined, undefined, undefined]);
  map.delete("a");
  map.delete("never there");
  expect([map.get("a"), map.values(), map.count()]).toEqual([undefined, [2], 1]);
});
