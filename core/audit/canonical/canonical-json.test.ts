// The encoder against the published data, and against every value that another encoder would quietly bend into something else.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { canonicalJson, utf8, ValueRefused } from "./canonical-json.ts";

interface Golden {
  readonly canonical: readonly { name: string; input: string; canonical: string }[];
  readonly refused: readonly { name: string; input: string }[];
}
const golden = JSON.parse(readFileSync(new URL("../golden/rfc8785.json", import.meta.url), "utf8")) as Golden;

describe("canonical JSON", () => {
  it.each(golden.canonical)("RFC 8785, $name", ({ input, canonical }) => {
    expect(canonicalJson(JSON.parse(input))).toBe(canonical);
    expect(canonicalJson(JSON.parse(canonical))).toBe(canonical);
  });

  it.each(golden.refused)("A24 refuses $name", ({ input }) => {
    expect(() => canonicalJson(JSON.parse(input))).toThrow(ValueRefused);
  });

  class Money {
    readonly amount = 1;
  }
  const hidden = Object.defineProperty({}, "a", { value: 1, enumerable: false });
  const cycle: unknown[] = [];
  cycle.push(cycle);
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
  const holes = [, 1];

  it.each<[string, unknown]>([
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["a Date", new Date(0)],
    ["an invalid Date", new Date(Number.NaN)],
    ["undefined", undefined],
    ["undefined in an object", { a: undefined }],
    ["undefined in an array", [undefined]],
    ["a function", () => 1],
    ["a symbol", Symbol("a")],
    ["a symbol as a key", { [Symbol("a")]: 1 }],
    ["a bigint", 1n],
    ["NaN", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["bytes", new Uint8Array(2)],
    ["a boxed string", Object("a")],
    ["an instance of a class", new Money()],
    ["an object with an inherited property", Object.create({ a: 1 })],
    ["a regular expression", /a/],
    ["an error", new Error("a")],
    ["a hole", holes],
    ["an array with a property", Object.assign([1], { extra: 1 })],
    ["an array of a class", new (class extends Array<number> {})(1)],
    ["a hidden property", hidden],
    ["toJSON as a method", { toJSON: () => "liar" }],
    ["a cycle", cycle],
  ])("A24 refuses %s", (_, value) => {
    expect(() => canonicalJson(value)).toThrow(ValueRefused);
    expect(() => canonicalJson({ inside: [value] })).toThrow(ValueRefused);
  });

  it("A24 never runs a getter", () => {
    let looks = 0;
    const value = {
      get a() {
        looks += 1;
        return 1;
      },
    };
    expect(() => canonicalJson(value)).toThrow("a: computed when it is read");
    expect(looks).toBe(0);
  });

  it("A24 reads a Proxy once and writes what it read", () => {
    const looks: string[] = [];
    const changing = new Proxy(
      { a: 1 },
      {
        getOwnPropertyDescriptor(target, key) {
          looks.push(String(key));
          return { ...Reflect.getOwnPropertyDescriptor(target, key), value: looks.length, configurable: true };
        },
        get: () => "never asked for",
      },
    );
    expect(canonicalJson(changing)).toBe('{"a":1}');
    expect(looks).toEqual(["a"]);
  });

  it("A24 keeps __proto__ and toJSON as the names of plain values", () => {
    const text = '{"__proto__":{"a":1},"toJSON":"only a name"}';
    expect(canonicalJson(JSON.parse(text))).toBe(text);
    expect(canonicalJson(Object.assign(Object.create(null), { b: 1 }))).toBe('{"b":1}');
  });

  it("A24 keeps composed and decomposed letters apart", () => {
    expect(canonicalJson("\u00e9")).not.toBe(canonicalJson("e\u0301"));
  });

  it("says where", () => {
    expect(() => canonicalJson({ orders: [{ id: 2 ** 53 }] })).toThrow("orders[0].id: a whole number beyond");
  });

  it("takes 32 levels and refuses 33, whatever they are made of", () => {
    const nested = (levels: number): unknown =>
      levels === 0 ? 1 : levels % 2 ? [nested(levels - 1)] : { a: nested(levels - 1) };
    expect(canonicalJson(nested(32))).toContain("1");
    expect(() => canonicalJson(nested(33))).toThrow("too many levels");
  });

  it("stops growing at its limit, also when one array is held in many places", () => {
    let value: unknown = "x";
    for (let level = 0; level < 31; level += 1) value = [value, value];
    expect(() => canonicalJson(value)).toThrow("too long");
    expect(() => canonicalJson(new Array(1e6).fill(1))).toThrow("too long");
    expect(canonicalJson("x".repeat(65_533))).toHaveLength(65_535);
    expect(() => canonicalJson("x".repeat(65_534))).toThrow("too long");
    expect(canonicalJson([1, { a: 2 }], { lengthMax: 11 })).toHaveLength(11);
    expect(() => canonicalJson([1, { a: 2 }], { lengthMax: 10 })).toThrow("too long");
  });

  it("gives no bytes for a lone surrogate", () => {
    expect(utf8("\u{1F600}")).toEqual(Uint8Array.of(0xf0, 0x9f, 0x98, 0x80));
    expect(() => utf8("\udead")).toThrow(ValueRefused);
  });
});
