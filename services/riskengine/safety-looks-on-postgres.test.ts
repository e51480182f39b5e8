// The looks of an engine on a real database, as its own login: what the common read gives is what each read alone gives, and whichever of the other tables is
// locked, a change of the halts reaches the engine and they are never unknown.
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClient } from "../../adapters/postgres/connection.ts";
import { prepareServiceLogins, roleNameOf } from "../../adapters/postgres/logins/service-logins.ts";
import { guardedTables } from "../../adapters/postgres/migrations/0048-guarded-rows.ts";
import { type OpenedRiskStore, openRiskStore } from "../../adapters/records/open-risk-store.ts";
import { type OpenedStore, openStore } from "../../adapters/records/open-store.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import { platformServices } from "../../contracts/src/platform-services.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { SafetyQuestion } from "../../ports/safety-reads.ts";
import { eventually } from "../../testkit/conformance/waiting.ts";
import { noMetrics, noTracer } from "../../testkit/no-telemetry.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { watchAudit } from "./audit-watch.ts";
import { watchHalts } from "./halt-watch.ts";
import { watchRestrictions } from "./restriction-watch.ts";
import { createSafetyLooks } from "./safety-looks.ts";
import { watchSymbolBlocks } from "./symbol-blocks.ts";
import { watchUnaudited } from "./unaudited-watch.ts";

const everything: readonly SafetyQuestion[] = ["restrictions", "audit", "unaudited", "blocks"];
const tools = {
  clock: systemClock(),
  timers: systemTimers(),
  random: systemRandom(),
  log: quietLog,
  metrics: noMetrics,
  tracer: noTracer,
};
let database: TestDatabase;
let owner: pg.Client;
let opened: OpenedStore;
let risk: OpenedRiskStore;

beforeAll(async () => {
  database = await testDatabase();
  owner = await openClient(database.address.owner, { log: quietLog, applicationName: "test" });
  const options = { owner: database.address.owner, configured: {}, random: tools.random, log: quietLog };
  const { targets = {} } = await prepareServiceLogins({ ...options, services: platformServices });
  const login = targets.riskengine;
  if (login === undefined) throw new Error("no login of the risk engine");
  const source = { database: login, source: "riskengine", services: ["riskengine"] };
  opened = openStore({ ...tools, ...source });
  risk = openRiskStore({ ...tools, ...source }, opened);
});
afterAll(async () => {
  await risk.close();
  await opened.close();
  for (const service of platformServices) {
    const role = `"${roleNameOf(database.address.owner.database, service)}"`;
    await owner.query(`drop owned by ${role}; drop role ${role}`);
  }
  await owner.end();
  await database.drop();
});

/** An engine that notes what it hears of the halts, watched over as the service does it. */
async function watchOver() {
  const heard = { epoch: -1, unknown: 0 };
  const nothing = (): void => undefined;
  const notes: Partial<Engine> = {
    setHalts({ epoch, known }) {
      heard.epoch = epoch;
      if (!known) heard.unknown += 1;
    },
    setRestrictions: nothing,
    setConditions: nothing,
    setHeldSymbols: nothing,
  };
  const engine = notes as Engine;
  const crash = {
    die: (defect: Error): never => {
      throw defect;
    },
  };
  const ports = { ...tools, ...risk, store: opened.store, crash, settings: testSettings };
  const alarms = { raise: nothing, clear: nothing } as never;
  const looks = createSafetyLooks(ports);
  const riskStore = { ...risk.riskStore, haltEpoch: looks.haltEpoch };
  const halts = await watchHalts({ ...ports, riskStore }, engine, nothing, nothing);
  const watches = [
    halts,
    await watchSymbolBlocks(ports, engine, looks),
    await watchRestrictions(ports, engine, looks),
    await watchAudit(ports, engine, alarms, looks),
    await watchUnaudited(ports, engine, alarms, looks),
  ];
  return {
    heard,
    freshen: () => halts.freshen(tools.clock.now()),
    stop: () => Promise.all(watches.map((watch) => watch.stop())),
  };
}

describe("on PostgreSQL", () => {
  it("the common read gives what each gives alone, whatever is asked for together", async () => {
    await owner.query(`
      insert into restriction (episode_id, kind, fund_id, restriction_id, watchdog, since_us, factor, content)
      values ('e-1', 'SHADOW', 'alpha', 'r-1', 'vpin', 1, null, '{"restrictionId":"r-1","kind":"SHADOW","since":1}');
      insert into audit_standing (pen, through_us, broken, broken_us) values (3, 9007199254740991, 'TRUNCATED \u007f0000', 8);
      insert into reconcile_difference (difference_id, fund_id, broker, account, symbol, status, first_seen_us, content)
      values ('d-1', 'alpha', 'paper', 'alpha', 'AAPL', 'CONFIRMED', 1,
        '{"differenceId":"d-1","fundId":"alpha","symbol":"AAPL","evidence":"e","at":1}');
      insert into corporate_action (action_id, symbol, state, announced_us, content)
      values ('a-1', 'AAPL', 'ANNOUNCED', 1, '{"actionId":"a-1","kind":"SPLIT","announcedAt":1,"legs":[]}');
      update restriction set content = '{"restrictionId":"r-1","kind":"SHADOW","since":2}'`);
    const unit = <T>(work: Parameters<typeof opened.store.transact<T>>[1]) =>
      opened.store.transact("riskengine.blocks", work);
    const alone = {
      restrictions: await unit(({ restrictions }) => restrictions.listOpen()),
      audit: await unit(({ auditStanding }) => auditStanding.read()),
      unaudited: await risk.unauditedChanges.list(4),
      blocks: {
        confirmed: await unit(({ reconcile }) => reconcile.confirmed()),
        underWay: await unit(({ corporateActions }) => corporateActions.underWay()),
      },
    };
    expect([alone.restrictions.length, alone.audit?.broken?.reason]).toEqual([1, "TRUNCATED \0"]);
    // Nobody published an event for what was made of the restriction.
    expect(alone.unaudited.map(({ table }) => table)).toEqual(["restriction"]);
    expect([alone.blocks.confirmed.length, alone.blocks.underWay.length]).toEqual([1, 1]);
    const haltEpoch = await risk.riskStore.haltEpoch();
    expect(await risk.safetyReads.read(everything)).toEqual({ haltEpoch, facts: alone });
    for (const question of everything) {
      expect(await risk.safetyReads.read([question])).toEqual({ haltEpoch, facts: { [question]: alone[question] } });
    }
  });

  const others = ["audit_standing", "reconcile_difference", "corporate_action"];
  const guarded = guardedTables.map(({ table }) => table).filter((table) => table !== "halt" && table !== "halt_epoch");
  it.each([...others, ...guarded])("halts are known, and their changes heard of, while %s is locked", async (table) => {
    const watched = await watchOver();
    const locker = await openClient(database.address.owner, { log: quietLog, applicationName: "locker" });
    try {
      await locker.query(`begin; lock table ${table} in access exclusive mode`);
      for (let change = 0; change < 3; change += 1) {
        const { rows } = await owner.query("update halt_epoch set epoch = epoch + 1 returning epoch::int");
        await eventually({}, "the change", () => watched.heard.epoch === rows[0]?.epoch);
        watched.freshen();
      }
      expect(watched.heard.unknown).toBe(0);
    } finally {
      await locker.query("rollback");
      await locker.end();
      await watched.stop();
    }
  });
});
