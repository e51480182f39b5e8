// Lists of orders and trades, page by page, newest first.
import { afterAll, beforeAll, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { exampleFill } from "../../contracts/src/records/examples.ts";
import { orderOf } from "../../testkit/oms-rig.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../testkit/postgres-rig.ts";
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
  expect(await orders({ afterOrderId: "nobody" })).toEqual([]);
  const fills = async (differs: object) =>
    (await queries.fills({ countMax: 10, ...differs })).map(({ fill_id }) => fill_id);
  expect(await fills({})).toEqual(["f-4", "f-3", "f-2", "f-1", "f-0"]);
  expect(await fills({ orderId: "o-0", countMax: 2 })).toEqual(["f-4", "f-2"]);
  expect(await fills({ fundId: "beta", afterFillId: "f-3" })).toEqual(["f-1"]);
  expect(await fills({ afterFillId: "nobody" })).toEqual([]);
});

it("trades cannot be rewritten", async () => {
  for (const text of ["update oms_fill set sequence = 9", "delete from oms_fill", "delete from oms_order"]) {
    await expect(peer.pool.query(text), text).rejects.toMatchObject({ code: "42501" });
  }
});
