// What strangers may ask of a port: each address its own of every share, and of what all have together documents are refused first, pages last, and the log-in
// never. Time stands still unless the test says otherwise.
import fc, { array, constantFrom, nat, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { type OpenShare, openShares, strangersTogether } from "../../../contracts/src/doors/open-shares.ts";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import { type StrangerShares, strangerBudget, strangerShares } from "./stranger-budget.ts";
import { tokenBuckets } from "./token-buckets.ts";

function fixture(shares?: StrangerShares) {
  let nowMs = 1_000_000;
  const clock = { now: () => fromUnixMs(nowMs) };
  const budget = strangerBudget(clock, shares);
  const taken = (share: OpenShare, count: number, address: (at: number) => string): number =>
    Array.from({ length: count }, (_, at) => budget.take(address(at), share, 1)).filter(({ allowed }) => allowed)
      .length;
  const wait = (ms: number): void => {
    nowMs += ms;
  };
  return { clock, budget, taken, wait };
}

const one = (): string => "192.0.2.1";
const many = (at: number): string => `198.51.100.${at % 250}`;

describe("the budget of strangers", () => {
  it("is each address's own, of every share", () => {
    for (const share of Object.keys(openShares) as OpenShare[]) {
      const { budget, taken, wait } = fixture();
      const { burst, ratePerS, leaves } = openShares[share];
      const reached = Math.min(burst, leaves === undefined ? burst : strangersTogether.burst * (1 - leaves));
      expect([share, taken(share, burst + 100, one)]).toEqual([share, reached]);
      if (reached < burst) continue;
      expect(budget.take(one(), share, 1)).toMatchObject({ allowed: false, short: "address" });
      expect(budget.take("192.0.2.2", share, 1).allowed).toBe(true);
      wait(1_000);
      expect([share, taken(share, burst, one)]).toEqual([share, ratePerS]);
    }
  });

  it("refuses documents first, then what leads nowhere, then pages, and neither health nor the log-in for what others asked", () => {
    const { budget, taken } = fixture();
    const { burst } = strangersTogether;
    expect(taken("document", 20_000, many)).toBe(burst * 0.5);
    expect(taken("nothing", 20_000, many)).toBe(burst * 0.25);
    expect(taken("data", 1, one)).toBe(0);
    expect(taken("page", 20_000, many)).toBe(burst * 0.25);
    expect(budget.take(one(), "page", 1)).toEqual({ allowed: false, waitS: 1, short: "all" });
    for (const share of ["log_in", "health", "alert"] as const) {
      expect([share, taken(share, openShares[share].burst, one)]).toEqual([share, openShares[share].burst]);
    }
  });

  it("grows with what an address may ask of market data, and knows no limit to it where that has none", () => {
    const shares = strangerShares({ ratePerS: 200, burst: 400 });
    expect(shares.together).toEqual({ ratePerS: 20_000, burst: 40_000 });
    expect(strangerShares({ ratePerS: 20, burst: 40 }).together.ratePerS).toBe(strangersTogether.ratePerS);
    const free = strangerBudget({ now: () => fromUnixMs(0) }, strangerShares({ ratePerS: 0, burst: 40 }));
    expect(Array.from({ length: 50_000 }, () => free.take(one(), "data", 5)).every(({ allowed }) => allowed)).toBe(
      true,
    );
  });

  it("takes nothing of an address for what is refused because of others", () => {
    const { budget, taken, wait } = fixture();
    taken("page", 20_000, many);
    expect(budget.left(one(), "page")).toBe(1);
    expect(budget.take(one(), "page", 1).allowed).toBe(false);
    expect(budget.left(one(), "page")).toBe(1);
    wait(1_000);
    expect(budget.take(one(), "page", 1).allowed).toBe(true);
  });

  it("lets no history of others refuse a log-in of an address that is below its own share", () => {
    const asked = record({
      address: constantFrom("192.0.2.1", "192.0.2.2", "2001:db8:0:1", "198.51.100.7"),
      share: constantFrom(...(Object.keys(openShares) as OpenShare[])),
      times: nat(500),
      waitedMs: nat(5_000),
    });
    fc.assert(
      property(array(asked, { maxLength: 60 }), (history) => {
        // All together have next to nothing, so that whatever asks them is refused soon.
        const { clock, budget, wait } = fixture({ shares: openShares, together: { ratePerS: 5, burst: 50 } });
        // As if the address were alone, and logged in and did nothing else.
        const alone = new Map<string, ReturnType<typeof tokenBuckets>>();
        for (const { address, share, times, waitedMs } of history) {
          for (let at = 0; at < times; at += 1) {
            const { allowed } = budget.take(address, share, 1);
            if (share !== "log_in") continue;
            const own = alone.get(address) ?? tokenBuckets(openShares.log_in, clock);
            alone.set(address, own);
            expect(allowed).toBe(own.take(address, 1).allowed);
          }
          wait(waitedMs);
        }
      }),
      { numRuns: 50 },
    );
  });
});
