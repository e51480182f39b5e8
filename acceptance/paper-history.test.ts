// The year before the paper platform began: the same for the same market and day, nothing left over, and every value the sum of its parts.
import { beforeAll, describe, expect, it } from "vitest";
import { systemSha256 } from "../adapters/system/hashing.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { parse } from "../contracts/src/instant.ts";
import { fill } from "../contracts/src/records/order.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { hearHistory } from "../services/oms/import-history.ts";
import {
  historyName,
  lastHistoryDay,
  type PaperHistory,
  paperHistory,
  paperInstruments,
} from "../services/shared/paper-history.ts";
import { paperCapital } from "../services/shared/paper-seeds.ts";
import { serviceFixture } from "../testkit/virtual/service-fixture.ts";
import { walkMarket } from "../testkit/walk-market.ts";

const to = "2026-11-14";
const made = (seed: number): Promise<PaperHistory> =>
  paperHistory({ marketHistory: walkMarket(seed), sha256: systemSha256 }, to);
let history: PaperHistory;
const multiplierOf = (symbol: string) => decimal.parse(paperInstruments().get(symbol)?.multiplier ?? "1");

beforeAll(async () => {
  history = await made(1);
});

describe("the paper platform's history", () => {
  it("is pinned: another hash means that strategies, fees, trading days or its form have changed, and wants another strategiesVersion", async () => {
    expect(history.hash).toBe("3353051efac6216c3db1df3b43a56091683452cbbc6ea6a0dd95e565a568bd16");
    expect((await made(2)).hash).not.toBe(history.hash);
  });

  it("ends on the day before, and is a year long", () => {
    expect(lastHistoryDay(parse("2026-11-15T00:00:00Z"))).toBe(to);
    expect([history.from, history.to]).toEqual(["2025-11-15", to]);
    expect(history.fills.every(({ filled_at }) => filled_at > "2025-11-15" && filled_at < "2026-11-15")).toBe(true);
  });

  it("has valid trades that leave nothing over per fund, strategy and symbol", () => {
    const left = new Map<string, decimal.Decimal>();
    const ids = new Set<string>();
    for (const one of history.fills) {
      expect(fill.safeParse(one).success).toBe(true);
      ids.add(one.fill_id);
      const key = JSON.stringify([one.fund_id, one.strategy_id, one.symbol]);
      const quantity = decimal.parse(one.quantity);
      const signed = one.side.startsWith("BUY") ? quantity : decimal.negate(quantity);
      left.set(key, decimal.add(left.get(key) ?? decimal.zero, signed));
    }
    expect(ids.size).toBe(history.fills.length);
    expect([...left].filter(([, quantity]) => quantity !== 0n)).toEqual([]);
    expect(new Set(history.fills.map(({ fund_id }) => fund_id))).toEqual(new Set(["alpha", "beta", "gamma"]));
    expect(history.fills.length).toBeGreaterThan(300);
    expect(history.fills.length).toBeLessThan(5_000);
  });

  it("ends at the capital of today, without a jump, and every value is the sum of its parts", () => {
    for (const { fundId, amount } of paperCapital) {
      const navs = history.navs.filter((nav) => nav.fundId === fundId);
      expect(navs.at(-1)).toMatchObject({ nav: amount, cash: amount, positionsValue: "0" });
      expect(navs.length).toBeGreaterThan(240);
      let before = navs[0];
      for (const nav of navs) {
        const parts = decimal.add(decimal.parse(nav.cash), decimal.parse(nav.positionsValue));
        expect(decimal.format(parts)).toBe(nav.nav);
        expect(Math.abs(Number(nav.nav) / Number(before?.nav) - 1)).toBeLessThan(0.03);
        if (nav !== before) expect(nav.day > (before?.day ?? "")).toBe(true);
        before = nav;
      }
    }
  });

  it("keeps what every value was made of, so that it ties whatever the market says of its past later", () => {
    for (const { prices = {}, positionsValue, fundId, day } of history.navs) {
      const value = Object.entries(prices)
        .map(([symbol, { quantity, price }]) => {
          const units = decimal.multiply(decimal.parse(quantity), multiplierOf(symbol), "half-even");
          return decimal.multiply(units, decimal.parse(price), "half-even");
        })
        .reduce(decimal.add, decimal.zero);
      expect([fundId, day, decimal.format(value)]).toEqual([fundId, day, positionsValue]);
    }
    expect(history.navs.filter(({ prices = {} }) => Object.keys(prices).length > 0).length).toBeGreaterThan(500);
  });

  it("has a backtest of every strategy, with skill on most days", () => {
    for (const { days, strategyId } of history.backtests) {
      const skilled = days.filter(({ informationCoefficient: one }) => one !== null && one >= -1 && one <= 1);
      expect(skilled.length, strategyId).toBeGreaterThan(days.length * 0.8);
    }
  });
});

it("is left out by order management when treasury put another one in, which is an alarm", async () => {
  const fixture = serviceFixture(3);
  try {
    const ports = fixture.portsOf("oms");
    const hearing = await hearHistory({ ...ports, marketHistory: { ...ports.marketHistory, ...walkMarket(1) } });
    const tell = (hash: string) =>
      fixture.portsOf("treasury").store.transact("treasury.history", (unit) =>
        unit.events.publish(subjects.seedImported, {
          name: historyName,
          hash,
          from: history.from,
          to,
          counts: {},
          imported_by: "service:treasury",
          at: "2026-11-15T00:00:00.000000Z",
        }),
      );
    const alarms = () => fixture.reported(subjects.alarmRaised).filter(({ code }) => code === "STATE_MISMATCH");
    await tell("0".repeat(64));
    await fixture.time.timers.sleep(5_000);
    expect(fixture.tables.oms.fills.size).toBe(0);
    expect(alarms()).toMatchObject([{ service: "oms", facts: { about: historyName } }]);
    await tell(history.hash);
    await fixture.time.timers.sleep(5_000);
    expect(fixture.tables.oms.fills.size).toBe(history.fills.length);
    expect(alarms()).toHaveLength(1);
    await hearing.close();
  } finally {
    await fixture.close();
  }
});
