// Names are read as they were sent, whatever was read before them and whichever Node reads; everything else as the language reads it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { parseJson, readByTokens } from "./parse-json.ts";

/** Names that some engines confuse, once they have read the last of them. */
const names = ["a", "ab", "\n", '"', "\u0000", "a\n", 'a"', "__proto__", "", "1", "\\", "a\\", "ab\\"];

describe.each([
  ["parseJson", parseJson],
  ["readByTokens", readByTokens],
])("%s", (_name, read) => {
  test("a name with an escape is itself, also after one that ends in a backslash", () => {
    for (const before of ["\\", "a\\", "\\n\\"]) {
      read(`{"first":1,${JSON.stringify(before)}:2}`);
      JSON.parse(`{"first":1,${JSON.stringify(before)}:2}`);
    }
    for (const [written, name] of [
      ["\\n", "\n"],
      ["\\u0062", "b"],
      ["\\u0066irst", "first"],
      ['a\\"', 'a"'],
      ["a\\\\", "a\\"],
      ["\\\\n\\t", "\\n\t"],
    ] as const) {
      expect(Object.entries(read(`{"first":1,"${written}":2}`) as object)).toEqual(
        name === "first" ? [["first", 2]] : Object.entries({ first: 1, [name]: 2 }),
      );
    }
  });

  test("whatever was written is read, whatever was read before", () => {
    const members = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, -1.5e-7, 12, '\\"{', "],", ""),
        tie("list"),
        tie("object"),
      ),
      list: fc.array(tie("value"), { maxLength: 4 }),
      object: fc.uniqueArray(fc.tuple(fc.constantFrom(...names), tie("value")), {
        maxLength: 5,
        selector: ([name]) => name,
      }),
    }));
    fc.assert(
      fc.property(members.object, fc.boolean(), (made, isSpaced) => {
        const { text, value } = written(made, isSpaced ? " \n" : "");
        const parsed = read(text);
        expect(parsed).toEqual(value);
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(value));
      }),
      { seed: 24, numRuns: inputCount(2_000) },
    );
  });

  test.each(["12", ' "\\u0061" ', "null", "[]", "{}", '{"a":{},"b":[[],{}]}', '{"a":1,"b":2,"\\u0061":3}'])(
    "%s is what the language says",
    (text) => {
      expect(JSON.stringify(read(text))).toBe(JSON.stringify(JSON.parse(text)));
    },
  );

  test.each(["", "{", '{"a\\n":1,}', '"\\x"', "[1 2]", '{"a\\"}'])("%j is no JSON", (text) => {
    expect(() => read(text)).toThrow(SyntaxError);
  });

  test("a name that would be a prototype is a member", () => {
    const parsed = read('{"\\u005f_proto__":{"x":1}}') as object;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(parsed)).toEqual(["__proto__"]);
  });
});

type Member = readonly [string, unknown];

/** Lists of pairs become objects; the text is put together here, and so is the value. */
function written(made: unknown, space: string): { readonly text: string; readonly value: unknown } {
  if (!Array.isArray(made)) return { text: JSON.stringify(made), value: made };
  if (!made.every(isMember) || made.length === 0) {
    const parts = made.map((each) => written(each, space));
    return { text: `[${parts.map(({ text }) => text).join(`${space},`)}]`, value: parts.map(({ value }) => value) };
  }
  const value = {};
  const texts = made.map(([name, inner]) => {
    const part = written(inner, space);
    Object.defineProperty(value, name, { value: part.value, writable: true, enumerable: true, configurable: true });
    return `${JSON.stringify(name)}${space}:${space}${part.text}`;
  });
  return { text: `{${texts.join(",")}}`, value };
}

function isMember(each: unknown): each is Member {
  return Array.isArray(each) && each.length === 2 && names.includes(each[0] as string);
}
