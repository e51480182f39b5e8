// What people ask about decisions and envelopes is answered completely, in order and page by page.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { HaltQuery, StoredDecision, StoredRejection } from "../../../ports/risk-queries.ts";
import { referenceConformance } from "../../../testkit/conformance/reference-data.ts";
import { batch, decision } from "../../../testkit/conformance/risk-store-fixture.ts";
import { envelope } from "../../../testkit/conformance/risk-store-reads.ts";
import {
  type PostgresRiskFixture,
  postgresReferenceFixture,
  postgresRiskStoreFixture,
} from "../../../testkit/risk/store-fixtures.ts";
import { createRiskQueries } from "./risk-queries.ts";

referenceConformance("PostgreSQL", postgresReferenceFixture);

const start = 1_700_000_000_000_000;
const at = (second: number) => (start + second * 1_000_000) as Instant;
let fixture: PostgresRiskFixture;
let queries: ReturnType<typeof createRiskQueries>;

// Every second one decision; every third is denied, two in three are alpha's. Two share each of the first ten order ids.
beforeAll(async () => {
  fixture = await postgresRiskStoreFixture();
  queries = createRiskQueries(fixture.peer.pool);
  const writerEpoch = await fixture.risk.takeWriterEpoch("one");
  const entries = Array.from({ length: 60 }, (_unused, n) =>
    decision(fixture, n, {
      at: at(n),
      fundId: n % 3 === 1 ? "beta" : "alpha",
      orderId: n < 20 ? `order-${n % 10}` : n === 20 ? "zero\0" : `order-${n}`,
      ...(n % 3 === 0 ? { approved: false, code: "NO_PRICE" } : {}),
      payload: Buffer.from(String(n)),
    }),
  );
  await fixture.risk.append(batch(fixture, writerEpoch, entries));
});
afterAll(async () => {
  await fixture.close();
});

const numbers = (found: readonly StoredRejection[]) =>
  found.map((one) => ("payload" in one ? Number(Buffer.from(one.payload).toString()) : one.order.order_id));
const cursorOf = (last: StoredRejection | undefined) =>
  last === undefined ? {} : { afterDecisionId: "payload" in last ? last.decisionId : `oms:${last.order.order_id}` };
const where = (test: (n: number) => boolean) => Array.from({ length: 60 }, (_unused, n) => n).filter(test);

it("lists rejections, newest first, page by page", async () => {
  const all = await queries.rejections({ since: at(10), countMax: 100 });
  expect(numbers(all)).toEqual(where((n) => n >= 10 && n % 3 === 0).reverse());
  const paged: StoredRejection[] = [];
  for (;;) {
    const asked = { fundId: "alpha", since: at(10), countMax: 4 };
    const page = await queries.rejections({ ...asked, ...cursorOf(paged.at(-1)) });
    if (page.length === 0) break;
    paged.push(...page);
  }
  expect(numbers(paged)).toEqual(numbers(all));
  expect(await queries.rejections({ fundId: "beta", since: at(0), countMax: 10 })).toEqual([]);
  expect(await queries.rejections({ fundId: "a\0", since: at(0), countMax: 10 })).toEqual([]);
  expect(await queries.rejections({ since: at(0), countMax: 10, afterDecisionId: "nonsense" })).toEqual([]);
  expect(await queries.rejections({ since: at(0), countMax: 10, afterDecisionId: fixture.uuid() })).toEqual([]);
});

