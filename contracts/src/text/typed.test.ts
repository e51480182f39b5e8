// Which texts a person may type anew, what they are told of the others, and what becomes of those where nothing is refused.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { clean } from "./clean.ts";
import { asItIs, isTakenAsItIs, isTyped, mapTexts, marked, typed, unseenIn } from "./typed.ts";

describe("a typed text", () => {
  it.each([
    ["plain", "closes the book, 3 % below"],
    ["emoji held together", "👩‍🔬 and 🏴‍☠️"],
    ["Persian", "می‌خواهم توقف کنم"],
    ["empty", ""],
  ])("may be %s", (_what, text) => {
    expect(unseenIn(text)).toBeUndefined();
    expect(marked(text)).toBe(text);
  });

  it.each([
    ["abc\u202edef", "U+202E is its character 4"],
    ["😀😀\u200b", "U+200B is its character 3"],
    ["\ufeffx\u0007", "U+FEFF is its character 1"],
    ["two\nlines", "U+000A is its character 4"],
    ["🏴\u{e0067}", "U+E0067 is its character 2"],
  ])("that has what cannot be seen is told so by character and place", (text, told) => {
    expect(unseenIn(text)).toBe(`text in which every character can be seen: ${told}`);
  });
});

describe("marks", () => {
  it("stand for what cannot be seen", () => {
    expect(marked("abc\u202edef")).toBe("abc⟨U+202E⟩def");
    expect(marked(marked("\u202e"))).toBe(marked("\u202e"));
  });

  it("never make a text longer than it was or than a reason may be, and cut no character in two", () => {
    expect(marked("\u200b".repeat(500))).toHaveLength(500);
    expect(marked(`\u200b${"😀".repeat(400)}`)).toMatch(/^⟨U\+200B⟩(😀)+$/u);
    expect(marked(`\u200b${"a".repeat(1_999)}`)).toHaveLength(2_000);
    expect(clean(marked("\u200b".repeat(2_000)))).toBe(marked("\u200b".repeat(2_000)));
  });
});

describe("a declaration", () => {
  it("is a named format in OpenAPI, and no pattern", () => {
    expect(z.toJSONSchema(typed(z.string().max(5)))).toMatchObject({
      type: "string",
      format: "typed-text",
      maxLength: 5,
    });
    expect(z.toJSONSchema(typed(z.string()))).not.toHaveProperty("pattern");
  });

  it("is kept by what is made of the schema, and is not the schema's that it was made of", () => {
    const plain = z.string();
    expect([typed(plain).min(1), typed(plain).meta({ description: "Why." })].map(isTyped)).toEqual([true, true]);
    expect([isTyped(plain), isTakenAsItIs(plain)]).toEqual([false, false]);
    expect(isTakenAsItIs(asItIs(z.string(), "names what exists").meta({}))).toBe(true);
  });
});

it("every text of a value is found, names of members included", () => {
  const found: string[] = [];
  mapTexts({ a: ["x", 1, { b: "y" }], c: null }, (text, path) => {
    found.push(`${path.join(".")}:${text}`);
    return text;
  });
  expect(found).toEqual([":a", "a.0:x", "a.2:b", "a.2.b:y", ":c"]);
});
