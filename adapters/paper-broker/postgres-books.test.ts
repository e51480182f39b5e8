// The paper broker's books in PostgreSQL: the promises of every broker, and what only a database can break.
import type pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "../../contracts/src/decimal.ts";
import { brokerConformance, order } from "../../testkit/conformance/broker.ts";
import { paperWeatherConformance } from "../../testkit/conformance/paper-weather-records.ts";
import { quietLog } from "../../testkit/global-setup.ts";
import { type PaperBrokerRig, paperBrokerRigOn } from "../../testkit/paper-broker-rig.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { openPeer } from "../../testkit/postgres-rig.ts";
import { openPool } from "../postgres/connection.ts";
import { systemClock } from "../system-clock.ts";
import { systemTimers } from "../system-timers.ts";
import { postgresPaperBooks } from "./postgres-books.ts";

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.address.app, { log: quietLog, applicationName: "paper broker", sizeMax: 4 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const rigOn = (): Promise<PaperBrokerRig> =>
  paperBrokerRigOn(postgresPaperBooks(pool), { clock: systemClock(), timers: systemTimers() }, async () => undefined);

brokerConformance("paper, in PostgreSQL", rigOn);
paperWeatherConformance("PostgreSQL", async () => openPeer(database.address.app));

it("orders that come at the same time over many connections are numbered without gaps", async () => {
  const rig = await rigOn();
  const before = await rig.books.cursor();
  const ids = Array.from({ length: 40 }, (_unused, n) => `crowd-${n % 20}`);
  const said = await Promise.all(ids.map((id) => rig.another().submit(order(rig, id))));
  expect(new Set(said.map(({ brokerOrderId }) => brokerOrderId)).size).toBe(20);
  const reports = await rig.broker.reports(before, 100);
  expect(reports.map(({ cursor }) => cursor)).toEqual(Array.from({ length: 20 }, (_unused, n) => before + n + 1));
  await rig.close();
});

it("two matchers that see the same quote trade its size once", async () => {
  const rig = await rigOn();
  await rig.broker.submit(order(rig, "big", { quantity: parse("1000"), orderType: "MARKET" }));
  const other = rig.another();
  const quoted_at = new Date(Date.now() + 5).toISOString();
  const quote = { symbol: rig.symbol, bid: "9", ask: "10", bid_size: "100", ask_size: "100", quoted_at };
  await Promise.all([rig.broker.match([quote]), other.match([quote]), other.match([quote])]);
  expect(await rig.broker.order(`${rig.account}-big`)).toMatchObject({ filledQuantity: parse("100") });
  await rig.broker.cancel(`${rig.account}-big`);
  await rig.close();
});
