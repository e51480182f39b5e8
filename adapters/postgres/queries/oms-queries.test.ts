// Lists of orders and trades, page by page, newest first.
import { afterAll, beforeAll, expect, it } from "vitest";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { exampleSignal } from "../../../testkit/conformance/signal-records.ts";
import { transactPatiently } from "../../../testkit/conformance/waiting.ts";
import { orderOf } from "../../../testkit/oms-fixture.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../../testkit/postgres-fixture.ts";
import { exampleFill } from "../../../testkit/record-examples.ts";
import { columnOfText } from "../exact-text.ts";
import { createOmsQueries } from "./oms-queries.ts";

let database: TestDatabase;
let peer: PostgresPeer;
beforeAll(async () => {
  database = await testDatabase();
  peer = openPeer(database.address.app);
});
afterAll(async () => {
  await peer.close();
  await database.drop();
});

it("orders and trades come newest first, by fund, by state and page by page", async () => {
  const funds = ["alpha", "beta", "alpha", "beta", "alpha"];
  await peer.store.transact("test.orders", async (unit) => {
    for (const [n, fund_id] of funds.entries()) {
      const at = (1_000_000 * (1 + Math.floor(n / 2))) as Instant;
      await unit.oms.insertOrder({
        order: orderOf(`o-${n}`, { fund_id }),
        state: n === 0 ? "FILLED" : "WORKING",
        bodyHash: "",
        filledQuantity: decimal.zero,
        filledValue: decimal.zero,
        submittedBy: "x",
        createdAt: at,
        updatedAt: at,
      });
      await unit.oms.insertFill({
        ...exampleFill,
        fill_id: `f-${n}`,
        order_id: `o-${n % 2}`,
        fund_id,
        filled_at: format(at),
      });
    }
  });
  const queries = createOmsQueries(peer.pool);
  const orders = async (differs: object) =>
    (await queries.orders({ openOnly: false, countMax: 10, ...differs })).map(({ order }) => order.order_id);
  expect(await orders({})).toEqual(["o-4", "o-3", "o-2", "o-1", "o-0"]);
  expect(await orders({ fundId: "alpha", openOnly: true })).toEqual(["o-4", "o-2"]);
  expect(await orders({ countMax: 2, afterOrderId: "o-3" })).toEqual(["o-2", "o-1"]);
  expect(await orders({ state: "FILLED" })).toEqual(["o-0"]);
  expect(await orders({ since: 2_000_000 as Instant })).toEqual(["o-4", "o-3", "o-2"]);
  expect(await orders({ idPrefix: "o-" })).toHaveLength(5);
  expect(await orders({ idPrefix: "o-3" })).toEqual(["o-3"]);
  expect(await orders({ idPrefix: "o_" })).toEqual([]);
  expect(await orders({ afterOrderId: "nobody" })).toEqual([]);
  const fills = async (differs: object) =>
    (await queries.fills({ countMax: 10, ...differs })).map(({ fill_id }) => fill_id);
  expect(await fills({})).toEqual(["f-4", "f-3", "f-2", "f-1", "f-0"]);
  expect(await fills({ orderId: "o-0", countMax: 2 })).toEqual(["f-4", "f-2"]);
  expect(await fills({ fundId: "beta", afterFillId: "f-3" })).toEqual(["f-1"]);
  expect(await fills({ afterFillId: "nobody" })).toEqual([]);
  expect([await fills({ idPrefix: "f-3" }), await fills({ idPrefix: "f_" })]).toEqual([["f-3"], []]);
});

it("signals come newest first with the orders that they became, also when their text has a zero character", async () => {
  await peer.store.transact("test.signals", async (unit) => {
    for (const [n, signalId] of ["a", "b", "c"].entries()) {
      await unit.signals.insertSignal(exampleSignal(signalId, n + 1, { status: n === 0 ? "FAILED" : "SUBMITTED" }));
    }
    const at = 1_000_000 as Instant;
    await unit.oms.insertOrder({
      order: orderOf("tv-b"),
      state: "WORKING",
      bodyHash: "",
      filledQuantity: decimal.zero,
      filledValue: decimal.zero,
      submittedBy: "x",
      createdAt: at,
      updatedAt: at,
    });
  });
  const queries = createOmsQueries(peer.pool);
  const ids = async (differs: object) =>
    (await queries.signals({ countMax: 10, ...differs })).map(({ signal }) => signal.signalId);
  expect(await queries.signals({ countMax: 1, afterSignalId: "c" })).toMatchObject([
    {
      signal: exampleSignal("b", 2, { status: "SUBMITTED" }),
      order: { order: { order_id: "tv-b" }, state: "WORKING" },
    },
  ]);
  expect(await ids({})).toEqual(["c", "b", "a"]);
  expect(await ids({ status: "FAILED", fundId: "alpha", strategyId: "alpha-momentum" })).toEqual(["a"]);
  expect(await ids({ since: exampleSignal("b", 2).receivedAt })).toEqual(["c", "b"]);
  expect([await ids({ fundId: "beta" }), await ids({ afterSignalId: "nobody" })]).toEqual([[], []]);
  expect([await ids({ idPrefix: "b" }), await ids({ idPrefix: "_" })]).toEqual([["b"], []]);
});

it("trades cannot be rewritten", async () => {
  for (const text of ["update oms_fill set sequence = 9", "delete from oms_fill", "delete from oms_order"]) {
    await expect(peer.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
  }
});

it("two that look at a key of old times at once are one after the other, and keys that count no more are forgotten", async () => {
  const rows = async () => (await peer.pool.query("select idempotency_key from oms_key order by 1")).rows;
  const look = (key: string) => peer.store.transact("test.key", (unit) => unit.oms.lockKey(key, 0 as Instant));
  const { length } = await Promise.all(["key of o-4", "old", "older"].map(look));
  expect(await rows()).toHaveLength(length);
  const taken = await Promise.all(
    [1, 2, 3].map((n) =>
      transactPatiently(peer.store, "test.key", async (unit) => {
        const at = 9_000_000 as Instant;
        const same = await unit.oms.lockKey("old", at);
        if (same !== undefined) return same.order.order_id;
        await unit.oms.insertOrder({
          order: orderOf(`new-${n}`, { idempotency_key: "old" }),
          state: "WORKING",
          bodyHash: "",
          filledQuantity: decimal.zero,
          filledValue: decimal.zero,
          submittedBy: "x",
          createdAt: at,
          updatedAt: at,
        });
        return `new-${n}`;
      }),
    ),
  );
  expect(new Set(taken).size).toBe(1);
  const trim = (countMax: number) =>
    peer.store.transact("test.key", (unit) => unit.oms.trimKeys(9_000_000 as Instant, countMax));
  expect([await trim(1), await trim(10), await trim(10)]).toEqual([1, 1, 0]);
  expect(await rows()).toEqual([{ idempotency_key: columnOfText("old") }]);
});
