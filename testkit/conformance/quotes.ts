// The suite that every quotes feed passes: one list of checks, each a promise of ports/quotes.ts.
import { describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, parse } from "../../contracts/src/instant.ts";
import { type Quote, quote } from "../../contracts/src/records/market.ts";
import type { Quotes } from "../../ports/quotes.ts";

export interface QuotesFixture {
  readonly quotes: Quotes;
  /** At least two that the feed quotes within `soonMs`, and one that it does not know. */
  readonly known: readonly string[];
  readonly unknown: string;
  readonly soonMs: number;
  now(): Instant;
  /** Lets that much time pass. */
  settle(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface QuotesCheck {
  readonly sentence: string;
  run(fixture: QuotesFixture): Promise<void>;
}

const clockSlackMs = 5_000;

export const quotesChecks: readonly QuotesCheck[] = [
  {
    sentence: "every symbol that was asked for is quoted soon, in the agreed form and not crossed",
    async run(fixture) {
      const heard: Quote[] = [];
      const stream = await fixture.quotes.subscribe(fixture.known, (quotes) => void heard.push(...quotes));
      await fixture.settle(fixture.soonMs);
      await stream.stop();
      expect(new Set(heard.map(({ symbol }) => symbol))).toEqual(new Set(fixture.known));
      expect(stream.unknown).toEqual([]);
      for (const each of heard) {
        expect(quote.parse(each)).toEqual(each);
        expect(decimal.parse(each.bid) <= decimal.parse(each.ask), JSON.stringify(each)).toBe(true);
      }
    },
  },
  {
    sentence: "promise 1: a quote carries the moment at which it was true, which never goes back for a symbol",
    async run(fixture) {
      const begunAt = fixture.now();
      const heard: { readonly quote: Quote; readonly at: Instant }[] = [];
      const stream = await fixture.quotes.subscribe(fixture.known, (quotes) => {
        for (const each of quotes) heard.push({ quote: each, at: fixture.now() });
      });
      await fixture.settle(fixture.soonMs * 2);
      await stream.stop();
      const newest = new Map<string, Instant>();
      for (const each of heard) {
        const quotedAt = parse(each.quote.quoted_at);
        expect(quotedAt).toBeLessThanOrEqual(each.at + clockSlackMs * 1_000);
        expect(quotedAt).toBeGreaterThanOrEqual(begunAt - clockSlackMs * 1_000);
        expect(quotedAt).toBeGreaterThanOrEqual(newest.get(each.quote.symbol) ?? 0);
        newest.set(each.quote.symbol, quotedAt);
      }
      expect(newest.size).toBe(fixture.known.length);
    },
  },
  {
    sentence: "promise 2: after stop resolves nothing is heard, and another stream goes on",
    async run(fixture) {
      const heard = { first: 0, second: 0 };
      const count = (which: keyof typeof heard) => () => {
        heard[which] += 1;
      };
      const stopped = await fixture.quotes.subscribe(fixture.known, count("first"));
      const going = await fixture.quotes.subscribe(fixture.known, count("second"));
      await fixture.settle(fixture.soonMs);
      await stopped.stop();
      const before = { ...heard };
      expect(before.first).toBeGreaterThan(0);
      await fixture.settle(fixture.soonMs * 2);
      expect(heard.first).toBe(before.first);
      expect(heard.second).toBeGreaterThan(before.second);
      await going.stop();
    },
  },
  {
    sentence: "promise 3: a symbol that it does not know is named and never quoted",
    async run(fixture) {
      const heard = new Set<string>();
      const stream = await fixture.quotes.subscribe([fixture.unknown, ...fixture.known], (quotes) => {
        for (const { symbol } of quotes) heard.add(symbol);
      });
      await fixture.settle(fixture.soonMs);
      await stream.stop();
      expect(stream.unknown).toEqual([fixture.unknown]);
      expect(heard).toEqual(new Set(fixture.known));
    },
  },
  {
    sentence: "asking for nothing is a stream that can be stopped",
    async run(fixture) {
      const stream = await fixture.quotes.subscribe([], () => expect.unreachable("nothing was asked for"));
      await fixture.settle(fixture.soonMs);
      expect(stream.unknown).toEqual([]);
      await stream.stop();
    },
  },
];

export function quotesConformance(name: string, open: () => Promise<QuotesFixture>): void {
  describe(`quotes: ${name}`, () => {
    for (const check of quotesChecks) {
      it(check.sentence, async () => {
        const fixture = await open();
        try {
          await check.run(fixture);
        } finally {
          await fixture.close();
        }
      });
    }
  });
}