it("22.9: orders that order management refused stand in the same list, at their time, and no page loses or repeats one", async () => {
  const refuse = (orderId: string, second: number, fundId: string, code: string, state = "REJECTED") =>
    fixture.peer.pool.query(
      `insert into oms_order (order_id, idempotency_key, fund_id, state, is_open, created_us, updated_us, content)
       values ($1, $1, $2, $3, false, $4, $5, $6)`,
      [orderId, fundId, state, at(0), at(second), JSON.stringify({ order: { order_id: orderId }, code, reason: "r" })],
    );
  // Two of the same moment, one of the same moment as a decision, and what is no refusal of order management's own.
  await refuse("a", 30, "alpha", "ORDER_HALTED");
  await refuse("b", 30, "beta", "ORDER_HALTED");
  await refuse("c", 31, "alpha", "APPROVAL_OUTDATED");
  await refuse("d", 58, "alpha", "ORDER_CHECK_UNANSWERED");
  await refuse("e", 11, "alpha", "APPROVAL_EXPIRED");
  await refuse("f", 59, "alpha", "APPROVAL_RELEASED");
  await refuse("g", 56, "alpha", "ORDER_FUND_FLATTENING");
  await refuse("denied", 40, "alpha", "NOTIONAL_ABOVE_MAX");
  await refuse("gone", 41, "alpha", "ORDER_HALTED", "CANCELLED");
  await refuse("old", 5, "alpha", "ORDER_HALTED");
  const all = numbers(await queries.rejections({ since: at(10), countMax: 100 }));
  expect(all).toEqual([
    "f",
    "d",
    57,
    "g",
    54,
    51,
    48,
    45,
    42,
    39,
    36,
    33,
    "c",
    30,
    "b",
    "a",
    27,
    24,
    21,
    18,
    15,
    12,
    "e",
  ]);
  for (const countMax of [1, 2, 3, 7]) {
    const paged: StoredRejection[] = [];
    for (;;) {
      const page = await queries.rejections({ since: at(10), countMax, ...cursorOf(paged.at(-1)) });
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(numbers(paged)).toEqual(all);
  }
  const ofBeta = await queries.rejections({ fundId: "beta", since: at(0), countMax: 10 });
  expect(ofBeta).toEqual([{ refusedAt: at(30), order: { order_id: "b" }, code: "ORDER_HALTED", reason: "r" }]);
  expect(await queries.rejections({ since: at(0), countMax: 10, afterDecisionId: "oms:nobody" })).toEqual([]);
});

it("finds every decision about an order, oldest first, also by an id that no text can hold", async () => {
  expect(numbers(await queries.decisionsOf("order-3", 10))).toEqual([3, 13]);
  expect(numbers(await queries.decisionsOf("order-3", 1))).toEqual([3]);
  expect(numbers(await queries.decisionsOf("zero\0", 10))).toEqual([20]);
  expect(await queries.decisionsOf("nobody's", 10)).toEqual([]);
});

it("reads a fund's decisions of a time in pages", async () => {
  const wanted = where((n) => n >= 5 && n < 50 && n % 3 !== 1);
  for (const page of [1, 7, 100]) {
    const found: StoredDecision[] = [];
    for (;;) {
      const more = await queries.decisionsBetween("alpha", at(5), at(50), found.at(-1)?.id ?? 0n, page);
      if (more.length === 0) break;
      found.push(...more);
    }
    expect(numbers(found)).toEqual(wanted);
  }
  expect(await queries.decisionsBetween("alpha", at(100), at(200), 0n, 10)).toEqual([]);
});

it("has every version of an envelope", async () => {
  for (const version of [1, 2, 3]) {
    await fixture.store.transact("test.put", (unit) => unit.risk.putEnvelope(envelope("alpha", version)));
  }
  expect(await queries.envelope("alpha", undefined)).toEqual(envelope("alpha", 3));
  expect(await queries.envelope("alpha", 2)).toEqual(envelope("alpha", 2));
  expect(await queries.envelope("alpha", 9)).toBeUndefined();
  expect(await queries.envelope("nobody", undefined)).toBeUndefined();
  expect((await queries.envelopes("alpha", 2)).map((one) => one.version)).toEqual([3, 2]);
  expect((await queries.envelopes("alpha", 2, 2)).map((one) => one.version)).toEqual([1]);
});

it("tells what was halted and lifted since an epoch, one change for each, and what is in force", async () => {
  const { store } = fixture;
  const base = (await queries.haltChanges(0, 1_000)).epoch;
  const halt = (id: string) => ({
    halt_id: id,
    severity: "FUND_HALT" as const,
    fund_id: "alpha",
    reason: "r",
    requested_by: "operator:duty",
    evidence: { loss: "0.1" },
    since: "2026-11-15T13:30:00.000000Z",
  });
  for (const id of ["c-1", "c-2", "c-3"]) await store.transact("scene", (unit) => unit.risk.latchHalt(halt(id)));
  await store.transact("scene", (unit) => unit.risk.liftHalts(["c-1", "c-2"], at(5)));
  const all = await queries.haltChanges(base, 1_000);
  const ids = (halts: readonly { readonly halt_id: string }[]) => halts.map(({ halt_id: id }) => id);
  const seen = all.changes.map(({ epoch, lifted, halts }) => [epoch - base, lifted, ids(halts)]);
  expect([all.epoch - base, ids(all.active)]).toEqual([4, ["c-3"]]);
  expect(seen).toEqual([
    [1, false, ["c-1"]],
    [2, false, ["c-2"]],
    [3, false, ["c-3"]],
    [4, true, ["c-1", "c-2"]],
  ]);
  expect(all.changes[3]?.at).toBe(at(5));
  const page = await queries.haltChanges(base + 1, 2);
  expect(page.changes.map(({ epoch }) => epoch - base)).toEqual([2, 3]);
  expect(page.epoch).toBe(base + 4);
});

it("has every halt that ever was, newest first, page by page, by fund and by how its id begins", async () => {
  const { store } = fixture;
  const halt = (id: string, fundId: string) => ({
    halt_id: id,
    severity: fundId === "" ? ("FIRM_HALT" as const) : ("FUND_HALT" as const),
    fund_id: fundId,
    reason: "r",
    requested_by: "operator:duty",
    since: "2026-11-15T13:30:00.000000Z",
  });
  const latch = (id: string, fundId: string) =>
    store.transact("scene", (unit) => unit.risk.latchHalt(halt(id, fundId)));
  await latch("history-1", "h-fund");
  await latch("history-2", "h-fund");
  await latch("history-3", "");
  await store.transact("scene", (unit) => unit.risk.liftHalts(["history-1", "history-3"], at(7)));
  const seen = async (query: Partial<HaltQuery>) =>
    (await queries.pastHalts({ countMax: 10, idPrefix: "history-", ...query })).map(
      ({ halt: { halt_id: id }, liftedAt }) => [id, liftedAt],
    );
  expect(await seen({})).toEqual([
    ["history-3", at(7)],
    ["history-2", undefined],
    ["history-1", at(7)],
  ]);
  expect(await seen({ countMax: 1, afterHaltId: "history-3" })).toEqual([["history-2", undefined]]);
  expect(await seen({ fundId: "h-fund" })).toHaveLength(2);
  expect(await seen({ idPrefix: "history-1" })).toEqual([["history-1", at(7)]]);
  expect([await seen({ idPrefix: "history_" }), await seen({ afterHaltId: "never" })]).toEqual([[], []]);
  expect((await queries.pastHalts({ countMax: 1 }))[0]?.halt.halt_id).toBe("history-3");
});
