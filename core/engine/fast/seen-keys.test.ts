// The table of seen keys against a plain list that forgets nothing; names refer to the invariants in its header.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as instant from "../../../contracts/src/instant.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import type { Hash } from "./order-hash.ts";
import { createSeenKeys } from "./seen-keys.ts";

/** A hash whose first word comes from few values, so that slots collide. */
function hashOf(number: number): Hash {
  return { first: number % 7, second: 0, third: 0, fourth: number };
}

const at = (microseconds: number) => instant.fromMicroseconds(1_800_000_000_000_000 + microseconds);

describe("seen keys", () => {
  it("are what a list says, for any sightings, repeats and withdrawals in the order of time (1, 2)", () => {
    const step = fc.record({
      key: fc.nat(40),
      body: fc.nat(2),
      after: fc.oneof(fc.nat(50), fc.nat(400_000)),
      forgets: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const keys = createSeenKeys(300);
        const list: { key: number; body: number; at: number }[] = [];
        let now = 0;
        for (const { key, body, after, forgets } of steps) {
          now += after;
          const known = list.find((seen) => seen.key === key && now - seen.at < 300_000);
          const found = keys.find(hashOf(key), hashOf(body), at(now));
          expect(Number.isNaN(found) ? undefined : found).toBe(known === undefined ? undefined : at(known.at));
          if (known !== undefined) {
            expect(keys.sameBody()).toBe(known.body === body);
            continue;
          }
          keys.remember(hashOf(key), hashOf(body), at(now));
          if (forgets) keys.forget(hashOf(key), at(now));
          else list.push({ key, body, at: now });
        }
      }),
      { seed: 41, numRuns: inputCount(500) },
    );
  });

  it("end exactly with the window (1)", () => {
    const keys = createSeenKeys(300_000);
    keys.remember(hashOf(1), hashOf(2), at(0));
    expect(keys.find(hashOf(1), hashOf(2), at(299_999_999))).toBe(at(0));
    expect(keys.find(hashOf(1), hashOf(2), at(300_000_000))).toBeNaN();
  });

  it("that differ only in their last bytes are different keys (2)", () => {
    const keys = createSeenKeys(300_000);
    keys.remember(hashOf(7), hashOf(0), at(0));
    expect(keys.find(hashOf(14), hashOf(0), at(1))).toBeNaN();
  });

  it("need room for one window and a bucket, however long it goes on, and give it back (3)", () => {
    const keys = createSeenKeys(300_000);
    const rolls = prng(43);
    const word = () => new DataView(Uint8Array.from(rolls.bytes(4)).buffer).getInt32(0);
    const random = (): Hash => ({ first: word(), second: word(), third: word(), fourth: word() });
    let now = 0;
    for (let count = 0; count < 60_000; count += 1) {
      now += 30_000;
      keys.remember(random(), hashOf(0), at(now));
    }
    expect(keys.count()).toBeLessThanOrEqual(12_000 + 2);
    expect(keys.bytes()).toBeLessThan(6 * 8_192 * 36);
    now += 600_000_000;
    for (let count = 0; count < 60; count += 1) {
      now += 30_000_000;
      keys.remember(random(), hashOf(0), at(now));
    }
    expect(keys.bytes()).toBeLessThanOrEqual(6 * 1_024 * 36);
  });
});
