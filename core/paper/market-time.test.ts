// The market's time goes on from where it stood when its speed changes, and what has passed stays as it was.
import { describe, expect, it } from "vitest";
import { fromUnixMs, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { marketTime, type SpeedChange } from "./market-time.ts";
import { type PaperListing, paperPrices } from "./paper-prices.ts";

const noon = fromUnixMs(Date.UTC(2026, 10, 16, 12));
const minutes = (count: number): Instant => plusMilliseconds(noon, count * 60_000);
const from = (at: Instant, speed: number): SpeedChange => ({ from: at, speed });
const changes = [from(fromUnixMs(0), 1), from(minutes(10), 60), from(minutes(20), 2)];

describe("the market's time", () => {
  it("is ours without any change, and the oldest speed's before the first", () => {
    expect(marketTime([]).secondsAt(noon)).toBe(noon / 1e6);
    expect(marketTime([from(noon, 3)]).secondsAt(minutes(-5))).toBe((3 * minutes(-5)) / 1e6);
  });

  it("goes on without a jump at each change", () => {
    const time = marketTime(changes);
    const passed = (first: number, last: number) => time.secondsAt(minutes(last)) - time.secondsAt(minutes(first));
    expect([passed(0, 10), passed(10, 20), passed(20, 30), passed(5, 15)]).toEqual([600, 36_000, 1_200, 18_300]);
  });

  it("finds our moment again", () => {
    const time = marketTime(changes);
    for (const count of [-100, 0, 9, 10, 11, 19, 20, 21, 5_000]) {
      expect(time.unixMsOf(time.secondsAt(minutes(count)))).toBeCloseTo(minutes(count) / 1_000, 3);
    }
  });
});

describe("prices", () => {
  const listing: PaperListing = {
    symbol: "AAPL",
    assetClass: "EQUITY",
    currency: "USD",
    calendar: "XNYS",
    price: "200",
    tickSize: "0.01",
    lotSize: "1",
    halfSpreadTicks: 1,
    volatility: 0.3,
    correlation: 0.5,
    minuteVolume: 1_000,
  };
  const market = (speeds: readonly SpeedChange[]) =>
    paperPrices({ seed: 1, beganAt: noon, speeds, listings: [listing], gaps: () => [] });

  it("of the past stay when the speed changes, and go on from there", () => {
    const [before, after] = [market(changes.slice(0, 1)), market(changes.slice(0, 2))];
    for (const count of [-500_000, -60, -1, 0, 1, 5, 9, 10]) {
      expect(after.quote("AAPL", minutes(count)), String(count)).toEqual(before.quote("AAPL", minutes(count)));
    }
    expect(after.middle("AAPL", minutes(20))).not.toEqual(before.middle("AAPL", minutes(20)));
  });
});
