// The market-data bench in small: everything is measured, nothing is lost unseen, and the slow one is closed by name. Its speeds mean nothing at this size.
import { expect, test } from "vitest";
import { runMarketData } from "./market-data.ts";

test("measures requests, isolation and a stream that loses nothing unseen", { timeout: 120_000 }, async () => {
  const small = {
    rounds: 1,
    roundMs: 100,
    connections: 4,
    isolationMs: 300,
    subscribers: 12,
    slow: 0,
    symbols: 5,
    everyMs: 20,
    warmMs: 300,
    measuredMs: 300,
  };
  const { figures, shortfalls } = await runMarketData(small, () => undefined);
  expect(figures).toMatchObject({
    bare: { rps: expect.any(Number), p99_ms: expect.any(Number) },
    quotes: { rps: expect.any(Number), p99_ms: expect.any(Number) },
    ratio: expect.any(Number),
    isolation: { alone_p99_ms: expect.any(Number), beside_p99_ms: expect.any(Number) },
    stream: { gaps_undetected: 0, slow_closed: 0, others_closed: 0, delivered: expect.any(Number) },
  });
  const { stream } = figures as { readonly stream: { readonly delivered: number } };
  expect(stream.delivered).toBeGreaterThan(0);
  expect(shortfalls.filter((each) => /gap|closed/.test(each))).toEqual([]);
});
