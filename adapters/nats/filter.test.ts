// What the server is asked for always covers what was subscribed, whatever the server can do.
import { expect, test } from "vitest";
import { serverFilter } from "./filter.ts";

test("one pattern goes to the server as it is, covered ones are left out", () => {
  expect(serverFilter(["a.b.*"], false)).toEqual({ subjects: ["a.b.*"], loose: false });
  expect(serverFilter(["a.>", "a.b", "a.*.c", "a.>"], false)).toEqual({ subjects: ["a.>"], loose: false });
});

test("several patterns go to a server that takes them, unless they overlap", () => {
  expect(serverFilter(["a.b", "a.c.>"], true)).toEqual({ subjects: ["a.b", "a.c.>"], loose: false });
  expect(serverFilter(["a.*.c", "a.b.*"], true)).toEqual({ subjects: ["a.>"], loose: true });
});

test("an old server is asked for the narrowest single pattern that covers all", () => {
  expect(serverFilter(["a.b.c", "a.b.d"], false)).toEqual({ subjects: ["a.b.>"], loose: true });
  expect(serverFilter(["a.b", "a.b.c"], false)).toEqual({ subjects: ["a.>"], loose: true });
  expect(serverFilter(["a.b", "c.d"], false)).toEqual({ subjects: [">"], loose: true });
  expect(serverFilter(["a.*.x", "a.b.y"], false)).toEqual({ subjects: ["a.>"], loose: true });
});
