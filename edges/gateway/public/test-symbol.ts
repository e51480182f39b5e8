// The quote of TEST: it changes every second, also where nothing trades, so that a program can be tried at any time. It is a function of the second
// alone, the same from every gateway, and no instrument: nothing is traded at it.
import type { Quote } from "../../../contracts/src/generated/svc/v1/market.ts";
import { format, fromMicroseconds, type Instant, microsecondsPerSecond } from "../../../contracts/src/instant.ts";
import { testSymbol } from "../../../contracts/src/records/market.ts";

/** It climbs a cent a second for this long and falls as long. */
const turnS = 100;
const lowestCents = 10_000;

export function testQuote(now: Instant): Quote {
  const second = Math.floor(now / microsecondsPerSecond);
  const phase = second % (2 * turnS);
  const cents = lowestCents + (phase < turnS ? phase : 2 * turnS - phase);
  return {
    symbol: testSymbol,
    bid: dollars(cents),
    ask: dollars(cents + 2),
    last: dollars(cents + 1),
    bid_size: "100",
    ask_size: "100",
    currency: "USD",
    venue: "test",
    quoted_at: format(fromMicroseconds(second * microsecondsPerSecond)),
  };
}

function dollars(cents: number): string {
  const rest = cents % 100;
  const whole = String((cents - rest) / 100);
  return rest === 0 ? whole : `${whole}.${String(rest).padStart(2, "0").replace(/0$/, "")}`;
}
