// A loss limit that is not judged lets no new risk through, and says so: over the running engine, with every reason that there is.
import { describe, expect, test } from "vitest";
import type { Losses } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format, parse } from "../../../contracts/src/instant.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type EngineLife, type RiskEngineRig, riskEngineRig } from "../../../testkit/riskengine-rig.ts";
import { paperReference } from "../../shared/paper-seeds.ts";

type Rig = RiskEngineRig;

const endOf = async (rig: Rig, life: EngineLife, order: object = {}): Promise<string> => {
  const { approved, code } = await rig.finish(life.check(order));
  return approved ? "approved" : code;
};

async function value(rig: Rig, nav: string, differs: Partial<NavUpdated> = {}): Promise<void> {
  const as_of = format(rig.time.clock.now());
  const usual = { fund_id: "alpha", nav, currency: "USD", strategy_pnl: {}, as_of };
  await rig.publish(subjects.navUpdated, { ...usual, ...differs });
  await rig.pass(50);
}

async function price(rig: Rig): Promise<void> {
  const at = format(rig.time.clock.now());
  rig.outside.bus.broadcast(subjects.marketMarks, { symbol: "AAPL", price: "232.5", source: "rig", at });
  await rig.pass(50);
}

/** Reference data as it was, but for one kind; `change` numbers them. */
async function setReference<Kind extends "funds" | "calendars">(
  rig: Rig,
  kind: Kind,
  version: number,
  change: (content: ReferenceContents[Kind]) => ReferenceContents[Kind],
): Promise<void> {
  const setAt = rig.time.clock.now();
  const content = change(paperReference(format(setAt))[kind] as ReferenceContents[Kind]);
  await rig.finish(
    rig.outside.store.transact("reference", (unit) =>
      unit.reference.put({ kind, version, content, setBy: "x", setAt, reason: "", hash: "" } as never),
    ),
  );
}

const halts = (rig: Rig) => rig.published(subjects.riskHaltRequested);
const alarmsOf = (rig: Rig) =>
  rig.published(subjects.alarmRaised).filter(({ code, facts }) => {
    return code === "LOSS_LIMIT_NOT_JUDGED" && facts?.["about"] === "alpha";
  });
const baselinesOf = (rig: Rig) => rig.published(subjects.lossBaseline).filter(({ fund_id: id }) => id === "alpha");
async function listed(rig: Rig, life: EngineLife, limit = "daily") {
  const { losses } = (await rig.finish(life.call("ListLosses", { fund_id: "alpha" }))) as Losses;
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
    const rig = await riskEngineRig({ seed: 1, startAt });
    await setReference(rig, "funds", 2, unknownCalendar);
    const life = await rig.start({ inSilence: true });
    await value(rig, "10000000");
    await price(rig);
    expect(baselinesOf(rig)).toEqual([]);
    const denied = await rig.finish(life.check({}));
    expect(denied).toMatchObject({ approved: false, code: "LOSS_NOT_JUDGED", rejecting_gate: "drawdown_halt" });
    expect(denied.reason).toContain(
      "daily, weekly, monthly, strategy: the fund's calendar is not known; this ends when",
    );
    expect(await listed(rig, life)).toMatchObject({ state: "NOT_JUDGED", reason: expect.stringContaining("calendar") });
    await rig.pass(5_000);
    expect(alarmsOf(rig)).toMatchObject([{ sentence: expect.stringContaining("calendar is not known") }]);
    await setReference(rig, "funds", 3, (funds) => funds);
    await rig.pass(2_100);
    expect(baselinesOf(rig).filter(({ limit }) => limit === "daily")).toMatchObject([
      { period: "2026-11-20", value: "10000000" },
    ]);
    expect(await endOf(rig, life)).toBe("approved");
    expect(await listed(rig, life)).toMatchObject({ state: "JUDGED", period: "2026-11-20" });
    await value(rig, "9800000");
    await value(rig, "9800000");
    expect(halts(rig)).toMatchObject([{ evidence: { limit: "daily", period: "2026-11-20" } }]);
    expect(await listed(rig, life)).toMatchObject({ state: "BREACHED" });
    expect(alarmsOf(rig)).toHaveLength(1);
  });

  test("it survives a restart in between", async () => {
    const rig = await riskEngineRig({ seed: 2, startAt });
    await setReference(rig, "funds", 2, unknownCalendar);
    const life = await rig.start({ inSilence: true });
    await value(rig, "10000000");
    life.process.kill();
    await setReference(rig, "funds", 3, (funds) => funds);
    const next = await rig.start({ inSilence: true });
    await price(rig);
    expect(await endOf(rig, next)).toBe("approved");
    expect(await listed(rig, next)).toMatchObject({ state: "JUDGED", period: "2026-11-20", baseline: "10000000" });
  });
});

