// What a decision is heard as, and what becomes of a row that is none.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import { subjectByName, subjects } from "../../contracts/src/subjects.ts";
import { decode } from "../../testkit/memory/codec.ts";
import { appendDecisions } from "../../testkit/memory/decisions.ts";
import { memoryTables } from "../../testkit/memory/tables.ts";
import { testDecision } from "../../testkit/test-decisions.ts";
import { decisionSubjects, expandedDecision, messagesPerDecisionMax } from "./decision-messages.ts";

const at = fromMicroseconds(1_700_000_000_000_000);

it("is one message per gate in order, then the decision, under ids that follow from the decision's", () => {
  const decision = testDecision("o-1", "denied");
  const messages = expandedDecision({ ...decision, at });
  expect(messages.map((message) => message.id)).toEqual([
    `${decision.decisionId}/0`,
    `${decision.decisionId}/1`,
    `${decision.decisionId}/2`,
    decision.decisionId,
  ]);
  expect(messages.map((message) => message.subject)).toEqual([
    subjects.gatePassed.name,
    subjects.gatePassed.name,
    subjects.gateFailed.name,
    subjects.decisionMade.name,
  ]);
  for (const message of messages) {
    expect(message).toMatchObject({ key: "o-1", at, source: "riskengine" });
    expect(subjectByName(message.subject)?.schema.safeParse(JSON.parse(message.payload)).error).toBeUndefined();
  }
  expect(expandedDecision({ ...decision, at })).toEqual(messages);
});

it("never has more messages than are remembered", () => {
  expect(expandedDecision({ ...testDecision("o"), at }).length).toBeLessThan(messagesPerDecisionMax);
  expect(new Set(decisionSubjects).size).toBe(3);
});

it("makes only what is wanted", () => {
  const decision = testDecision("o-1");
  const made = expandedDecision({ ...decision, at }, (subject) => subject === subjects.decisionMade.name);
  expect(made.map((message) => message.id)).toEqual([decision.decisionId]);
  expect(expandedDecision({ ...decision, at }, (subject) => subject === subjects.gateFailed.name)).toEqual([]);
});

it("keeps a key bearable: no zero character, at most 256 units, no half character at the end", () => {
  const keyOf = (orderId: string) => expandedDecision({ ...testDecision(orderId), at })[0]?.key;
  expect(keyOf("a\0b")).toBe("ab");
  expect(keyOf("x".repeat(5_000))).toBe("x".repeat(256));
  expect(keyOf(`${"x".repeat(255)}😀`)).toBe("x".repeat(255));
});

it.each([
  ["nothing", Buffer.alloc(0)],
  ["rubbish", Buffer.from([0x0a, 0xff, 0xff, 0xff])],
  ["the first half of a decision", Buffer.from(testDecision("o").payload.slice(0, 200))],
])("makes one poisoned message of %s, which keeps the bytes", (_name, payload) => {
  const [only, ...others] = expandedDecision({ decisionId: "d", orderId: "o", at, payload });
  expect(others).toEqual([]);
  expect(only?.poison).toContain("is no decision");
  expect(only).toMatchObject({ id: "d", subject: subjects.decisionMade.name, key: "o" });
  expect(only?.payload).toBe(`base64:${payload.toString("base64")}`);
});

it("stands in the memory store's log as what is heard, a poisoned one as what nobody can decode", () => {
  const tables = memoryTables();
  const decision = testDecision("o-1");
  appendDecisions(tables, [
    { ...decision, at },
    { decisionId: "bad", orderId: "o", at, payload: Buffer.alloc(0) },
  ]);
  const messages = expandedDecision({ ...decision, at });
  expect(tables.log.map((entry) => entry.id)).toEqual([...messages.map((message) => message.id), "bad"]);
  expect(tables.log.map((entry) => entry.sequence)).toEqual(tables.log.map((_, index) => index + 1));
  expect(tables.log.map((entry) => decode(entry, subjectByName).ok)).toEqual([...messages.map(() => true), false]);
});
