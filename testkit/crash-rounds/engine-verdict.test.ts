// Each rule of the engine's verdict, and the model of its books, seen to fail: a judge that always says yes proves nothing.
import { describe, expect, test } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { EngineSnapshot } from "../../core/engine/snapshot.ts";
import { createModel } from "./engine-model.ts";
import { type EngineEvidence, type JournalDecision, judgeEngine, type StoredHalt } from "./engine-verdict.ts";
import type { Answer } from "./engine-witness.ts";

const decision: JournalDecision = {
  id: 1n,
  atMicroseconds: 1_000_000,
  decisionId: "d1",
  key: "k1",
  approved: true,
  code: "",
  digest: "bytes of d1",
  fundId: "alpha",
  strategyId: "alpha-momentum",
  reduceOnly: false,
  classification: "INCREASE",
  haltEpoch: 3,
  messageIds: ["d1"],
};
const answer: Answer = {
  kind: "first",
  key: "k1",
  orderId: "o1",
  tries: 1,
  sentAt: 10,
  fundId: "alpha",
  strategyId: "alpha-momentum",
  reduceOnly: false,
  decisionId: "d1",
  approved: true,
  code: "",
  classification: "INCREASE",
  digest: "bytes of d1",
  originalId: undefined,
  originalApproved: false,
  originalDigest: undefined,
};
const duplicate: JournalDecision = {
  ...decision,
  id: 2n,
  atMicroseconds: 2_000_000,
  decisionId: "d2",
  approved: false,
  code: "DUPLICATE_KEY",
  digest: "bytes of d2",
  messageIds: ["d2", "d2/0"],
};
const reported: Answer = {
  ...answer,
  kind: "again",
  decisionId: "d2",
  approved: false,
  code: "DUPLICATE_KEY",
  digest: "bytes of d2",
  originalId: "d1",
  originalApproved: true,
  originalDigest: "bytes of d1",
};
const halt: StoredHalt = {
  haltId: "h1",
  severity: "FUND_HALT",
  fund_id: "alpha",
  strategy_id: undefined,
  epoch: 4,
  lift: undefined,
};
const good: EngineEvidence = {
  answers: [answer, reported],
  decisions: [decision, duplicate],
  acknowledged: [{ haltId: "h1", fromSend: 10, untilSend: 20 }],
  halts: [halt],
  heard: new Map([
    ["d1", 1],
    ["d2", 2],
    ["d2/0", 1],
  ]),
};
const replaced = (changed: Partial<Answer>): EngineEvidence => ({
  ...good,
  answers: [answer, { ...reported, ...changed }],
});

