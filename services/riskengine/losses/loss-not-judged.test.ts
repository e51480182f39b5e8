// A loss limit that is not judged lets no new risk through, and says so: over the running engine, with every reason that there is.
import { describe, expect, test } from "vitest";
import type { Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, parse } from "../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineFixture, riskEngineFixture } from "../../../testkit/risk/service-fixture.ts";
import { paperReference } from "../../shared/paper-seeds.ts";

type Fixture = RiskEngineFixture;

const endOf = async (fixture: Fixture, life: EngineLife, order: object = {}): Promise<string> => {
  const { approved, code } = await fixture.finish(life.check(order));
  return approved ? "approved" : code;
};

async function value(fixture: Fixture, nav: string, differs: Partial<NavUpdated> = {}): Promise<void> {
  const as_of = format(fixture.time.clock.now());
  const usual = { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of };
  await fixture.publish(subjects.navUpdated, { ...usual, ...differs });
  await fixture.pass(50);
}

async function price(fixture: Fixture): Promise<void> {
  const at = format(fixture.time.clock.now());
  fixture.outside.bus.broadcast(subjects.marketMarks, { symbol: "AAPL", price: "232.5", source: "fixture", at });
  await fixture.pass(50);
}

/** Reference data as it was, but for one kind; `change` numbers them. */
async function setReference<Kind extends "funds" | "calendars">(
  fixture: Fixture,
  kind: Kind,
  version: number,
  change: (content: ReferenceContents[Kind]) => ReferenceContents[Kind],
): Promise<void> {
  const setAt = fixture.time.clock.now();
  const content = change(paperReference(format(setAt))[kind] as ReferenceContents[Kind]);
  await fixture.finish(
    fixture.outside.store.transact("reference", (unit) =>
      unit.reference.put({ kind, version, content, setBy: "x", setAt, reason: "", hash: "" } as never),
    ),
  );
}

const halts = (fixture: Fixture) => fixture.published(subjects.riskHaltRequested);
const alarmsOf = (fixture: Fixture) =>
  fixture.published(subjects.alarmRaised).filter(({ code, facts }) => {
    return code === "LOSS_LIMIT_NOT_JUDGED" && facts?.["about"] === "alpha";
  });
const baselinesOf = (fixture: Fixture) =>
  fixture.published(subjects.lossBaseline).filter(({ fund_id: id }) => id === "alpha");
