// The paper platform on a real database, in real time: within seconds every symbol has a mark, every fund a value, and the seeded
// positions are booked; a second start puts nothing in again.
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { paperMarket } from "../adapters/paper-market/paper-market.ts";
import { openClient } from "../adapters/postgres/connection.ts";
import { createPostgresReferenceData } from "../adapters/postgres/queries/reference-store.ts";
import { createPostgresRiskStore } from "../adapters/postgres/risk/risk-store.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import type { FundStatus } from "../contracts/src/generated/svc/v1/market.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { UnaryHandler } from "../ports/rpc.ts";
import { oms } from "../services/oms/oms.ts";
import { startMarks } from "../services/operations/marks.ts";
import { seedEnvelopes } from "../services/riskengine/seed-envelopes.ts";
import { paperEnvelopes, paperListings, paperPositions } from "../services/shared/paper-seeds.ts";
import type { ServicePorts } from "../services/shared/service.ts";
import { treasury } from "../services/treasury/treasury.ts";
import { eventually } from "../testkit/conformance/waiting.ts";
import { noMetrics, noTracer } from "../testkit/no-telemetry.ts";
import { testDatabase } from "../testkit/postgres.ts";
import { openPeer } from "../testkit/postgres-fixture.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";

it("starts from an empty database", { timeout: 30_000 }, async () => {
  const database = await testDatabase();
  const target = database.address.app;
  const peer = openPeer(target);
  const base = {
    clock: systemClock(),
    timers: systemTimers(),
    random: systemRandom(),
    log: quietLog,
    metrics: noMetrics,
  };
  const open = () => openClient(target, { log: quietLog, applicationName: "paper-start" });
  const riskStore = createPostgresRiskStore({ ...base, open, pool: peer.pool, wake: peer.wake });
  const ports = {
    ...base,
    tracer: noTracer,
    crash: {
      die: (defect: Error) => {
        throw defect;
      },
    },
    store: peer.store,
    bus: peer.bus,
    riskStore,
    referenceData: createPostgresReferenceData(peer.pool),
    sha256: (content: string | Uint8Array) => createHash("sha256").update(content).digest(),
    quotes: paperMarket({ ...base, ...testSettings.market, listings: paperListings, beganAt: base.clock.now() }),
    brokers: [],
    settings: testSettings,
  } as Partial<ServicePorts> as ServicePorts;

  const marked = new Set<string>();
  const listening = {
    subjects: [subjects.marketMarks.name],
    queueMax: 1_000,
    overflow: "keep-newest-per-key",
  } as const;
  await peer.bus.listen(listening, async ({ key }) => void marked.add(key));
  const reported: string[] = [];
  await peer.bus.listen(
    { ...listening, subjects: [subjects.navUpdated.name, subjects.referenceChanged.name, subjects.fillsCreated.name] },
    async ({ subject, payload }) =>
      void reported.push(subject === subjects.navUpdated.name ? (payload as { fund_id: string }).fund_id : subject),
  );
  try {
    const start = async () => {
      await seedEnvelopes(ports);
      const marks = startMarks(ports);
      const running = await treasury.start(ports);
      const orders = await oms.start(ports);
      const stop = async () => {
        for (const part of [orders, running, marks]) await part.stop();
      };
      return { running, stop };
    };
    const first = await start();
    const readyAt = base.clock.now();
    await eventually(
      {},
      "a mark of every symbol",
      () => marked.size === paperListings.length,
      () => [...marked],
    );
    // Two seconds are promised on a machine that has nothing else to do; here other tests run beside.
    expect(base.clock.now() - readyAt).toBeLessThan(6_000_000);
    await eventually({}, "a value of every fund", () =>
      ["alpha", "beta", "gamma"].every((fund) => reported.includes(fund)),
    );
    const held = () => peer.store.transact("look", (unit) => unit.treasury.holdings());
    await eventually({}, "every position", async () => (await held()).length === paperPositions.length + 4);
    const listFunds = first.running.rpc[0]?.handlers["ListFunds"] as UnaryHandler;
    const { funds } = (await listFunds({} as never, {} as never)) as { funds: FundStatus[] };
    expect(funds.map(({ fund_id, halted }) => [fund_id, halted])).toEqual([
      ["alpha", false],
      ["beta", false],
      ["gamma", false],
    ]);
    expect(Math.abs(Number(funds[0]?.nav) / 10_000_000 - 1)).toBeLessThan(0.01);
    await first.stop();

    const before = { reported: reported.length, held: await held() };
    const second = await start();
    await eventually({}, "values again", () => reported.slice(before.reported).includes("gamma"));
    await second.stop();
    const again = reported.slice(before.reported).filter((what) => !["alpha", "beta", "gamma", "drill"].includes(what));
    expect(again).toEqual([]);
    expect(await held()).toEqual(before.held);
    expect(await riskStore.envelopes()).toHaveLength(paperEnvelopes.length + 1);
    expect((await ports.referenceData.read()).versions).toMatchObject({ instruments: 1, funds: 1 });
  } finally {
    await riskStore.close();
    await peer.close();
    base.timers.release();
    await database.drop();
  }
});