describe("the verdict", () => {
  test("has nothing against what is right", () => {
    expect(judgeEngine(good)).toEqual([]);
  });

  test.each<[rule: string, evidence: EngineEvidence, sentence: RegExp]>([
    ["1", { ...good, decisions: [duplicate] }, /1 approvals that were answered are not in the journal: o1/],
    ["1", { ...good, decisions: [decision] }, /1 denials that were answered are not in the journal/],
    ["1", { ...good, answers: [{ ...answer, digest: "other bytes" }] }, /1 answers differ from the journal/],
    [
      "2",
      { ...good, decisions: [decision, { ...duplicate, code: "" }] },
      /1 keys have two first decisions in the jour/,
    ],
    ["2", { ...good, decisions: [decision, { ...duplicate, code: "" }] }, /1 keys have two first decisions among the/],
    ["3", replaced({ originalId: undefined }), /1 repeated orders were not told their first decision/],
    ["3", replaced({ originalDigest: "other bytes" }), /1 repeated orders were not told their first decision/],
    ["3", replaced({ kind: "other body" }), /1 reused keys were not refused as such: o1 \(d2\) got DUPLICATE_KEY/],
    ["4", replaced({ kind: "first" }), /1 orders have neither their first decision nor its copy/],
    ["4", replaced({ kind: "first", tries: 2, originalId: undefined }), /1 orders have neither/],
    ["5", { ...good, decisions: [{ ...decision, haltEpoch: 4 }, duplicate] }, /1 approvals carry an epoch/],
    ["6", { ...good, answers: [{ ...answer, sentAt: 11 }, reported] }, /1 orders were approved that were sent after a/],
    ["6", { ...good, halts: [] }, /1 acknowledged halts are not stored: h1/],
    ["7", { ...good, heard: new Map([["d1", 1]]) }, /2 messages were never delivered: d2, d2\/0/],
    ["7", { ...good, heard: new Map([...good.heard, ["d9", 1]]) }, /1 messages were delivered that the journal does/],
  ])("rule %s", (_rule, evidence, sentence) => {
    expect(judgeEngine(evidence).join("\n")).toMatch(sentence);
  });

  test("a second first decision after five minutes, an approval after the lifting, and a marked reduction are fine", () => {
    const later = { ...duplicate, code: "", atMicroseconds: 1_000_000 + 300_000_000 };
    expect(judgeEngine({ ...good, answers: [], decisions: [decision, later] })).toEqual([]);
    const lifted = { ...good, halts: [{ ...halt, lift: { epoch: 5 } }] };
    expect(judgeEngine({ ...lifted, decisions: [{ ...decision, haltEpoch: 5 }, duplicate] })).toEqual([]);
    const reduction = { classification: "REDUCE", reduceOnly: true };
    const decisions = [{ ...decision, ...reduction, haltEpoch: 4 }, duplicate];
    expect(judgeEngine({ ...good, decisions, answers: [{ ...answer, ...reduction, sentAt: 11 }] })).toEqual([]);
    expect(judgeEngine(replaced({ kind: "first", tries: 2 }))).toEqual([]);
  });
});

describe("the model", () => {
  const order = { order_id: "o1", fund_id: "alpha", symbol: "AAPL", side: "SELL", quantity: "10" } as Order;
  const about = { order_id: "o1", fund_id: "alpha", strategy_id: "s", symbol: "AAPL" };
  const fill = { ...about, fill_id: "f1", side: "SELL", quantity: "4", price: "1", filled_at: "" } as const;
  const ending = { ...about, from: "WORKING", to: "CANCELLED", remaining_quantity: "0", at: "" } as const;

  function model() {
    const made = createModel();
    made.approve(order);
    return made;
  }

  test("holds what may still fill, whichever of fill and ending comes first", () => {
    const one = model();
    expect(one.holding("alpha", "AAPL")).toEqual({ position: "0", pendingBuy: "0", pendingSell: "10" });
    one.fill(fill);
    expect(one.holding("alpha", "AAPL")).toEqual({ position: "-4", pendingBuy: "0", pendingSell: "6" });
    const other = model();
    other.transition({ ...ending, filled_quantity: "4" });
    expect(other.holding("alpha", "AAPL")).toEqual({ position: "0", pendingBuy: "0", pendingSell: "4" });
    other.fill(fill);
    expect(other.holding("alpha", "AAPL")).toEqual({ position: "-4", pendingBuy: "0", pendingSell: "0" });
    expect(other.openCount()).toBe(0);
  });

  test("tells a snapshot that lost a reservation or a position", () => {
    const one = model();
    one.fill(fill);
    const empty: EngineSnapshot = { form: 1, at: "", funds: [], strategies: [], orders: [] };
    expect(one.differences(empty)).toEqual([
      "the position alpha AAPL is 0, the journal says -4",
      "the open order o1 is undefined, the journal says 10 filled 4",
    ]);
  });

  test("holds nothing of an approval that ran out, until a trade or an end shows that it was sent", () => {
    const one = model();
    one.expire("o1");
    expect(one.holding("alpha", "AAPL").pendingSell).toBe("0");
    one.fill(fill);
    expect(one.holding("alpha", "AAPL")).toEqual({ position: "-4", pendingBuy: "0", pendingSell: "6" });
    expect(one.complaints()).toEqual([]);
    one.expire("never approved");
    expect(one.complaints()).toEqual(["the approval of never approved ran out, and it was not open"]);
  });

  test("tells when an open order is approved a second time", () => {
    const one = model();
    one.approve(order);
    expect(one.complaints()).toEqual(["the order o1 was approved while it was open"]);
  });
});
