// The verdict about the audit log must be able to say no, to each of the things that it is about.
import { expect, test } from "vitest";
import { action } from "./audit-load.ts";
import { type AuditEvidence, judgeAudit } from "./audit-verdict.ts";

function row(sequence: number, key: string, number: number) {
  const entry = { sequence, action, hash: `hash-${sequence}`, data: { key, lane: "lane-1", number } };
  return { sequence, eventId: `event-${key}`, text: JSON.stringify(entry) };
}

const acknowledged = { key: "b", lane: "lane-1", number: 1, sequence: 1, hash: "hash-1" };
const whole: AuditEvidence = {
  rows: [row(0, "a", 0), row(1, "b", 1), row(2, "c", 2)],
  appends: [acknowledged],
  published: ["event-a"],
  committed: ["event-c"],
};

test("a whole log passes", () => {
  expect(judgeAudit(whole)).toEqual([]);
});

const broken: readonly (readonly [string, Partial<AuditEvidence>, string])[] = [
  ["a hole", { rows: [row(0, "a", 0), row(1, "b", 1), row(3, "c", 2)] }, "entry 3 stands where 2 should"],
  [
    "an event twice",
    { rows: [row(0, "a", 0), row(1, "b", 1), { ...row(2, "c", 2), eventId: "event-a" }] },
    "stands in 0 and 2",
  ],
  [
    "an append twice",
    { rows: [...whole.rows, { ...row(3, "b", 3), eventId: "other" }] },
    "the append b stands in 1 and 3",
  ],
  ["another order", { rows: [row(0, "a", 1), row(1, "b", 0), row(2, "c", 2)] }, "lane-1 appended 0 after 1"],
  ["a text of another entry", { rows: [row(0, "a", 0), row(1, "b", 1), { ...row(7, "c", 2), sequence: 2 }] }, "says 7"],
  ["a lost append", { appends: [{ ...acknowledged, key: "x" }] }, "was acknowledged as 1 and is missing"],
  ["another place", { appends: [{ ...acknowledged, sequence: 2 }] }, "was acknowledged as 2 hash-1 and is 1 hash-1"],
  ["another hash", { appends: [{ ...acknowledged, hash: "no" }] }, "was acknowledged as 1 no and is 1 hash-1"],
  ["a lost event", { published: ["event-x"] }, "the event event-x was published and is no entry"],
  ["an event left behind", { committed: ["event-y"] }, "the event event-y is in the outbox and is no entry"],
];

test.each(broken)("%s is noticed", (_name, change, sentence) => {
  expect(judgeAudit({ ...whole, ...change }).join("; ")).toContain(sentence);
});
