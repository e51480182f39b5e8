// The paper treasury and order management together with the feed of marks, in virtual time: seeded once, valued every second, moved by
// fills, and its reference data changed by people.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../contracts/src/decimal.ts";
import type { FundStatus } from "../contracts/src/generated/svc/v1/market.ts";
import type { Instruments, ReferenceDocument } from "../contracts/src/generated/svc/v1/platform.ts";
import { millisecondsBetween, parse } from "../contracts/src/instant.ts";
import { fundStatus } from "../contracts/src/records/fund.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { DeniedAnswer, UnaryHandler } from "../ports/rpc.ts";
import { oms } from "../services/oms/oms.ts";
import { seedFillId } from "../services/oms/seed-positions.ts";
import { startMarks } from "../services/operations/marks.ts";
import { paperActor, paperPositions, paperReference } from "../services/shared/paper-seeds.ts";
import type { RunningService, ServicePorts } from "../services/shared/service.ts";
import { treasury } from "../services/treasury/treasury.ts";
import { exampleFill } from "../testkit/record-examples.ts";
import { testSettings } from "../testkit/virtual/memory-platform.ts";
import { type ServiceFixture, serviceFixture } from "../testkit/virtual/service-fixture.ts";
import { provenReference } from "../testkit/virtual/treasury-books.ts";

const seed = 20_261_115;
const fixtures: ServiceFixture[] = [];
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  for (const fixture of fixtures.splice(0)) await fixture.close();
});

function newFixture(): ServiceFixture {
  const fixture = serviceFixture(seed);
  fixtures.push(fixture);
  return fixture;
}

async function startTreasury(fixture: ServiceFixture, differs: Partial<ServicePorts> = {}): Promise<RunningService> {
  const running = await treasury.start(fixture.portsOf("treasury", differs));
  stops.push(() => running.stop());
  return running;
}

async function startPlatform(fixture: ServiceFixture): Promise<RunningService> {
  const marks = startMarks(fixture.portsOf("operations"));
  stops.push(() => marks.stop());
  const running = await startTreasury(fixture);
  await oms.start(fixture.portsOf("oms"));
  return running;
}

async function call<Answer>(running: RunningService, name: string, request: object = {}): Promise<Answer> {
  const handler = running.rpc[0]?.handlers[name] as UnaryHandler;
  const from = { identity: { actor: "operator:duty", subject: "issuer|duty" } };
  return (await handler(request as never, from as never)) as Answer;
}

async function holdingsOf(fixture: ServiceFixture, fundId: string): Promise<Record<string, string>> {
  const all = await fixture.portsOf("treasury").store.transact("look", (unit) => unit.treasury.holdings());
  const own = all.filter((holding) => holding.fundId === fundId);
  return Object.fromEntries(own.map(({ symbol, quantity }) => [symbol, decimal.format(quantity)]));
}

const publishFill = (fixture: ServiceFixture, fill: Fill) =>
  fixture.portsOf("oms").store.transact("fill", (unit) => unit.events.publish(subjects.fillsCreated, fill));