test("22.1: baselines that an earlier version dated by UTC are judged from, and no date that does not fit is silent", async () => {
  const rig = await riskEngineRig({
    seed: 3,
    startAt: parse("2026-11-22T02:30:00Z"),
    settings: { lossConfirmations: 1 },
  });
  const first = await rig.start();
  first.process.kill();
  // As that version left it: Sunday's date, while New York counts Friday's.
  const { states } = rig.world.losses;
  const found = states.get("alpha");
  if (found === undefined) throw new Error("alpha was never valued");
  const { datedBy: _, ...state } = found.state;
  const baselines = state.baselines.map((one) => (one.limit === "high_water" ? one : { ...one, period: "2026-11-22" }));
  states.set("alpha", { fundId: "alpha", state: { ...state, baselines } });
  const life = await rig.start();
  expect(await endOf(rig, life)).toBe("approved");
  expect(await listed(rig, life)).toMatchObject({ state: "JUDGED", period: "2026-11-22" });
  await value(rig, "9800000");
  expect(halts(rig)).toMatchObject([{ evidence: { limit: "daily", period: "2026-11-22" } }]);
  // Too far ahead for any calendar: only a wrong clock writes that.
  life.process.kill();
  states.set("alpha", {
    fundId: "alpha",
    state: { ...state, baselines: baselines.map((one) => ({ ...one, period: "2027-02-01" })) },
  });
  rig.world.risk.halts.length = 0;
  const last = await rig.start();
  const denied = await rig.finish(last.check({}));
  expect(denied).toMatchObject({
    code: "LOSS_NOT_JUDGED",
    reason: expect.stringContaining("its baseline is of 2027-02-01"),
  });
});

