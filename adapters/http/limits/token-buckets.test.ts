// The tokens of the public market data: what an address may take at once, how fast it gets more, and how much is remembered of how many.
import { describe, expect, it } from "vitest";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import { tokenBuckets } from "./token-buckets.ts";

function fixture(ratePerS = 20, burst = 40) {
  let nowMs = 1_000_000;
  const buckets = tokenBuckets({ ratePerS, burst }, { now: () => fromUnixMs(nowMs) });
  const taken = (count: number, cost = 1, address = "192.0.2.1") =>
    Array.from({ length: count }, () => buckets.take(address, cost)).filter(({ allowed }) => allowed).length;
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { buckets, taken, wait };
}

describe("a bucket of tokens", () => {
  it("has a burst at once and a steady rate after it", () => {
    const { taken, wait, buckets } = fixture();
    expect(taken(100)).toBe(40);
    expect(buckets.take("192.0.2.1", 1)).toEqual({ allowed: false, left: 0, waitS: 1, fullInS: 2 });
    wait(1_000);
    expect(taken(100)).toBe(20);
    wait(60_000);
    expect(taken(100)).toBe(40);
    expect(taken(100, 1, "192.0.2.2")).toBe(40);
  });

  it("counts what costs more as more, and takes nothing for what it refuses", () => {
    const { taken, wait } = fixture(1, 10);
    expect(taken(3, 5)).toBe(2);
    wait(4_000);
    expect(taken(10, 5)).toBe(0);
    wait(1_000);
    expect(taken(1, 5)).toBe(1);
    expect(fixture(1, 3).taken(2, 5)).toBe(1);
  });

  it("gives nothing when the clock is set back, and goes on afterwards", () => {
    const { taken, wait } = fixture();
    expect(taken(40)).toBe(40);
    wait(-3_600_000);
    expect(taken(5)).toBe(0);
    wait(1_000);
    expect(taken(100)).toBe(20);
  });

  it("is remembered up to a bound, the longest unseen forgotten first", () => {
    const { taken, buckets } = fixture(1, 1);
    expect(taken(1, 1, "first")).toBe(1);
    expect(taken(1, 1, "second")).toBe(1);
    for (let at = 0; at < 19_998; at += 1) buckets.take(`a${at}`, 1);
    expect([taken(1, 1, "first"), buckets.size()]).toEqual([0, 20_000]);
    buckets.take("one more", 1);
    expect(buckets.size()).toBe(20_000);
    expect(taken(1, 1, "second")).toBe(1);
    expect(taken(1, 1, "first")).toBe(0);
  });
});