describe(`the paper treasury, seed ${seed}`, () => {
  it("puts reference data, capital and positions in once, each with its event", async () => {
    const fixture = newFixture();
    await startPlatform(fixture);
    await fixture.time.timers.sleep(3_000);
    await startPlatform(fixture);
    await fixture.time.timers.sleep(3_000);
    const changed = fixture.reported(subjects.referenceChanged);
    expect(changed.map(({ kind, version }) => `${kind} ${version}`)).toEqual([
      "instruments 1",
      "funds 1",
      "fx 1",
      "borrow 1",
      "restricted 1",
      "calendars 1",
      "venues 1",
    ]);
    expect(fixture.reported(subjects.fillsCreated).map(({ fill_id }) => fill_id)).toEqual(
      paperPositions.map(seedFillId),
    );
    const beta = await holdingsOf(fixture, "beta");
    const spent = 0.6 * 91_000 + 15 * 3_120 + 200 * 214.6;
    expect(beta).toEqual({ "BTC-USD": "0.6", "ETH-USD": "15", "SOL-USD": "200", USD: String(2_000_000 - spent) });
    expect(fixture.tables.parked).toEqual([]);
  });

  it("gives a platform that was begun before there were drills their fund and its capital, once, and nobody else's funds", async () => {
    for (const setBy of [paperActor, "operator:duty"]) {
      const fixture = newFixture();
      const { funds } = paperReference("2026-01-01T00:00:00.000000Z");
      const before = { kind: "funds", version: 3, content: funds, setBy, setAt: fixture.time.clock.now() } as const;
      await fixture
        .portsOf("treasury")
        .store.transact("before", (unit) => unit.reference.put({ ...before, reason: "r", hash: "0" }));
      for (let starts = 0; starts < 2; starts += 1) await startTreasury(fixture);
      const changed = fixture.reported(subjects.referenceChanged).map(({ kind, version }) => `${kind} ${version}`);
      const booked = fixture.reported(subjects.ledgerBooked).map(({ fund_id, amount }) => `${fund_id} ${amount}`);
      const isOurs = setBy === paperActor;
      expect([changed, booked]).toEqual(isOurs ? [["funds 4"], ["drill 100000"]] : [[], []]);
    }
  });

  it("puts nothing in when it is not asked to, or when the user's own reference data is there", async () => {
    const fixture = newFixture();
    const settings = { ...testSettings, seedPaperPlatform: false };
    const running = await startTreasury(fixture, { settings });
    await oms.start(fixture.portsOf("oms", { settings }));
    await fixture.time.timers.sleep(2_000);
    expect(fixture.tables.log).toEqual([]);
    const own = [{ symbol: "XOM", reason: "ours" }];
    await call(running, "SetReferenceData", {
      kind: "restricted",
      version: 1,
      content_json: JSON.stringify(own),
      reason: "ours",
    });
    await startTreasury(fixture);
    await oms.start(fixture.portsOf("oms"));
    await fixture.time.timers.sleep(2_000);
    expect(fixture.reported(subjects.referenceChanged)).toHaveLength(1);
    expect(fixture.reported(subjects.fillsCreated)).toEqual([]);
    expect(fixture.reported(subjects.navUpdated)).toEqual([]);
  });

  it("values every fund about once a second, numbered without gaps, cash and positions adding up", async () => {
    const fixture = newFixture();
    await startPlatform(fixture);
    await fixture.time.timers.sleep(20_000);
    for (const [fundId, about] of Object.entries({ alpha: 10_000_000, beta: 2_000_000, gamma: 5_000_000 })) {
      const values = fixture.reported(subjects.navUpdated).filter(({ fund_id }) => fund_id === fundId);
      expect(values.length).toBeGreaterThanOrEqual(18);
      expect(values.length).toBeLessThanOrEqual(21);
      expect(values.map(({ sequence }) => sequence)).toEqual(values.map((_value, index) => index + 1));
      for (const { nav, cash, positions_value, oldest_price_age_ms } of values) {
        const sum = decimal.add(decimal.parse(cash ?? ""), decimal.parse(positions_value ?? ""));
        expect(nav).toBe(decimal.format(sum));
        expect(Math.abs(Number(nav) / about - 1)).toBeLessThan(0.01);
        expect(oldest_price_age_ms).toBeLessThan(2_000);
      }
      expect(Number(values.at(-1)?.positions_value)).not.toBe(0);
    }
  });

  it("goes on with the numbering that the risk engine kept", async () => {
    const fixture = newFixture();
    const kept = { fund_id: "alpha", nav: "1", currency: "USD", as_of: "2026-01-01T00:00:00.000000Z", sequence: 41 };
    await fixture
      .portsOf("riskengine")
      .store.transact("nav", (unit) => unit.risk.putNav(kept, fixture.time.clock.now()));
    await startPlatform(fixture);
    await fixture.time.timers.sleep(5_000);
    const numbers = fixture
      .reported(subjects.navUpdated)
      .flatMap((nav) => (nav.fund_id === "alpha" ? [nav.sequence] : []));
    expect(numbers.slice(0, 3)).toEqual([42, 43, 44]);
  });

  it("values a fund at the last prices that are known, says how old they are, and alarms after ten seconds", async () => {
    const fixture = newFixture();
    const running = await startTreasury(fixture);
    const marks = startMarks(fixture.portsOf("operations"));
    await oms.start(fixture.portsOf("oms"));
    await fixture.time.timers.sleep(5_000);
    await marks.stop();
    const stale = () => fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "NAV_PRICES_STALE");
    await fixture.time.timers.sleep(9_000);
    expect(stale()).toEqual([]);
    await fixture.time.timers.sleep(20_000);
    const values = fixture.reported(subjects.navUpdated).filter(({ fund_id }) => fund_id === "alpha");
    expect(values.length).toBeGreaterThan(30);
    expect(values.at(-1)?.oldest_price_age_ms).toBeGreaterThan(27_000);
    expect(values.at(-1)?.prices?.["AAPL"]).toEqual(values.at(-10)?.prices?.["AAPL"]);
    // Once for each fund, with its symbols.
    expect(stale().map(({ facts }) => facts?.["fund_id"])).toEqual(["alpha", "beta", "gamma"]);
    expect(stale()[0]?.facts?.["symbols"]).toContain("AAPL");
    expect(stale()[0]?.sentence).toMatch(/^alpha is valued at old prices, the oldest 1\d s old: .*AAPL \(1\d s\)/);
    const { funds } = await call<{ funds: FundStatus[] }>(running, "ListFunds");
    expect(funds[0]?.oldest_price_age_ms).toBeGreaterThan(27_000);
    // Also a treasury that was started since, which has heard of no price yet.
    await running.stop();
    await startTreasury(fixture);
    await fixture.time.timers.sleep(3_000);
    expect(fixture.reported(subjects.navUpdated).at(-1)?.oldest_price_age_ms).toBeGreaterThan(30_000);
    // Fresh again, then old again.
    const again = startMarks(fixture.portsOf("operations"));
    await fixture.time.timers.sleep(5_000);
    expect(fixture.reported(subjects.navUpdated).at(-1)?.oldest_price_age_ms).toBeLessThan(2_000);
    const before = stale().length;
    await again.stop();
    await fixture.time.timers.sleep(15_000);
    expect(stale()).toHaveLength(before + 3);
  });

  it("has no value for a fund of which a position never had a price, and alarms", async () => {
    const fixture = newFixture();
    await startTreasury(fixture);
    await oms.start(fixture.portsOf("oms"));
    await fixture.time.timers.sleep(14_000);
    expect(fixture.reported(subjects.navUpdated).filter(({ positions_value }) => positions_value !== "0")).toEqual([]);
    const alarms = fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "NAV_PRICES_STALE");
    expect(alarms.map(({ facts }) => facts?.["fund_id"])).toEqual(["alpha", "beta", "gamma"]);
    expect(alarms[0]?.sentence).toMatch(/^alpha has no value: \S+ has no price\.$/);
  });

  it("books a fill once, whoever repeats it, and leaves live funds alone", async () => {
    const fixture = newFixture();
    const running = await startPlatform(fixture);
    await fixture.time.timers.sleep(3_000);
    const before = await holdingsOf(fixture, "alpha");
    const fill: Fill = { ...exampleFill, quantity: "10", price: "230.01", fee: "1.5", side: "SELL" };
    await publishFill(fixture, fill);
    await publishFill(fixture, fill);
    await fixture.time.timers.sleep(1_000);
    const after = await holdingsOf(fixture, "alpha");
    expect(Number(after["AAPL"]) - Number(before["AAPL"])).toBe(-10);
    const moved = decimal.subtract(decimal.parse(after["USD"] ?? ""), decimal.parse(before["USD"] ?? ""));
    expect(decimal.format(moved)).toBe("2298.6");
    const funds = await call<ReferenceDocument>(running, "GetReferenceData", { kind: "funds" });
    const [alpha] = JSON.parse(funds.content_json);
    const live = { ...alpha, fund_id: "live", mode: "LIVE", strategies: ["live-one"] };
    const content_json = JSON.stringify([...JSON.parse(funds.content_json), live]);
    await call(running, "SetReferenceData", provenReference(fixture, { ...funds, version: 2, content_json }));
    await fixture.time.timers.sleep(2_000);
    await publishFill(fixture, { ...fill, fill_id: "f-3", fund_id: "live", strategy_id: "live-one" });
    await publishFill(fixture, { ...fill, fill_id: "f-2", fund_id: "omega" });
    await fixture.time.timers.sleep(5_000);
    expect(await holdingsOf(fixture, "alpha")).toEqual(after);
    expect(await holdingsOf(fixture, "live")).toEqual({});
    expect(fixture.tables.parked).toEqual([]);
    expect([...fixture.tables.ledger.waiting.values()].map(({ fill: { fill_id } }) => fill_id)).toEqual(["f-2"]);
  });

  it("says rates and borrow again every ten minutes, and only on a platform of paper", async () => {
    const fixture = newFixture();
    const running = await startTreasury(fixture);
    const document = () => call<ReferenceDocument>(running, "GetReferenceData", { kind: "fx" });
    await fixture.time.timers.sleep(595_000);
    expect((await document()).version).toBe(1);
    await fixture.time.timers.sleep(10_000);
    const fresh = await document();
    expect([fresh.version, fresh.reason]).toEqual([2, "paper feed"]);
    expect((await call<ReferenceDocument>(running, "GetReferenceData", { kind: "borrow" })).version).toBe(2);
    for (const { as_of } of JSON.parse(fresh.content_json)) {
      expect(millisecondsBetween(parse(as_of), fixture.time.clock.now())).toBeLessThan(10_000);
    }
    const funds = await call<ReferenceDocument>(running, "GetReferenceData", { kind: "funds" });
    const live = JSON.parse(funds.content_json).map((fund: object) => ({ ...fund, mode: "LIVE" }));
    const change = { kind: "funds", version: 2, content_json: JSON.stringify(live), reason: "going live" };
    expect(await call(running, "SetReferenceData", provenReference(fixture, change))).toMatchObject({ version: 2 });
    await fixture.time.timers.sleep(630_000);
    expect((await document()).version).toBe(2);
  });
});