describe("22.1: a limit that is not judged denies, for whatever reason", () => {
  test("no valuation: it is listed, and alarmed within 5 s", async () => {
    const rig = await riskEngineRig({ seed: 4 });
    const life = await rig.start({ inSilence: true });
    await rig.pass(4_500);
    expect(await listed(rig, life)).toMatchObject({
      state: "NOT_JUDGED",
      reason: expect.stringContaining("not been valued"),
    });
    expect(alarmsOf(rig)).toHaveLength(1);
  });

  test("values too old, from the moment on in which they are, and until the next one", async () => {
    const rig = await riskEngineRig({ seed: 5, settings: { navAgeMsMax: 20_000 } });
    const life = await rig.start();
    await rig.pass(19_000);
    await price(rig);
    expect(await listed(rig, life)).toMatchObject({ state: "JUDGED" });
    await rig.pass(1_500);
    await price(rig);
    // Gate 4 says so first for new risk.
    expect(await endOf(rig, life)).toBe("NAV_STALE");
    expect(await listed(rig, life)).toMatchObject({
      state: "NOT_JUDGED",
      reason: expect.stringContaining("older than 20 s"),
    });
    await rig.pass(5_000);
    expect(alarmsOf(rig)).toHaveLength(1);
    await value(rig, "10000000");
    expect(await endOf(rig, life)).toBe("approved");
    await rig.pass(25_000);
    expect(alarmsOf(rig)).toHaveLength(2);
  });

  test("valuations that do not say what the strategies made, with a limit for their own losses", async () => {
    const rig = await riskEngineRig({ seed: 6 });
    const life = await rig.start();
    const as_of = format(rig.time.clock.now());
    await rig.publish(subjects.navUpdated, { fund_id: "alpha", nav: "10000000", currency: "USD", as_of });
    await rig.pass(50);
    const denied = await rig.finish(life.check({}));
    expect(denied).toMatchObject({
      code: "LOSS_NOT_JUDGED",
      reason: expect.stringContaining("(strategy: valuations do not"),
    });
    expect(await listed(rig, life, "strategy")).toMatchObject({ state: "NOT_JUDGED" });
    expect(await listed(rig, life)).toMatchObject({ state: "JUDGED" });
    await value(rig, "10000000");
    expect(await endOf(rig, life)).toBe("approved");
  });

  test("a value that cannot be reckoned with", async () => {
    const rig = await riskEngineRig({ seed: 7 });
    const life = await rig.start();
    await value(rig, "9".repeat(20), { net_flows: `-${"9".repeat(20)}` });
    expect(await listed(rig, life)).toMatchObject({ state: "NOT_JUDGED" });
    expect(life.deaths).toEqual([]);
  });

  test("a fund that was emptied", async () => {
    const rig = await riskEngineRig({ seed: 8 });
    const life = await rig.start();
    await value(rig, "0", { net_flows: "-10000000" });
    expect(await listed(rig, life)).toMatchObject({
      state: "NOT_JUDGED",
      reason: expect.stringContaining("withdrawn"),
    });
  });

  test("a valuation that was heard and that the store does not take: denied before 5 s are over, alarmed, over by itself", async () => {
    const rig = await riskEngineRig({ seed: 9 });
    const life = await rig.start();
    rig.fates.set(
      "risk.nav",
      Array.from({ length: 200 }, () => "failed" as const),
    );
    await value(rig, "10000000");
    await rig.pass(3_000);
    expect(await endOf(rig, life)).toBe("approved");
    await rig.pass(1_500);
    expect(await endOf(rig, life)).toBe("LOSS_NOT_JUDGED");
    expect(alarmsOf(rig)).toHaveLength(1);
    rig.fates.clear();
    await rig.pass(60_000);
    await value(rig, "10000000");
    expect(await endOf(rig, life)).toBe("approved");
  });
});

test("22.1: nobody is alarmed about a fund before reference data has it, nor in the three seconds that its first valuation takes", async () => {
  const rig = await riskEngineRig({ seed: 15 });
  await setReference(rig, "funds", 2, () => []);
  const life = await rig.start({ inSilence: true });
  await rig.pass(20_000);
  await setReference(rig, "funds", 3, (funds) => funds);
  await rig.pass(2_500);
  await value(rig, "10000000");
  await rig.pass(10_000);
  await price(rig);
  expect(alarmsOf(rig)).toEqual([]);
  expect(await endOf(rig, life)).toBe("approved");
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
    const rig = await riskEngineRig({ seed: 10, startAt });
    const life = await rig.start();
    await value(rig, "9810000");
    await value(rig, "9810000");
    await setReference(rig, "calendars", 2, tokyo);
    await setReference(rig, "funds", 2, moved(calendar));
    rig.fates.set("risk.roll", ["failed", "failed", "failed", "failed"]);
    await rig.pass(1_200);
    // Until it is written under the new dates.
    const denied = await rig.finish(life.check({}));
    expect(denied).toMatchObject({
      code: "LOSS_NOT_JUDGED",
      reason: expect.stringContaining(`the calendar is ${calendar}`),
    });
    await rig.pass(6_000);
    expect(await endOf(rig, life)).toBe("approved");
    expect(await listed(rig, life)).toMatchObject({
      ...{ state: "JUDGED", baseline: "10000000", loss: "190000" },
      period: calendar === "tokyo" ? "2026-11-19" : "2026-11-18",
    });
    await value(rig, "9800000");
    await value(rig, "9800000");
    expect(halts(rig)).toMatchObject([{ evidence: { limit: "daily", baseline: "10000000" } }]);
  });

  test("one that takes the calendar away denies until it is back", async () => {
    const rig = await riskEngineRig({ seed: 11, startAt });
    const life = await rig.start();
    await setReference(rig, "funds", 2, unknownCalendar);
    await rig.pass(1_100);
    await value(rig, "9700000");
    expect(await endOf(rig, life)).toBe("LOSS_NOT_JUDGED");
    await rig.pass(10_000);
    expect([halts(rig).length, alarmsOf(rig).length]).toEqual([0, 1]);
    await setReference(rig, "funds", 3, (funds) => funds);
    await rig.pass(2_100);
    expect(await endOf(rig, life)).toBe("LOSS_CONFIRMATION_PENDING");
    await rig.pass(6_000);
    expect(halts(rig)).toMatchObject([{ evidence: { limit: "daily" } }]);
  });
});

