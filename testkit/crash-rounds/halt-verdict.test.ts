// Each rule of the verdict on halts seen to fail: a judge that always says yes proves nothing.
import { expect, test } from "vitest";
import type { HaltFacts, HaltLedger, HaltRow, LiftAsked } from "./halt-ledger.ts";
import { judgeHaltFacts } from "./halt-verdict.ts";

const row = (haltId: string, epoch: number, liftedEpoch?: number): HaltRow => ({
  haltId,
  severity: "FUND_HALT",
  fundId: "beta",
  strategyId: "",
  requestedBy: "operator:duty",
  epoch,
  liftedEpoch,
});
const names = ["BLOCKED", "CANCELLED", "NOTIFIED"] as const;
const stepsOf = (...ids: readonly string[]) => ids.flatMap((id) => names.map((step) => ({ halt_id: id, step })));
const liftOf = (id: string, epoch = 3, by = "operator:relief") => ({
  halt_id: id,
  epoch,
  requested_by: "operator:duty",
  cosigned_by: by,
});
const lift: LiftAsked = {
  haltIds: ["h1", "h2"],
  requestedBy: "operator:duty",
  cosignedBy: "operator:relief",
  requestId: "r1",
  wasAnswered: true,
};

/** Two halts that were raised, answered and lifted together. */
const lifted = {
  rows: [row("h1", 1, 3), row("h2", 2, 3)],
  epoch: 3,
  steps: stepsOf("h1", "h2").map(({ halt_id: id, step }) => `${step} ${id}`),
  signed: ["r1"],
  reported: {
    requested: [{ halt_id: "h1" }, { halt_id: "h2" }],
    steps: stepsOf("h1", "h2"),
    lifted: [liftOf("h1"), liftOf("h2")],
    asked: [],
    ended: [],
  },
} as unknown as HaltFacts;
const standing: HaltFacts = {
  ...lifted,
  rows: [row("h1", 1), row("h2", 2)],
  epoch: 2,
  signed: [],
  reported: { ...lifted.reported, lifted: [] },
};
const ledger = (lifts: readonly LiftAsked[]): HaltLedger => ({
  answered: new Set(["h1", "h2"]),
  unanswered: new Set<string>(),
  lifts: [...lifts],
});
const unanswered: LiftAsked = { ...lift, wasAnswered: false };
const wrongs = (facts: HaltFacts, ...lifts: readonly LiftAsked[]): string =>
  judgeHaltFacts(ledger(lifts), facts).join("\n");
const withReported = (facts: HaltFacts, reported: object): HaltFacts => ({
  ...facts,
  reported: { ...facts.reported, ...reported },
});

test("what is right is let pass: in force, lifted, and lifted without an answer or not", () => {
  expect(wrongs(standing)).toBe("");
  expect(wrongs(lifted, lift)).toBe("");
  expect(wrongs(standing, unanswered)).toBe("");
  expect(wrongs(lifted, unanswered)).toBe("");
});

test("1 an answered halt that is gone, one that nobody lifted, one that nobody raised", () => {
  expect(wrongs({ ...standing, rows: [row("h1", 1)] })).toContain("h2 was answered and is gone");
  expect(wrongs(lifted)).toContain("h1 is lifted, and nobody asked for that");
  const rows = [...standing.rows, row("h3", 3)];
  expect(wrongs({ ...standing, rows, epoch: 3 })).toContain("h3 is in force, and nobody asked for it");
});

test("2 a lift by half, in two epochs, without its answer's truth, reported wrongly, by others", () => {
  const half = withReported({ ...lifted, rows: [row("h1", 1, 3), row("h2", 2)] }, { lifted: [liftOf("h1")] });
  expect(wrongs(half, unanswered)).toContain("happened by half");
  const split = withReported({ ...lifted, rows: [row("h1", 1, 3), row("h2", 2, 4)], epoch: 4 }, {});
  expect(wrongs(split, unanswered)).toContain("happened by half");
  expect(wrongs(standing, lift)).toContain("was answered and is not complete");
  expect(wrongs({ ...lifted, signed: [] }, lift)).toContain("did not end by it");
  expect(wrongs(withReported(lifted, { lifted: [liftOf("h1")] }), lift)).toContain("h2 was not reported once");
  expect(wrongs(withReported(standing, { lifted: [liftOf("h1")] }), unanswered)).toContain("reported that is not so");
  const byOne = withReported(lifted, { lifted: [liftOf("h1", 3, "operator:duty"), liftOf("h2", 3, "operator:duty")] });
  expect(wrongs(byOne, lift)).toContain("was signed, and");
});

test("3 a step twice, reported and not recorded, not proven, and a halt that was reported twice or never", () => {
  const twice = withReported(standing, { steps: [...standing.reported.steps, ...stepsOf("h1").slice(0, 1)] });
  expect(wrongs(twice)).toContain("BLOCKED h1 is recorded 1 and reported 2 times");
  expect(wrongs({ ...standing, steps: standing.steps.slice(1) })).toContain(
    "BLOCKED h1 is recorded 0 and reported 1 times",
  );
  const open = withReported(
    { ...standing, steps: standing.steps.slice(1) },
    { steps: standing.reported.steps.slice(1) },
  );
  expect(wrongs(open)).toContain("BLOCKED h1 is not proven");
  const { requested } = standing.reported;
  expect(wrongs(withReported(standing, { requested: [...requested, ...requested] }))).toContain("reported h1 twice");
  expect(wrongs(withReported(standing, { requested: requested.slice(1) }))).toContain("has not reported h1");
});

test("4 an epoch that two changes share, and one that nothing has", () => {
  expect(wrongs({ ...standing, rows: [row("h1", 2), row("h2", 2)] })).toContain("share an epoch");
  expect(wrongs({ ...standing, epoch: 5 })).toContain("the epoch is 5");
});
