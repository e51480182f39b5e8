// The paper broker's books in PostgreSQL: the promises of every broker, and what only a database can break.
import type pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "../../contracts/src/decimal.ts";
import { auditAnewConformance } from "../../testkit/conformance/audit-anew-records.ts";
import { auditStandingConformance } from "../../testkit/conformance/audit-standing-records.ts";
import { botConformance } from "../../testkit/conformance/bot-records.ts";
import { brokerConformance, order } from "../../testkit/conformance/broker.ts";
import { corporateActionConformance } from "../../testkit/conformance/corporate-action-records.ts";
import { filingConformance } from "../../testkit/conformance/filing-records.ts";
import { filingStepConformance } from "../../testkit/conformance/filing-steps.ts";
import { filingSubmissionsConformance } from "../../testkit/conformance/filing-submissions.ts";
import { firstSeenConformance } from "../../testkit/conformance/first-seen-records.ts";
import { foreignConformance } from "../../testkit/conformance/foreign-records.ts";
import { marketConformance } from "../../testkit/conformance/market-records.ts";
import { paperFaultsConformance } from "../../testkit/conformance/paper-faults-records.ts";
import { parkedConformance } from "../../testkit/conformance/parked-records.ts";
import { quoteConformance } from "../../testkit/conformance/quote-records.ts";
import { reportConformance } from "../../testkit/conformance/report-records.ts";
import { reportRunConformance } from "../../testkit/conformance/report-run-records.ts";
import { requestKeyConformance } from "../../testkit/conformance/request-key-records.ts";
import { signalConformance } from "../../testkit/conformance/signal-records.ts";
import { watchdogConformance } from "../../testkit/conformance/watchdog-records.ts";
import { type PaperBrokerFixture, paperBrokerFixtureOn } from "../../testkit/paper-broker-fixture.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { openPeer } from "../../testkit/postgres-fixture.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { loadConfiguration } from "../configuration/load-configuration.ts";
import { openPool } from "../postgres/connection.ts";
import { systemClock } from "../system/clock.ts";
import { systemTimers } from "../system/timers.ts";
import { paperBeginnings } from "./paper-beginnings.ts";
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

const fixtureOn = (): Promise<PaperBrokerFixture> =>
  paperBrokerFixtureOn(
    postgresPaperBooks(pool),
    { clock: systemClock(), timers: systemTimers() },
    async () => undefined,
  );

brokerConformance("paper, in PostgreSQL", fixtureOn);
paperFaultsConformance("PostgreSQL", async () => openPeer(database.address.app));
corporateActionConformance("PostgreSQL", async () => openPeer(database.address.app));
auditStandingConformance("PostgreSQL", async () => openPeer(database.address.app));
firstSeenConformance("PostgreSQL", async () => openPeer(database.address.app));
foreignConformance("PostgreSQL", async () => openPeer(database.address.app));
quoteConformance("PostgreSQL", async () => openPeer(database.address.app));
// Suites share the database, and these count what is there.
reportConformance("PostgreSQL", ownDatabase);
reportRunConformance("PostgreSQL", async () => openPeer(database.address.app));
botConformance("PostgreSQL", ownDatabase);
signalConformance("PostgreSQL", ownDatabase);
marketConformance("PostgreSQL", ownDatabase);
filingConformance("PostgreSQL", ownDatabase);
filingStepConformance("PostgreSQL", ownDatabase);
filingSubmissionsConformance("PostgreSQL", ownDatabase);
async function ownDatabase() {
  const own = await testDatabase();
  const peer = openPeer(own.address.app);
  return {
    store: peer.store,
    close: async () => {
      await peer.close();
      await own.drop();
    },
  };
}
requestKeyConformance("PostgreSQL", async () => openPeer(database.address.app));
watchdogConformance("PostgreSQL", async () => openPeer(database.address.app));
parkedConformance("PostgreSQL", async () => openPeer(database.address.app));
auditAnewConformance("PostgreSQL", async () => openPeer(database.address.app));

it("orders that come at the same time over many connections are numbered without gaps", async () => {
  const fixture = await fixtureOn();
  const before = await fixture.books.cursor();
  const ids = Array.from({ length: 40 }, (_unused, n) => `crowd-${n % 20}`);
  const said = await Promise.all(ids.map((id) => fixture.another().submit(order(fixture, id))));
  expect(new Set(said.map(({ brokerOrderId }) => brokerOrderId)).size).toBe(20);
  const reports = await fixture.broker.reports(before, 100);
  expect(reports.map(({ cursor }) => cursor)).toEqual(Array.from({ length: 20 }, (_unused, n) => before + n + 1));
  await fixture.close();
});

it("two matchers that see the same quote trade its size once", async () => {
  const fixture = await fixtureOn();
  await fixture.broker.submit(order(fixture, "big", { quantity: parse("1000"), orderType: "MARKET" }));
  const other = fixture.another();
  const quoted_at = new Date(Date.now() + 5).toISOString();
  const quote = { symbol: fixture.symbol, bid: "9", ask: "10", bid_size: "100", ask_size: "100", quoted_at };
  await Promise.all([fixture.broker.match([quote]), other.match([quote]), other.match([quote])]);
  expect(await fixture.broker.order(`${fixture.account}-big`)).toMatchObject({ filledQuantity: parse("100") });
  await fixture.broker.cancel(`${fixture.account}-big`);
  await fixture.close();
});

const beginnings = (environment: Readonly<Record<string, string>>, now = systemClock().now()) => {
  const loaded = loadConfiguration({ environment, readFile: () => "" });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.complaints));
  return paperBeginnings(pool, { configuration: loaded.configuration, now });
};
/** As a database is that nobody has started on, or that was used before beginnings were written down. */
const forget = async (begun: boolean) => {
  await pool.query("delete from configuration_value where service = 'paper'");
  await pool.query("update paper_head set begun = $1", [begun]);
};

it("what the first start decided stays: paper funds are never put in later, nor half of them", async () => {
  await forget(false);
  expect((await beginnings({ PORTCULLIS_PAPER_SEED: "never" })).seeded).toBe(false);
  expect((await beginnings({})).seeded).toBe(false);
  const asked = beginnings({ PORTCULLIS_PAPER_SEED: "always" });
  await expect(asked).rejects.toMatchObject({
    code: "CONFIGURATION_INVALID",
    message: /began without the paper funds/,
  });
  await forget(false);
  const many = await Promise.all([1, 2, 3, 4].map(() => beginnings({})));
  expect(many.map(({ seeded }) => seeded)).toEqual([true, true, true, true]);
  expect((await beginnings({ PORTCULLIS_PAPER_SEED: "never" })).seeded).toBe(true);
});

it("a database from before has the answer in its books", async () => {
  await forget(true);
  await pool.query("insert into paper_position values ('f', 's', 0, 0) on conflict do nothing");
  expect((await beginnings({ PORTCULLIS_PAPER_SEED: "never" })).seeded).toBe(true);
});

it("the market's speeds are kept with their moments, and its seed for good", async () => {
  await forget(true);
  const now = systemClock().now();
  const first = { from: 0, speed: 1 };
  expect((await beginnings({}, now)).speeds).toEqual([first]);
  const fast = { PORTCULLIS_MARKET_SPEED: "60" };
  expect((await beginnings(fast, now)).speeds).toEqual([first, { from: now, speed: 60 }]);
  expect((await beginnings(fast)).speeds).toEqual([first, { from: now, speed: 60 }]);
  await expect(beginnings({ PORTCULLIS_MARKET_SEED: "2" })).rejects.toThrow(/market began with 1/);
});