test("22.1: what is shown is what is judged: never BREACHED without its halt, RESUMED says when it halts again", async () => {
  const rig = await riskEngineRig({ seed: 12 });
  const life = await rig.start();
  await value(rig, "9800000");
  expect(await listed(rig, life)).toMatchObject({ state: "PENDING" });
  await value(rig, "9800000");
  expect(await listed(rig, life)).toMatchObject({ state: "BREACHED" });
  const [halt] = halts(rig);
  await rig.finish(life.call("ResumeHalt", { fund_id: "alpha", reason: "seen", confirmation: "RESUME", halt_ids: [] }));
  expect(rig.world.risk.halts).toEqual([]);
  // A tenth of the limit more than 200,000.
  expect(await listed(rig, life)).toMatchObject({ state: "RESUMED", loss: "200000", halts_again_at: "9780000" });
  await rig.pass(1_000);
  await price(rig);
  expect(await endOf(rig, life)).toBe("approved");
  await value(rig, "9780001");
  expect(await listed(rig, life)).toMatchObject({ state: "RESUMED", halts_again_at: "9780000" });
  await value(rig, "9780000");
  expect(await listed(rig, life)).toMatchObject({ state: "PENDING" });
  await value(rig, "9780000");
  expect(await listed(rig, life)).toMatchObject({ state: "BREACHED" });
  expect(halts(rig)).toHaveLength(2);
  expect(halt?.halt_id).not.toBe(halts(rig)[1]?.halt_id);
});

test("22.1: an envelope that is tightened below the loss denies at once, and is never shown as breached without its halt", async () => {
  const rig = await riskEngineRig({ seed: 13 });
  const life = await rig.start();
  await value(rig, "9900000");
  expect(await endOf(rig, life)).toBe("approved");
  const envelope = (await rig.finish(life.call("GetEnvelope", { fund_id: "alpha" }))) as Record<string, unknown>;
  const tighter = { ...envelope, version: Number(envelope["version"]) + 1, daily_loss_halt_pct: 0.01, reason: "r" };
  await rig.finish(life.call("UpdateEnvelope", tighter));
  expect(await endOf(rig, life)).toBe("LOSS_CONFIRMATION_PENDING");
  expect(await listed(rig, life)).toMatchObject({ state: "PENDING" });
  await value(rig, "9900000");
  await value(rig, "9900000");
  expect(await listed(rig, life)).toMatchObject({ state: "BREACHED" });
  expect(halts(rig)).toHaveLength(1);
});

test("22.1: a window that is switched on is judged as soon as its beginning was read", async () => {
  const rig = await riskEngineRig({ seed: 14, startAt: parse("2026-11-18T12:00:00Z") });
  const life = await rig.start();
  const envelope = (await rig.finish(life.call("GetEnvelope", { fund_id: "alpha" }))) as Record<string, unknown>;
  const more = { ...envelope, version: Number(envelope["version"]) + 1, rolling_24h_loss_halt_pct: 0.03, reason: "r" };
  await rig.finish(life.call("UpdateEnvelope", more));
  expect(await endOf(rig, life)).toBe("LOSS_NOT_JUDGED");
  await rig.pass(1_100);
  expect(await endOf(rig, life)).toBe("approved");
  expect(await listed(rig, life, "rolling_24h")).toMatchObject({ state: "JUDGED", limit_pct: 0.03 });
});
