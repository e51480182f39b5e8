// Recorded decisions are made again and held against the audit log: what is as it was is the same, and each thing that somebody changed is listed, alone.
import { expect, it } from "vitest";
import type { Order, RiskDecision } from "../../../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import { format, plusMilliseconds } from "../../../contracts/src/instant.ts";
import {
  chosenCount,
  type DecisionRow,
  decisionId,
  entryOf,
  pastStart,
  verifyFixture,
} from "../../../testkit/replay/verify-fixture.ts";

it("every record that is as it was is the same or skipped, and they add up", async () => {
  const { verify, rows } = verifyFixture();
  const verdict = await verify();
  expect(verdict).toMatchObject({ decisions: rows.length, different: 0, differences: [] });
  expect(verdict.same + verdict.skipped).toBe(rows.length);
  expect(verdict.same).toBeGreaterThan(15);
});

const changes: readonly (readonly [what: string, cause: string, change: (row: DecisionRow) => void])[] = [
  [
    "an order",
    "AUDIT",
    (row) => changed(row, (record) => ({ ...record, order: { ...record.order, quantity: "999999" } as Order })),
  ],
  [
    "a verdict",
    "AUDIT",
    (row) =>
      changed(row, (record) => ({ ...record, decision: { ...record.decision, approved: false } as RiskDecision })),
  ],
  [
    "the column of a verdict",
    "AUDIT",
    (row) => {
      row.approved = !row.approved;
    },
  ],
  [
    "its entry away",
    "AUDIT",
    (row) => {
      delete row.entry;
    },
  ],
  [
    "the record to rubbish",
    "UNREADABLE",
    (row) => {
      row.payload = new Uint8Array([0xff, 0xff]);
    },
  ],
  [
    "the inputs to rubbish",
    "UNREADABLE",
    (row) => changed(row, (record) => ({ ...record, inputs: new Uint8Array([13, 2, 0, 1]) })),
  ],
];

it.each(changes)("whoever changes %s is found: exactly that one, as %s", async (_what, cause, change) => {
  const { verify, rows, log } = verifyFixture();
  const at = rows.findIndex(({ approved }, number) => approved && number > 10);
  const row = rows[at] as DecisionRow;
  const { entry } = row;
  change(row);
  if (row.entry === undefined)
    log.splice(
      log.findIndex(({ sequence }) => sequence === entry?.sequence),
      1,
    );
  const verdict = await verify();
  expect(verdict).toMatchObject({ decisions: rows.length, different: 1 });
  expect(verdict.differences).toMatchObject([{ decision_id: decisionId(at), cause }]);
});

function changed(row: DecisionRow, change: (record: DecisionRecord) => DecisionRecord): void {
  row.payload = DecisionRecord.encode(change(DecisionRecord.decode(row.payload))).finish();
}

it("a record that decides otherwise by its limits is a DECISION, with both verdicts", async () => {
  const { verify, rows } = verifyFixture();
  const at = rows.findIndex(({ code }) => code === "NOTIONAL_ABOVE_MAX" || code === "POSITION_LIMIT_EXCEEDED");
  const row = rows[at] as DecisionRow;
  const approved = { approved: true, code: "", rejecting_gate: "" };
  changed(row, (record) => ({ ...record, decision: { ...record.decision, ...approved } as RiskDecision }));
  row.approved = true;
  row.code = "";
  row.entry = entryOf(row, row.entry?.sequence ?? 0);
  const { differences } = await verify();
  expect(differences).toMatchObject([
    { cause: "DECISION", recorded: { approved: true, code: "" }, replayed: { approved: false } },
  ]);
});

it("a record that is gone is a difference and not a smaller number", async () => {
  const { verify, rows } = verifyFixture();
  const [gone] = rows.splice(20, 1);
  const verdict = await verify();
  expect(verdict).toMatchObject({ decisions: chosenCount, different: 1 });
  expect(verdict.differences).toMatchObject([
    { cause: "MISSING", order_id: gone?.orderId, recorded: { code: gone?.code } },
  ]);
});

it("nothing is judged that the log may not have taken in, and it says up to where it was", async () => {
  const { verify } = verifyFixture({ through: plusMilliseconds(pastStart, 25_000) });
  const verdict = await verify();
  expect(verdict).toMatchObject({ through: format(plusMilliseconds(pastStart, 20_000)), decisions: 20, different: 0 });
});

it("one runs for each person, and another's runs beside it", async () => {
  const { verify } = verifyFixture();
  const [first, second, other] = await Promise.allSettled([verify(), verify(), verify({}, "operator:relief")]);
  expect(first).toMatchObject({ status: "fulfilled" });
  expect(second).toMatchObject({ status: "rejected", reason: { code: "RESOURCE_EXHAUSTED" } });
  expect(other).toMatchObject({ status: "fulfilled" });
  await expect(verify()).resolves.toMatchObject({ different: 0 });
});

it("lists as many differences as asked and counts all", async () => {
  const { verify, rows, log } = verifyFixture();
  log.splice(0);
  for (const row of rows) delete row.entry;
  const verdict = await verify({ count_max: 3 });
  expect(verdict.differences).toHaveLength(3);
  expect(verdict.different).toBe(rows.length);
});

it.each([
  [{ from: "2030-01-01T00:00:00Z" }, /lies in the future/],
  [{ from: "2026-01-01T00:00:00Z" }, /more than 31 days/],
  [{ from: format(plusMilliseconds(pastStart, 9_000)), to: format(pastStart) }, /is after to/],
])("refuses %j by name", async (request, words) => {
  await expect(verifyFixture().verify(request)).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(words),
  });
});

it("what is left for want of time is judged by the next question: nothing twice, and nothing is missed or missing", async () => {
  // Five at a time were decided in one moment, and one is numbered behind others that were decided after it.
  const secondOf = (number: number): number => (number === 30 ? 3 : Math.floor(number / 5));
  const { verify } = verifyFixture({ secondOf, lookMs: 5_000 });
  const to = format(plusMilliseconds(pastStart, 100_000));
  const pieces = [await verify({ to })];
  while (pieces.at(-1)?.through !== to) pieces.push(await verify({ from: pieces.at(-1)?.through, to }));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.map(({ different }) => different)).toEqual(pieces.map(() => 0));
  expect(pieces.reduce((sum, { decisions }) => sum + decisions, 0)).toBe(chosenCount);
});

it("a record of whose entry something was sealed is skipped as ERASED, and is no difference", async () => {
  const { verify, rows } = verifyFixture();
  const row = rows[20] as DecisionRow;
  const sealed = { sealed: "AAAA", subject_key: "k-1" };
  row.entry = entryOf(row, row.entry?.sequence ?? 0, (payload) => ({ ...payload, actor: sealed }));
  const { decisions, different, skipped_causes } = await verify();
  expect([decisions, different]).toEqual([chosenCount, 0]);
  expect(skipped_causes).toContainEqual({ cause: "ERASED", count: 1 });
});
