// The time in which everything was heard.
import { describe, expect, it } from "vitest";
import { fromMicroseconds, type Instant, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { heardTime } from "./heard-time.ts";

const start = fromMicroseconds(1_700_000_000_000_000);

describe("22.2: heard time", () => {
  it("stands still while one subscription is behind or away, and frees nothing for an outage of two minutes", () => {
    let fills: Instant | undefined = start;
    let orders: Instant | undefined;
    const heard = heardTime([{ caughtUpAt: () => fills }, { caughtUpAt: () => orders }]);
    for (let ms = 0; ms <= 60_000; ms += 500) {
      fills = plusMilliseconds(start, ms);
      expect(heard.advance()).toBeUndefined();
    }
    expect(heard.elapsedMs()).toBe(0);
    for (let ms = 60_000; ms <= 70_000; ms += 500) {
      fills = plusMilliseconds(start, ms);
      orders = fills;
      heard.advance();
    }
    expect(heard.elapsedMs()).toBe(10_000);
    // Away for two minutes, then current again.
    for (let ms = 70_000; ms < 190_000; ms += 500) heard.advance();
    fills = plusMilliseconds(start, 190_000);
    orders = fills;
    heard.advance();
    expect(heard.elapsedMs()).toBe(10_000);
    fills = plusMilliseconds(start, 191_000);
    orders = plusMilliseconds(start, 190_500);
    heard.advance();
    expect(heard.elapsedMs()).toBe(10_500);
  });

  it("does not run backwards when the clock is set back", () => {
    let at = start;
    const heard = heardTime([{ caughtUpAt: () => at }]);
    heard.advance();
    at = plusMilliseconds(start, -60_000);
    heard.advance();
    expect(heard.elapsedMs()).toBe(0);
  });
});
