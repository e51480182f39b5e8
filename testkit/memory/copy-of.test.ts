// Copies of rows are what `structuredClone` makes of them: equal, apart in every depth, and none of what cannot be copied.
import { expect, test } from "vitest";
import { copyOf } from "./copy-of.ts";

class Kept {
  readonly inside = { n: 1 };
}

const awkward = {
  text: "a",
  none: null,
  absent: undefined,
  big: 12n,
  zero: -0,
  bytes: new Uint8Array([1, 2, 3]),
  buffer: Buffer.from("ab"),
  list: [{ deep: [1n, [2]] }, undefined],
  map: new Map([["k", { v: new Set([1]) }]]),
  at: new Date(5),
  instance: new Kept(),
  bare: Object.assign(Object.create(null), { x: { y: 1 } }) as object,
};
Object.defineProperty(awkward, "__proto__", { value: { own: { n: 1 } }, enumerable: true, writable: true });

test("a copy is equal to what structuredClone makes", () => {
  for (const value of [awkward, [awkward], 1, "x", null, undefined, 2n, new Map([[1, awkward]])]) {
    expect(copyOf(value)).toStrictEqual(structuredClone(value));
  }
  expect(Object.getPrototypeOf(copyOf(awkward))).toBe(Object.prototype);
});

test("nothing in a copy is shared, in any depth", () => {
  const copy = copyOf(awkward);
  const inner = (value: typeof awkward): readonly unknown[] => [
    value.bytes,
    value.list,
    value.list[0],
    (value.list[0] as { deep: unknown[] }).deep,
    value.map.get("k"),
    value.at,
    value.instance,
    (value.bare as { x: object }).x,
    Object.getOwnPropertyDescriptor(value, "__proto__")?.value,
  ];
  for (const [index, one] of inner(copy).entries()) expect(one, String(index)).not.toBe(inner(awkward)[index]);
  copy.bytes[0] = 9;
  expect(awkward.bytes[0]).toBe(1);
});

test("what cannot be copied is refused, wherever it stands", () => {
  const refused = [() => 1, Symbol("s"), { deep: [() => 1] }, [Symbol("s")], new Map([["f", () => 1]])];
  for (const value of refused) expect(() => copyOf(value)).toThrow(/could not be cloned/);
});
