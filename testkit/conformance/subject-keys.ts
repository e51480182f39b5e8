// What every place for subject keys must do (ports/subject-keys.ts); the numbers are those of its header.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SubjectKey, SubjectKeys } from "../../ports/subject-keys.ts";

export interface SubjectKeysFixture {
  readonly keys: SubjectKeys;
  /** Another process on the same place. */
  readonly other: SubjectKeys;
  close(): Promise<void>;
}

const keyOf = (person: string, byte = 7): SubjectKey => ({
  id: randomUUID(),
  person,
  wrapped: new Uint8Array(60).fill(byte),
});

export function subjectKeysConformance(name: string, open: () => Promise<SubjectKeysFixture>): void {
  describe(`subject keys: ${name}`, () => {
    let fixture: SubjectKeysFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());

    it("1: keep one key for a person, whoever comes at once", async () => {
      const { keys, other } = fixture;
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? keys : other).add(keyOf("operator:one", n))),
      );
      expect(new Set(all.map(({ id }) => id)).size).toBe(1);
      const [first] = all;
      expect((await other.inForce(["operator:one", "operator:nobody"])).get("operator:one")).toEqual(first);
      expect((await keys.inForce(["operator:nobody"])).size).toBe(0);
      expect(await keys.add(keyOf("operator:one", 99))).toEqual(first);
    });

    it("2, 3: a destroyed key is known and gone, for everybody, and the person may get another", async () => {
      const { keys, other } = fixture;
      const before = await keys.add(keyOf("operator:two"));
      expect((await other.find([before.id])).get(before.id)).toEqual(before);
      await keys.destroy("operator:two");
      await keys.destroy("operator:two");
      await keys.destroy("operator:nobody");
      expect((await other.find([before.id])).get(before.id)).toBe("destroyed");
      expect((await other.inForce(["operator:two"])).size).toBe(0);
      const next = await other.add(keyOf("operator:two", 8));
      expect(next.id).not.toBe(before.id);
      expect((await keys.find([before.id, next.id, randomUUID(), "not an id"])).size).toBe(2);
    });

    it("4: a destroyed key is unaudited until it is marked as reported, and one in force is never", async () => {
      const { keys, other } = fixture;
      const { id } = await keys.add(keyOf("operator:three"));
      await keys.markReported(id);
      expect(await keys.unaudited("operator:three")).toEqual([]);
      await keys.destroy("operator:three");
      expect(await other.unaudited("operator:three")).toEqual([{ id, person: "operator:three" }]);
      expect((await other.unaudited()).map((one) => one.id)).toContain(id);
      await other.markReported(id);
      expect(await keys.unaudited("operator:three")).toEqual([]);
      expect((await keys.unaudited()).map((one) => one.id)).not.toContain(id);
    });
  });
}