describe("the procedures of treasury", () => {
  it("lists funds with their value, exposure and halts", async () => {
    const fixture = newFixture();
    const running = await startTreasury(fixture);
    const statuses = async () => (await call<{ funds: FundStatus[] }>(running, "ListFunds")).funds;
    const marks = startMarks(fixture.portsOf("operations"));
    stops.push(() => marks.stop());
    await oms.start(fixture.portsOf("oms"));
    await fixture.time.timers.sleep(5_000);
    const halt = { fund_id: "", reason: "r", requested_by: "operator:duty", since: "2026-01-02T00:00:00.000000Z" };
    const latch = (halt_id: string, of: object) =>
      fixture
        .portsOf("riskengine")
        .store.transact("halt", (unit) => unit.risk.latchHalt({ ...halt, halt_id, ...of } as never));
    await latch("h-1", { severity: "STRATEGY_HALT", strategy_id: "alpha-meanrev" });
    await latch("h-2", { severity: "FUND_HALT", fund_id: "beta" });
    const [alpha, beta, gamma] = await statuses();
    for (const status of [alpha, beta, gamma]) expect(fundStatus.parse(status)).toEqual(status);
    expect(alpha).toMatchObject({ fund_id: "alpha", mode: "PAPER", halted: false, severity: "STRATEGY_HALT" });
    expect(beta).toMatchObject({ halted: true, severity: "FUND_HALT" });
    expect(gamma).toMatchObject({ halted: false });
    expect(gamma).not.toHaveProperty("severity");
    expect(alpha?.gross_exposure_pct).toBeGreaterThan(0.15);
    expect(gamma?.net_exposure_pct).toBeLessThan(gamma?.gross_exposure_pct ?? 0);
    await latch("h-3", { severity: "FIRM_HALT" });
    expect((await statuses()).map(({ halted, severity }) => [halted, severity])).toEqual(
      Array.from({ length: 3 }, () => [true, "FIRM_HALT"]),
    );
  });

  it("lists instruments", async () => {
    const running = await startTreasury(newFixture());
    const { instruments } = await call<Instruments>(running, "ListInstruments");
    expect(instruments).toHaveLength(15);
    expect(instruments[0]).toMatchObject({ symbol: "AAPL", tick_size: "0.01", lot_size: "1" });
  });

  it("replaces reference data by the next version only, and says who and why", async () => {
    const fixture = newFixture();
    const running = await startTreasury(fixture);
    const content_json = JSON.stringify([{ reason: "earnings", symbol: "XOM" }]);
    const set = (differs: object) =>
      call<ReferenceDocument & DeniedAnswer>(running, "SetReferenceData", {
        kind: "restricted",
        version: 2,
        content_json,
        reason: "quiet period",
        ...differs,
      });
    for (const version of [0, 1, 3]) expect((await set({ version })).denial.code).toBe("REFERENCE_VERSION_CONFLICT");
    expect((await set({ reason: " " })).denial.code).toBe("REASON_MISSING");
    expect((await set({ reason: "a\nb" })).denial.code).toBe("REFERENCE_INVALID");
    expect((await set({ content_json: '[{"symbol":"XOM"}]' })).denial.reason).toMatch(/^restricted\.0\.reason: /);
    await expect(set({ kind: "weather" })).rejects.toThrow(/no such kind/);
    expect(fixture.reported(subjects.referenceChanged)).toHaveLength(7);

    const answer = await set({});
    expect(answer).toMatchObject({ kind: "restricted", version: 2, set_by: "operator:duty", reason: "quiet period" });
    expect(answer.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await call(running, "GetReferenceData", { kind: "restricted" })).toEqual(answer);
    expect(fixture.reported(subjects.referenceChanged).at(-1)).toMatchObject({
      kind: "restricted",
      version: 2,
      set_by: "operator:duty",
      hash: answer.hash,
    });
    const again = await set({ version: 3, content_json: '[{"symbol":"XOM","reason":"earnings"}]' });
    expect(again.hash).toBe(answer.hash);
  });

  it("refuses to take an instrument away that is held, and lets one go that is not", async () => {
    const fixture = newFixture();
    const running = await startPlatform(fixture);
    await fixture.time.timers.sleep(3_000);
    const { content_json } = await call<ReferenceDocument>(running, "GetReferenceData", { kind: "instruments" });
    const without = (symbol: string) =>
      call<ReferenceDocument & DeniedAnswer>(
        running,
        "SetReferenceData",
        provenReference(fixture, {
          kind: "instruments",
          version: 2,
          content_json: JSON.stringify(
            JSON.parse(content_json).filter((one: { symbol: string }) => one.symbol !== symbol),
          ),
          reason: "delisted",
        }),
      );
    const { denial } = await without("XOM");
    expect(denial.code).toBe("REFERENCE_IN_USE");
    expect(denial.reason).toMatch(
      /^instruments: XOM would go away under: \d+ XOM of alpha-\S+,.* XOM of alpha-\S+ in the ledger, .* of alpha in the ledger\.$/,
    );
    expect((await without("SPY 281215P00550000")).version).toBe(2);
  });

  it("answers for a kind that was never set", async () => {
    const running = await startTreasury(newFixture(), { settings: { ...testSettings, seedPaperPlatform: false } });
    const empty = { kind: "fx", version: 0, content_json: "[]", reason: "" };
    expect(await call(running, "GetReferenceData", { kind: "fx" })).toEqual(empty);
    expect(await call(running, "ListFunds")).toEqual({ funds: [] });
  });
});
