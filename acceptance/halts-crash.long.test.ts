// The full count: kill -9 at every named place of raising and lifting, of a victim that the seed turns on, 25 rounds at random moments, and restarts of the
// five services in random orders while halts are in force.
import { expect, test } from "vitest";
import type { HaltAction } from "../testkit/crash-rounds/halt-actions.ts";
import { type HaltRound, haltVictims, reportHaltRounds } from "../testkit/crash-rounds/halt-rounds.ts";
import { seedOfRun } from "../testkit/crash-rounds/rounds.ts";
import { prng } from "../testkit/virtual/prng.ts";

const replay = "PORTCULLIS_TEST_LONG=1 npx vitest run acceptance/halts-crash.long.test.ts";
const randomRounds = 25;
const steps = [
  "BLOCKED, before its row",
  "CANCELLED, before its row",
  "NOTIFIED, before its row",
  "NOTIFIED, at its commit",
] as const;
const latch = ["latch, before its row", "latch, at its commit"] as const;
const lift = ["lift, before its rows", "lift, at its commit", "after the answer"] as const;
const request = [
  "code, at its commit",
  "request, before its row",
  "request, at its commit",
  "after the answer",
] as const;
const places: readonly (readonly [HaltAction, readonly HaltRound["place"][]])[] = [
  ["halt through operations", [...latch, ...steps, "after the answer"]],
  ["halt through riskengine", [...latch, "adoption, before its row", ...steps.slice(0, 2), "after the answer"]],
  ["loss", [...latch, "adoption, before its row"]],
  ["resume through operations", lift],
  ["resume through riskengine", lift],
  ["ask through operations", request],
  ["ask through riskengine", request.slice(2)],
  ["sign through operations", ["code, at its commit", ...lift]],
  ["sign through riskengine", ["code, at its commit", ...lift]],
];

function victimAt(index: number): HaltRound["victim"] {
  return haltVictims[index % haltVictims.length] ?? "both";
}

function roundsOf(seed: number): readonly HaltRound[] {
  const throws = prng(seed).fork("rounds");
  const named = places.flatMap(([action, all]) => all.map((place) => ({ action, place })));
  const planned = named.map((one, index) => ({ ...one, victim: victimAt(seed + index) }));
  const random = Array.from({ length: randomRounds }, (): HaltRound => {
    const action = places[throws.below(places.length)]?.[0] ?? "loss";
    return { action, place: "at random", victim: victimAt(throws.below(haltVictims.length)) };
  });
  return [...planned, ...random];
}

test("kill -9 at every step of raising and lifting", { timeout: 1_800_000 }, async () => {
  const seed = seedOfRun();
  const rounds = roundsOf(seed);
  const summary = await reportHaltRounds({ seed, rounds, restarts: 6 }, replay);
  expect(summary.rounds).toBe(rounds.length);
  expect(summary.haltsUnanswered).toBeGreaterThan(5);
  expect(summary.liftsUnanswered).toBeGreaterThan(5);
  expect(summary.haltsByLosses).toBeGreaterThan(3);
  expect(summary.approvals).toBeGreaterThan(500);
});
