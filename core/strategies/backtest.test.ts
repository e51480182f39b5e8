// A backtest's numbered promises, on a market that wanders.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { dailyCloses, paperInstruments } from "../../services/shared/paper-history.ts";
import { walkMarket } from "../../testkit/walk-market.ts";
import { backtest } from "./backtest.ts";
import { strategies } from "./index.ts";

const instruments = paperInstruments();
const nav = decimal.parse("5000000");
const closesOf = (strategy: (typeof strategies)[number], to: string, seed = 3) =>
  dailyCloses(walkMarket(seed), strategy, instruments, "2026-01-01", to);

describe.each(strategies.map((strategy) => [strategy.name, strategy] as const))("the backtest of %s", (_, strategy) => {
  it("1: never looks ahead: another future leaves the past as it was", async () => {
    const long = await closesOf(strategy, "2026-10-01");
    const changed = long.map((day) =>
      day.day < "2026-08-01"
        ? day
        : {
            ...day,
            closes: new Map([...day.closes].map(([symbol, price]) => [symbol, decimal.add(price, decimal.one)])),
          },
    );
    const earlier = (days: ReturnType<typeof backtest>["days"]) => days.filter(({ day }) => day < "2026-08-01");
    const trades = (all: ReturnType<typeof backtest>["trades"]) => all.filter(({ day }) => day < "2026-08-01");
    const [one, other] = [long, changed].map((days) => backtest(strategy, days, instruments, nav, "2026-04-01"));
    expect(earlier(other?.days ?? [])).toEqual(earlier(one?.days ?? []));
    expect(trades(other?.trades ?? [])).toEqual(trades(one?.trades ?? []));
    const said = (all: ReturnType<typeof backtest>["signals"]) => all.filter(({ day }) => day < "2026-08-01");
    expect(said(other?.signals ?? [])).toEqual(said(one?.signals ?? []));
    expect(one?.signals.map(({ day }) => day)).toEqual(one?.days.map(({ day }) => day));
    expect(one?.trades.length).toBeGreaterThan(5);
  });

  it("2 and 3: ends with nothing, and earns what its trades say", async () => {
    const { days, trades } = backtest(strategy, await closesOf(strategy, "2026-10-01"), instruments, nav, "2026-04-01");
    const left = new Map<string, decimal.Decimal>();
    let cash = decimal.zero;
    for (const { symbol, side, quantity, price, fee } of trades) {
      const signed = side.startsWith("BUY") ? quantity : decimal.negate(quantity);
      left.set(symbol, decimal.add(left.get(symbol) ?? decimal.zero, signed));
      const units = decimal.multiply(signed, decimal.parse(instruments.get(symbol)?.multiplier ?? "1"), "half-even");
      cash = decimal.subtract(decimal.subtract(cash, decimal.multiply(units, price, "half-even")), fee);
    }
    expect([...left.values()].every((quantity) => quantity === 0n)).toBe(true);
    expect(decimal.format(days.at(-1)?.profit ?? decimal.one)).toBe(decimal.format(cash));
    expect(days.at(-1)?.held).toBe(decimal.zero);
    expect(days[0]?.day).toBe("2026-04-01");
  });
});
