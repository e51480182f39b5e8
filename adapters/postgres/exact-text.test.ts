// Every text comes back exactly from its column's form, two that differ stay different, and the form is one that the server can hold.
import { describe, expect, it } from "vitest";
import { inputCount } from "../../testkit/full-count.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { columnOfText, textOfColumn } from "./exact-text.ts";

const seed = 20_261_118;

describe("exact text", () => {
  it("keeps ordinary texts as they are, and writes what the server cannot hold in another way", () => {
    for (const text of ["", "order-1", "größer ≠ \u{1f600}\n", "\u0001\u001f"]) expect(columnOfText(text)).toBe(text);
    expect(columnOfText("a\0b")).toBe("a\u007f0000b");
    expect(columnOfText("\ud800\u007f")).toBe("\u007fd800\u007f007f");
    expect(textOfColumn("\u007f")).toBe("\u007f");
  });

  it(`gives back any text, seed ${seed}`, () => {
    const thrown = prng(seed);
    const units = [0, 0x7f, 0x30, 0x66, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0x20ac, 1];
    const texts = Array.from({ length: inputCount(5_000) }, () =>
      Array.from({ length: thrown.below(8) }, () => String.fromCharCode(units[thrown.below(units.length)] ?? 0)).join(
        "",
      ),
    );
    const columns = texts.map(columnOfText);
    expect(columns.map(textOfColumn)).toEqual(texts);
    expect(new Set(columns).size).toBe(new Set(texts).size);
    expect(columns.filter((column) => column.includes("\0"))).toEqual([]);
    expect(columns.map((column) => Buffer.from(column, "utf8").toString("utf8"))).toEqual(columns);
  });
});
