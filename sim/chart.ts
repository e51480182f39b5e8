// A charting platform in a simulated run: it sends alerts over the same bad network links as everybody, resends what was not taken, some of them at once,
// and knows nothing of what became of them. What proves its secret is the gateway's, which does not run here; order management takes them in.
import { format } from "../contracts/src/instant.ts";
import type { Prng } from "../testkit/virtual/prng.ts";
import type { Scheduler } from "../testkit/virtual/scheduler.ts";
import { one, type PeopleParts } from "./people.ts";
import { serviceIdentity } from "./platform.ts";

/** Few enough that alerts wait for each other. */
const charts: readonly (readonly [fund: string, strategy: string, venue: string, symbol: string])[] = [
  ["alpha", "alpha-momentum", "NASDAQ:", "MSFT"],
  ["alpha", "alpha-meanrev", "NYSE:", "JPM"],
  ["beta", "beta-trend", "", "SOL-USD"],
];

/** In which share of the runs a charting platform sends alerts. */
const chartsShare = 0.2;
/** As the sender does, only sooner. */
const sendsMax = 4;
const resendAfterMs = 60;

interface Alert {
  readonly fund: string;
  readonly body: Readonly<Record<string, string>>;
}

function alertOf(prng: Prng, { time, platform }: PeopleParts, count: number): Alert {
  const [fund, strategy, venue, listed] = one(prng, charts);
  const symbol = platform.outside.nameNow(listed);
  const isCoin = symbol.includes("-");
  const units = 1 + prng.below(20);
  const body = {
    strategy_id: strategy,
    fund_id: fund,
    symbol: `${venue}${symbol}`,
    side: prng.chance(0.5) ? "buy" : "sell",
    quantity: isCoin ? (units / 100).toFixed(2) : String(units),
    order_type: "market",
    tif: "gtc",
    idempotency_key: `${strategy}-${count}`,
    ...(prng.chance(0.5) && { timestamp: format(time.clock.now()) }),
  };
  return { fund, body };
}

/** Drawn apart from everything else, so that runs without charts stay as they are. */
export function hasCharts({ prng }: Pick<Scheduler, "prng">): boolean {
  return prng.fork("are there charts").chance(chartsShare);
}

export async function chart(parts: PeopleParts, everyMs: number): Promise<void> {
  const { time, platform } = parts;
  const prng = time.prng.fork("chart");
  const ask = platform.ask(serviceIdentity("gateway"));
  const sent: Alert[] = [];

  /** Until it was answered or the sender gives up. */
  async function deliver({ fund, body }: Alert): Promise<void> {
    for (let sends = 1; sends <= sendsMax; sends += 1) {
      try {
        const request = {
          fund_id: fund,
          body: JSON.stringify(body),
          remote_address: "52.89.214.238",
          received_at: format(time.clock.now()),
        };
        await ask("Oms", "ReceiveSignal", request);
        return;
      } catch {
        // Trouble is a 503 at the gateway, and that is sent again.
        await time.timers.sleep(resendAfterMs + prng.below(resendAfterMs));
      }
    }
  }

  while (!parts.isStopping()) {
    await time.timers.sleep(1 + prng.below(2 * everyMs));
    if (parts.isStopping()) return;
    const thrown = prng.below(100);
    const before = sent.length === 0 ? undefined : one(prng, sent);
    if (thrown < 80 || before === undefined) {
      const alert = alertOf(prng, parts, sent.length + 1);
      sent.push(alert);
      void deliver(alert);
      if (prng.chance(0.15)) void deliver(alert);
    } else if (thrown < 92) void deliver(before);
    else void deliver({ ...before, body: { ...before.body, quantity: "1" } });
  }
}
