// The newest quote of each symbol: never an older one, never one from the future, and the next honest one after the clock was set back.
import { expect, test } from "vitest";
import { format, fromUnixMs, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Quote } from "../../contracts/src/records/market.ts";
import { rememberQuotes } from "./newest-quotes.ts";

async function remembered() {
  let now = fromUnixMs(1_800_000_000_000);
  let ear: (quotes: readonly Quote[]) => void = () => undefined;
  const heard: Quote[] = [];
  const from = {
    name: "puppet",
    subscribe: async (_: readonly string[], hear: (quotes: readonly Quote[]) => void) => {
      ear = hear;
      return { unknown: [], stop: async () => undefined };
    },
  };
  const { quotes, newest } = rememberQuotes(from, { now: () => now });
  await quotes.subscribe(["AAPL"], (some) => void heard.push(...some));
  const say = (bid: string, aheadMs: number): string | undefined => {
    ear([{ symbol: "AAPL", bid, ask: bid, quoted_at: format(plusMilliseconds(now, aheadMs)) }]);
    return newest.get("AAPL")?.bid;
  };
  const step = (ms: number): void => {
    now = plusMilliseconds(now, ms);
  };
  return { say, step, newest, heard, ear: (quote: Quote) => ear([quote]) };
}

test("23.10: a quote from the future is not remembered, and those after it are", async () => {
  const { say, heard } = await remembered();
  expect(say("9", 5_001)).toBeUndefined();
  expect(say("1", 0)).toBe("1");
  expect(say("9", 60_000)).toBe("1");
  expect(say("2", 1)).toBe("2");
  expect(say("8", 0)).toBe("2");
  // Who listens hears them all, and judges for itself.
  expect(heard).toHaveLength(5);
});

test("23.10: after the clock was set back the next quote counts", async () => {
  const { say, step } = await remembered();
  expect(say("1", 0)).toBe("1");
  step(-3_600_000);
  expect(say("2", 0)).toBe("2");
  expect(say("1", -1)).toBe("2");
});

test("a quote without a readable date is not remembered", async () => {
  const { newest, ear } = await remembered();
  ear({ symbol: "AAPL", bid: "1", ask: "1", quoted_at: "yesterday" });
  expect(newest.size).toBe(0);
});
