// The invariants of the cleaner, over every code point and over random text, and what must stay as it is.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clean, replaceUnseen } from "./clean.ts";

const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}]/u;
const everyCodePoint = Array.from({ length: 0x110000 }, (_none, code) => code);

describe("clean", () => {
  it("1: leaves no character of Cc and Cf but U+200C and U+200D, whichever code point it is", () => {
    const left = everyCodePoint.filter((code) => unseen.test(clean(String.fromCodePoint(code))));
    expect(left).toEqual([]);
  });

  it("1, 2: nor in random text, and twice is once", () => {
    const any = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
    const marked = fc.string({
      unit: fc.constantFrom("\u202e", "\ud83d", "\ude00", "\u200d", "⟨", "U+202E", "⟩", "a"),
    });
    fc.assert(
      fc.property(fc.oneof(any, marked, fc.string({ unit: "binary" })), (text) => {
        const cleaned = clean(text);
        expect(cleaned).not.toMatch(unseen);
        expect(clean(cleaned)).toBe(cleaned);
        expect(cleaned).not.toMatch(/\p{Cs}/u);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["bidi override", "a\u202eb", "a⟨U+202E⟩b"],
    ["isolates", "\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"],
    ["a terminal's escape", "\u001b[31mred", "⟨U+001B⟩[31mred"],
    ["lines", "a\r\nb\u2028c", "a⟨U+000D⟩⟨U+000A⟩b⟨U+2028⟩c"],
    ["beyond the first plane", "x\u{e0041}", "x⟨U+E0041⟩"],
    ["half a character", "x\ud83d", "x⟨U+D83D⟩"],
    ["zero width", "pay\u200bpal\ufeff", "pay⟨U+200B⟩pal⟨U+FEFF⟩"],
  ])("shows %s as a mark", (_what, text, shown) => {
    expect(clean(text)).toBe(shown);
  });

  it.each([
    ["emoji that are held together", "👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ 👍🏽 🇩🇪"],
    ["Persian with its joiners", "می‌خواهم توقف کنم"],
    ["Hebrew, Hindi and Chinese", "עצור क्ष 停止"],
    ["marks and markup", "<b>&amp; ⟨U+202E⟩ “x” \\u202e"],
  ])("leaves %s as they are", (_what, text) => {
    expect(clean(text)).toBe(text);
  });
});

it("what is no page spells the same characters in its own form", () => {
  expect(replaceUnseen("a\u202eb\u200dc", () => "?")).toBe("a?b\u200dc");
});
