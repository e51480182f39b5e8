// What the halt bench says of what it saw: its keys, and every way in which it can fail.
import { expect, test } from "vitest";
import type { HaltResult } from "./halt-generator.ts";
import { judge, type SetupSeen } from "./judge.ts";

const sample = { ackMs: 6, blockMs: 5, lastApprovalMs: 3, liftMs: 7 };
const result: HaltResult = {
  tookMs: 1_000,
  sent: 1_000,
  leftOut: 0,
  answered: 1_000,
  approved: 900,
  deniedByHalt: 100,
  wrong: 0,
  halts: [sample, sample],
  echoMs: [1, 2],
  orderMs: [3, 4],
};
const comparison = {
  halts: 2,
  provenHalts: 2,
  testedHalts: 2,
  decisions: 1_000,
  approvals: 900,
  deniedByHalt: 100,
  violations: [] as readonly string[],
};
const seen = (different: Partial<HaltResult> = {}): SetupSeen => ({
  results: [{ ...result, ...different }],
  comparison,
});
const judged = (byDefault: SetupSeen, nats: SetupSeen = seen()) =>
  judge({ setups: { default: byDefault, nats }, commits: [1], facts: {} });

test("a halt within one commit and three echoes keeps the promise, under its promised keys", () => {
  const { figures, shortfalls } = judged(seen());
  expect(shortfalls).toEqual([]);
  const setup = { ack_p99_ms: 6, block_p99_ms: 5, orders_per_s: 1_000 };
  expect(figures).toMatchObject({ default: setup, nats: setup, commit_p99_ms: 1, echo_p99_ms: 2, bound_ms: 7 });
});

test.each<[string, SetupSeen, RegExp]>([
  ["a late block", seen({ halts: [{ ...sample, blockMs: 8 }] }), /block p99/],
  ["a wrong answer", seen({ wrong: 1, complaint: "x" }), /not what they may be: x/],
  ["a load that was not carried", seen({ leftOut: 11 }), /11 of 1011 orders were left out/],
  ["a violation", { ...seen(), comparison: { ...comparison, violations: ["d under h"] } }, /d under h/],
  ["a halt that is not stored", { ...seen(), comparison: { ...comparison, halts: 1 } }, /2 halts .* 1 are stored/],
  ["no comparison", { ...seen(), comparison: undefined }, /not compared/],
])("%s is reported", (_name, byDefault, reported) => {
  const { shortfalls } = judged(byDefault);
  expect(shortfalls).toHaveLength(1);
  expect(shortfalls[0]).toMatch(reported);
});

test("over NATS nothing is promised of the time", () => {
  expect(judged(seen(), seen({ halts: [{ ...sample, blockMs: 800 }, sample] })).shortfalls).toEqual([]);
});
