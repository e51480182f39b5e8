// What happens to a simulated platform from outside: processes are killed and cut off, the broker falls silent, prices jump through stops, reports
// get lost, and somebody trades past us.
import * as decimal from "../contracts/src/decimal.ts";
import type { ServiceName } from "../services/shared/service.ts";
import type { Scheduler } from "../testkit/virtual/scheduler.ts";
import type { Platform } from "./platform.ts";

export interface StormOptions {
  readonly time: Scheduler;
  readonly platform: Platform;
  readonly isStopping: () => boolean;
  readonly everyMs: number;
  /** Whether somebody trades past us in this run. */
  readonly offSystem: boolean;
}

/** Oftener those that orders pass through. */
const victims: readonly ServiceName[] = [
  "oms",
  "oms",
  "riskengine",
  "riskengine",
  "operations",
  "treasury",
  "research",
];
const gapping = ["AAPL", "XOM", "ETH-USD", "BTC-USD", "SPY"];

export async function storms({ time, platform, isStopping, everyMs, offSystem }: StormOptions): Promise<void> {
  const prng = time.prng.fork("storms");
  const broker = platform.outside.connect();
  const victim = (): ServiceName => victims[prng.below(victims.length)] ?? "oms";
  const symbol = (): string => gapping[prng.below(gapping.length)] ?? "AAPL";
  async function tradePastUs(): Promise<void> {
    const units = decimal.fromInteger(BigInt(1 + prng.below(20)));
    const quantity = prng.chance(0.5) ? units : decimal.negate(units);
    const trade = { account: "alpha", symbol: platform.outside.nameNow("MSFT"), quantity, price: decimal.parse("428") };
    await broker.disturb({ kind: "OFF_SYSTEM_TRADE", ...trade });
  }
  // At once, so that a short run sees the reconciler find it and set it right.
  if (offSystem) await tradePastUs();
  while (!isStopping()) {
    await time.timers.sleep(1 + prng.below(2 * everyMs));
    if (isStopping()) return;
    const thrown = prng.below(100);
    if (thrown < 35) platform.crash(victim());
    else if (thrown < 45) platform.cutOff(victim(), 50 + prng.below(2_500));
    else if (thrown < 62) platform.outside.silence(100 + prng.below(2_500));
    else if (thrown < 85)
      platform.outside.gap(symbol(), (prng.chance(0.7) ? -1 : 1) * (0.02 + prng.below(100) / 1_000));
    else if (thrown < 90 || !offSystem) platform.outside.loseReports(prng.below(5) / 10);
    else await tradePastUs();
  }
}
