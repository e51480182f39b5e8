// Ids that fit are kept as they are; others become something that fits and stay different from each other.
import { expect, it } from "vitest";
import { idLengthMax, storableId } from "./storable-text.ts";

it("keeps what a column can hold", () => {
  for (const id of ["order-1", "", "größer", "日本", "😀", "x".repeat(idLengthMax), 'a"b\\c\n'])
    expect(storableId(id)).toBe(id);
});

it("changes what it cannot, without making two the same", () => {
  const odd = [
    "a\0b",
    "ab\0",
    "\0ab",
    "\ud800",
    "\udc00",
    "\ud801",
    `${"😀".repeat(100)}`,
    "x".repeat(129),
    `${"x".repeat(129)}y`,
  ];
  const stored = odd.map(storableId);
  expect(new Set(stored).size).toBe(odd.length);
  for (const id of stored) {
    expect(id.length).toBeLessThanOrEqual(idLengthMax);
    expect(id).not.toContain("\0");
    expect(Buffer.from(id, "utf8").toString("utf8")).toBe(id);
    expect(storableId(id)).toBe(id);
  }
});