async function listed(fixture: Fixture, life: EngineLife, limit = "daily") {
  const { losses } = (await fixture.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
  return losses.find((one) => one.limit === limit);
}

/** The calendar of the fund under another name, until the real one is put in. */
const unknownCalendar = (funds: ReferenceContents["funds"]): ReferenceContents["funds"] =>
  funds.map((fund) => (fund.fund_id === "alpha" ? { ...fund, calendar: "later" } : fund));
const moved =
  (calendar: string) =>
  (funds: ReferenceContents["funds"]): ReferenceContents["funds"] =>
    funds.map((fund) => (fund.fund_id === "alpha" ? { ...fund, calendar } : fund));

describe("22.1: no baseline before the fund's calendar is known", () => {
  // A Saturday evening in New York, which is Sunday in UTC; the trading day is Friday's.
  const startAt = parse("2026-11-22T02:30:00Z");

  test("a valuation that comes first is kept, denies with its reason, alarms, and is judged as soon as the calendar is there", async () => {
    const fixture = await riskEngineFixture({ seed: 1, startAt });
    await setReference(fixture, "funds", 2, unknownCalendar);
    const life = await fixture.start({ inSilence: true });
    await value(fixture, "10000000");
    await price(fixture);
    expect(baselinesOf(fixture)).toEqual([]);
    const denied = await fixture.finish(life.check({}));
    expect(denied).toMatchObject({ approved: false, code: "LOSS_NOT_JUDGED", rejecting_gate: "drawdown_halt" });
    expect(denied.reason).toContain(
      "daily, weekly, monthly, strategy: the fund's calendar is not known; this ends when",
    );
    expect(await listed(fixture, life)).toMatchObject({
      state: "NOT_JUDGED",
      reason: expect.stringContaining("calendar"),
    });
    await fixture.pass(5_000);
    expect(alarmsOf(fixture)).toMatchObject([{ sentence: expect.stringContaining("calendar is not known") }]);
    await setReference(fixture, "funds", 3, (funds) => funds);
    await fixture.pass(2_100);
    expect(baselinesOf(fixture).filter(({ limit }) => limit === "daily")).toMatchObject([
      { period: "2026-11-20", value: "10000000" },
    ]);
    expect(await endOf(fixture, life)).toBe("approved");
    expect(await listed(fixture, life)).toMatchObject({ state: "JUDGED", period: "2026-11-20" });
    await value(fixture, "9800000");
    await value(fixture, "9800000");
    expect(halts(fixture)).toMatchObject([{ evidence: { limit: "daily", period: "2026-11-20" } }]);
    expect(await listed(fixture, life)).toMatchObject({ state: "BREACHED" });
    expect(alarmsOf(fixture)).toHaveLength(1);
  });

  test("it survives a restart in between", async () => {
    const fixture = await riskEngineFixture({ seed: 2, startAt });
    await setReference(fixture, "funds", 2, unknownCalendar);
    const life = await fixture.start({ inSilence: true });
    await value(fixture, "10000000");
    life.process.kill();
    await setReference(fixture, "funds", 3, (funds) => funds);
    const next = await fixture.start({ inSilence: true });
    await price(fixture);
    expect(await endOf(fixture, next)).toBe("approved");
    expect(await listed(fixture, next)).toMatchObject({ state: "JUDGED", period: "2026-11-20", baseline: "10000000" });
  });
});

test("22.1: baselines that an earlier version dated by UTC are judged from, and no date that does not fit is silent", async () => {
  const fixture = await riskEngineFixture({
    seed: 3,
    startAt: parse("2026-11-22T02:30:00Z"),
    settings: { lossConfirmations: 1 },
  });
  const first = await fixture.start();
  first.process.kill();
  // As that version left it: Sunday's date, while New York counts Friday's.
  const { states } = fixture.tables.losses;
  const found = states.get("alpha");
  if (found === undefined) throw new Error("alpha was never valued");
  const { datedBy: _, ...state } = found.state;
  const baselines = state.baselines.map((one) => (one.limit === "high_water" ? one : { ...one, period: "2026-11-22" }));
  states.set("alpha", { fundId: "alpha", state: { ...state, baselines } });
  const life = await fixture.start();
  expect(await endOf(fixture, life)).toBe("approved");
  expect(await listed(fixture, life)).toMatchObject({ state: "JUDGED", period: "2026-11-22" });
  await value(fixture, "9800000");
  expect(halts(fixture)).toMatchObject([{ evidence: { limit: "daily", period: "2026-11-22" } }]);
  // Too far ahead for any calendar: only a wrong clock writes that.
  life.process.kill();
  states.set("alpha", {
    fundId: "alpha",
    state: { ...state, baselines: baselines.map((one) => ({ ...one, period: "2027-02-01" })) },
  });
  fixture.tables.risk.halts.length = 0;
  const last = await fixture.start();
  const denied = await fixture.finish(last.check({}));
  expect(denied).toMatchObject({
    code: "LOSS_NOT_JUDGED",
    reason: expect.stringContaining("its baseline is of 2027-02-01"),
  });
});

describe("22.1: a limit that is not judged denies, for whatever reason", () => {
  test("no valuation: it is listed, and alarmed within 5 s", async () => {
    const fixture = await riskEngineFixture({ seed: 4 });
    const life = await fixture.start({ inSilence: true });
    await fixture.pass(4_500);
    expect(await listed(fixture, life)).toMatchObject({
      state: "NOT_JUDGED",
      reason: expect.stringContaining("not been valued"),
    });
    expect(alarmsOf(fixture)).toHaveLength(1);
  });

  test("values too old, from the moment on in which they are, and until the next one", async () => {
    const fixture = await riskEngineFixture({ seed: 5, settings: { navAgeMsMax: 20_000 } });
    const life = await fixture.start();
    await fixture.pass(19_000);
    await price(fixture);
    expect(await listed(fixture, life)).toMatchObject({ state: "JUDGED" });
    await fixture.pass(1_500);
    await price(fixture);
    // Gate 4 says so first for new risk.
    expect(await endOf(fixture, life)).toBe("NAV_STALE");
    expect(await listed(fixture, life)).toMatchObject({
      state: "NOT_JUDGED",
      reason: expect.stringContaining("older than 20 s"),
    });
    await fixture.pass(5_000);
    expect(alarmsOf(fixture)).toHaveLength(1);
    await value(fixture, "10000000");
    expect(await endOf(fixture, life)).toBe("approved");
    await fixture.pass(25_000);
    expect(alarmsOf(fixture)).toHaveLength(2);
  });

  test("valuations that do not say what the strategies made, with a limit for their own losses", async () => {
    const fixture = await riskEngineFixture({ seed: 6 });
    const life = await fixture.start();
    const as_of = format(fixture.time.clock.now());
    await fixture.publish(subjects.navUpdated, { fund_id: "alpha", nav: "10000000", currency: "USD", as_of });
    await fixture.pass(50);
    const denied = await fixture.finish(life.check({}));
    expect(denied).toMatchObject({
      code: "LOSS_NOT_JUDGED",
      reason: expect.stringContaining("(strategy: valuations do not"),
    });
    expect(await listed(fixture, life, "strategy")).toMatchObject({ state: "NOT_JUDGED" });
    expect(await listed(fixture, life)).toMatchObject({ state: "JUDGED" });
    await value(fixture, "10000000");
    expect(await endOf(fixture, life)).toBe("approved");
  });

  test("a value that cannot be reckoned with", async () => {
    const fixture = await riskEngineFixture({ seed: 7 });
    const life = await fixture.start();
    await value(fixture, "9".repeat(20), { net_flows: `-${"9".repeat(20)}` });
    expect(await listed(fixture, life)).toMatchObject({ state: "NOT_JUDGED" });
    expect(life.deaths).toEqual([]);
  });

  test("a fund that was emptied", async () => {
    const fixture = await riskEngineFixture({ seed: 8 });
    const life = await fixture.start();
    await value(fixture, "0", { net_flows: "-10000000" });
    expect(await listed(fixture, life)).toMatchObject({
      state: "NOT_JUDGED",
      reason: expect.stringContaining("withdrawn"),
    });
  });

  test("a valuation that was heard and that the store does not take: denied before 5 s are over, alarmed, over by itself", async () => {
    const fixture = await riskEngineFixture({ seed: 9 });
    const life = await fixture.start();
    fixture.fates.set(
      "risk.nav",
      Array.from({ length: 200 }, () => "failed" as const),
    );
    await value(fixture, "10000000");
    await fixture.pass(3_000);
    expect(await endOf(fixture, life)).toBe("approved");
    await fixture.pass(1_500);
    expect(await endOf(fixture, life)).toBe("LOSS_NOT_JUDGED");
    expect(alarmsOf(fixture)).toHaveLength(1);
    fixture.fates.clear();
    await fixture.pass(60_000);
    await value(fixture, "10000000");
    expect(await endOf(fixture, life)).toBe("approved");
  });
});

test("22.1: nobody is alarmed about a fund before reference data has it, nor in the three seconds that its first valuation takes", async () => {
  const fixture = await riskEngineFixture({ seed: 15 });
  await setReference(fixture, "funds", 2, () => []);
  const life = await fixture.start({ inSilence: true });
  await fixture.pass(20_000);
  await setReference(fixture, "funds", 3, (funds) => funds);
  await fixture.pass(2_500);
  await value(fixture, "10000000");
  await fixture.pass(10_000);
  await price(fixture);
  expect(alarmsOf(fixture)).toEqual([]);
  expect(await endOf(fixture, life)).toBe("approved");
});

describe("22.1: a calendar that is changed to another zone forgives no loss", () => {
  // 18:00 in New York, which is the next morning in Tokyo.
  const startAt = parse("2026-11-18T23:00:00Z");
  const tokyo = (calendars: ReferenceContents["calendars"]): ReferenceContents["calendars"] => [
    ...calendars,
    { name: "tokyo", zone: "Asia/Tokyo", sessions: "always", holidays: [], early_closes: {} },
    { name: "hawaii", zone: "Pacific/Honolulu", sessions: "always", holidays: [], early_closes: {} },
  ];

  test.each(["tokyo", "hawaii"])("%s", async (calendar) => {
    const fixture = await riskEngineFixture({ seed: 10, startAt });
    const life = await fixture.start();
    await value(fixture, "9810000");
    await value(fixture, "9810000");
    await setReference(fixture, "calendars", 2, tokyo);
    await setReference(fixture, "funds", 2, moved(calendar));
    fixture.fates.set("risk.roll", ["failed", "failed", "failed", "failed"]);
    await fixture.pass(1_200);
    // Until it is written under the new dates.
    const denied = await fixture.finish(life.check({}));
    expect(denied).toMatchObject({
      code: "LOSS_NOT_JUDGED",
      reason: expect.stringContaining(`the calendar is ${calendar}`),
    });
    await fixture.pass(6_000);
    expect(await endOf(fixture, life)).toBe("approved");
    expect(await listed(fixture, life)).toMatchObject({
      state: "JUDGED",
      baseline: "10000000",
      loss: "190000",
      period: calendar === "tokyo" ? "2026-11-19" : "2026-11-18",
    });
    await value(fixture, "9800000");
    await value(fixture, "9800000");
    expect(halts(fixture)).toMatchObject([{ evidence: { limit: "daily", baseline: "10000000" } }]);
  });

  test("one that takes the calendar away denies until it is back", async () => {
    const fixture = await riskEngineFixture({ seed: 11, startAt });
    const life = await fixture.start();
    await setReference(fixture, "funds", 2, unknownCalendar);
    await fixture.pass(1_100);
    await value(fixture, "9700000");
    expect(await endOf(fixture, life)).toBe("LOSS_NOT_JUDGED");
    await fixture.pass(10_000);
    expect([halts(fixture).length, alarmsOf(fixture).length]).toEqual([0, 1]);
    await setReference(fixture, "funds", 3, (funds) => funds);
    await fixture.pass(2_100);
    expect(await endOf(fixture, life)).toBe("LOSS_CONFIRMATION_PENDING");
    await fixture.pass(6_000);
    expect(halts(fixture)).toMatchObject([{ evidence: { limit: "daily" } }]);
  });
});

test("22.1: what is shown is what is judged: never BREACHED without its halt, RESUMED says when it halts again", async () => {
  const fixture = await riskEngineFixture({ seed: 12 });
  const life = await fixture.start();
  await value(fixture, "9800000");
  expect(await listed(fixture, life)).toMatchObject({ state: "PENDING" });
  await value(fixture, "9800000");
  expect(await listed(fixture, life)).toMatchObject({ state: "BREACHED" });
  const [halt] = halts(fixture);
  await fixture.finish(
    life.call("ResumeHalt", { fund_id: "alpha", reason: "seen", confirmation: "RESUME", halt_ids: [] }),
  );
  expect(fixture.tables.risk.halts).toEqual([]);
  // A tenth of the limit more than 200,000.
  expect(await listed(fixture, life)).toMatchObject({ state: "RESUMED", loss: "200000", halts_again_at: "9780000" });
  await fixture.pass(1_000);
  await price(fixture);
  expect(await endOf(fixture, life)).toBe("approved");
  await value(fixture, "9780001");
  expect(await listed(fixture, life)).toMatchObject({ state: "RESUMED", halts_again_at: "9780000" });
  await value(fixture, "9780000");
  expect(await listed(fixture, life)).toMatchObject({ state: "PENDING" });
  await value(fixture, "9780000");
  expect(await listed(fixture, life)).toMatchObject({ state: "BREACHED" });
  expect(halts(fixture)).toHaveLength(2);
  expect(halt?.halt_id).not.toBe(halts(fixture)[1]?.halt_id);
});

test("22.1: an envelope that is tightened below the loss denies at once, and is never shown as breached without its halt", async () => {
  const fixture = await riskEngineFixture({ seed: 13 });
  const life = await fixture.start();
  await value(fixture, "9900000");
  expect(await endOf(fixture, life)).toBe("approved");
  const envelope = (await fixture.finish(life.call("GetEnvelope", { fund_id: "alpha" }))) as Record<string, unknown>;
  const tighter = { ...envelope, version: Number(envelope["version"]) + 1, daily_loss_halt_pct: 0.01, reason: "r" };
  await fixture.finish(life.call("UpdateEnvelope", tighter));
  expect(await endOf(fixture, life)).toBe("LOSS_CONFIRMATION_PENDING");
  expect(await listed(fixture, life)).toMatchObject({ state: "PENDING" });
  await value(fixture, "9900000");
  await value(fixture, "9900000");
  expect(await listed(fixture, life)).toMatchObject({ state: "BREACHED" });
  expect(halts(fixture)).toHaveLength(1);
});

test("22.1: a window that is switched on is judged as soon as its beginning was read", async () => {
  const fixture = await riskEngineFixture({ seed: 14, startAt: parse("2026-11-18T12:00:00Z") });
  const life = await fixture.start();
  const envelope = (await fixture.finish(life.call("GetEnvelope", { fund_id: "alpha" }))) as Record<string, unknown>;
  const more = { ...envelope, version: Number(envelope["version"]) + 1, rolling_24h_loss_halt_pct: 0.03, reason: "r" };
  await fixture.finish(life.call("UpdateEnvelope", more));
  expect(await endOf(fixture, life)).toBe("LOSS_NOT_JUDGED");
  await fixture.pass(1_100);
  expect(await endOf(fixture, life)).toBe("approved");
  expect(await listed(fixture, life, "rolling_24h")).toMatchObject({ state: "JUDGED", limit_pct: 0.03 });
});
