// The order of files: the longest first, unknown ones early, and never two starts of a platform beside each other while others are left.
import { describe, expect, test } from "vitest";
import { orderOf } from "./test-order.js";

describe("the order of test files", () => {
  test("begins with what nobody measured, then the longest", () => {
    const times = { "short.test.ts": { wall_s: 1 }, "long.test.ts": { wall_s: 9 } };
    expect(orderOf(["short.test.ts", "new.test.ts", "long.test.ts"], times)).toEqual([
      "new.test.ts",
      "long.test.ts",
      "short.test.ts",
    ]);
  });

  test("puts others between files that start platforms, and loses none", () => {
    const times = Object.fromEntries([
      ...["a", "b", "c"].map((name) => [name, { wall_s: 90, platforms: 1 }] as const),
      ...["d", "e", "f", "g"].map((name) => [name, { wall_s: 5 }] as const),
    ]);
    expect(orderOf(Object.keys(times), times)).toEqual(["a", "d", "e", "f", "b", "g", "c"]);
  });

  test("lets those that share a platform follow each other, behind two others that run while it starts", () => {
    const times = Object.fromEntries([1, 2, 3].map((number) => [`other-${number}`, { wall_s: 9 - number }]));
    const names = ["other-3", "shared-a", "other-1", "shared-b", "other-2", "shared-c"];
    expect(orderOf(names, times, (name) => name.startsWith("shared"))).toEqual([
      "shared-a",
      "other-1",
      "other-2",
      "shared-b",
      "shared-c",
      "other-3",
    ]);
  });
});
