// The check of what a test file left on the shared platform, on planted states: each thing by the name under which it is found, and nothing when all is as it was.
import { expect, it } from "vitest";
import { leftBehind, type Standing } from "./standing.ts";

const before: Standing = {
  "envelope of shared-01": "version 1",
  "simulated faults": "{}",
  "process gateway": "41",
  "person duty": "operator",
};

it("finds nothing where all is as it was", () => {
  expect(leftBehind(before, { ...before })).toEqual([]);
});

it.each<[string, Standing, string]>([
  ["an active halt", { "halt h-1 of shared-01": "a test" }, "halt h-1 of shared-01: a test"],
  [
    "a changed envelope",
    { "envelope of shared-01": "version 2" },
    "envelope of shared-01: version 2, before it was version 1",
  ],
  ["a resting order", { "order o-1 of shared-01": "WORKING" }, "order o-1 of shared-01: WORKING"],
  ["a simulated fault", { "simulated faults": '{"gaps":[]}' }, 'simulated faults: {"gaps":[]}, before it was {}'],
  ["a restart", { "process gateway": "42" }, "process gateway: 42, before it was 41"],
  ["a token that goes on working", { "service token t-1": "acme" }, "service token t-1: acme"],
])("names %s", (_what, planted, line) => {
  expect(leftBehind(before, { ...before, ...planted })).toEqual([line]);
});

it("names what is gone", () => {
  const { "person duty": _gone, ...after } = before;
  expect(leftBehind(before, after)).toEqual(["person duty is gone: operator"]);
});
