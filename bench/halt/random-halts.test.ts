// The judge of halts at random moments: which stored decision breaks which stored halt. random-halts.ci.test.ts has thirty halts, the long one a thousand.
import { expect, test } from "vitest";
import { createHaltJudge, type DecisionRow, type HaltRow } from "../../testkit/halt-records.ts";

const halt: HaltRow = {
  haltId: "h",
  severity: "FUND_HALT",
  fund_id: "f",
  strategy_id: undefined,
  epoch: 5,
  lift: { epoch: 8 },
  blockedUs: 1_000,
};
const decision: DecisionRow = {
  decisionId: "d",
  fundId: "f",
  strategyId: "s",
  approved: true,
  code: "",
  isNewRisk: true,
  haltEpoch: 4,
  decidedUs: 900,
};

test.each<[string, Partial<HaltRow>, Partial<DecisionRow>, number]>([
  ["before the halt", {}, {}, 0],
  ["after the lift", {}, { haltEpoch: 8, decidedUs: 9_000 }, 0],
  ["a denial under it", {}, { haltEpoch: 5, approved: false, code: "FUND_HALTED" }, 0],
  ["a proven reduction under it", {}, { haltEpoch: 6, isNewRisk: false }, 0],
  ["another fund", {}, { haltEpoch: 6, fundId: "g" }, 0],
  ["an approval with its epoch", {}, { haltEpoch: 5 }, 1],
  ["an approval with a later epoch before its lift", {}, { haltEpoch: 7 }, 1],
  ["a halt that was never lifted", { lift: undefined }, { haltEpoch: 9 }, 1],
  ["an older epoch after it was proven to block", {}, { decidedUs: 1_001 }, 1],
  ["a firm's halt", { severity: "FIRM_HALT", fund_id: "" }, { haltEpoch: 5, fundId: "g" }, 1],
  ["a strategy's halt", { severity: "STRATEGY_HALT", strategy_id: "s" }, { haltEpoch: 5 }, 1],
  ["another strategy's halt", { severity: "STRATEGY_HALT", strategy_id: "t" }, { haltEpoch: 5 }, 0],
  ["an epoch that never was", {}, { haltEpoch: 10 }, 1],
])("the comparison: %s", (_name, haltIs, decisionIs, violations) => {
  const judge = createHaltJudge([{ ...halt, ...haltIs }], 9);
  judge.see({ ...decision, ...decisionIs });
  expect(judge.found().violations).toHaveLength(violations);
});
