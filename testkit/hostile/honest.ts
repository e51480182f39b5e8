// An honest client that asks about small ordinary orders while others misbehave, and remembers whether it was answered.
import { pause, type RunningPlatform } from "../platform.ts";
import { openRiskClient } from "../risk/client.ts";
import { goodOrder } from "./messages.ts";

export interface Honest {
  readonly asked: number;
  readonly approved: number;
  /** Why, for each that got no decision. */
  readonly unanswered: readonly string[];
}

export interface HonestClient {
  readonly serviceToken: string;
  /** Asks no more; may be called twice. */
  stop(): Promise<Honest>;
}

const everyMs = 40;

/** Its connection stands before anybody misbehaves, and its first order is approved. */
export async function openHonest(platform: RunningPlatform, name: string): Promise<HonestClient> {
  const client = await openRiskClient(platform);
  const unanswered: string[] = [];
  let asked = 0;
  let approved = 0;
  let ending = false;

  async function ask(): Promise<void> {
    asked += 1;
    // Each of another size, so that no throttle trips.
    const differs = { symbol: "SOL-USD", asset_class: "CRYPTO", quantity: (asked / 100_000).toFixed(5) };
    const order = goodOrder(`${name}-${asked}`, { ...differs, fund_id: "beta", strategy_id: "beta-trend" });
    const { answer, status, details } = await client.tryCheck(order);
    if (answer === undefined) unanswered.push(`${status}: ${details}`);
    else if (answer.approved) approved += 1;
  }

  // Prices and values come a moment after the start.
  for (let tries = 0; approved === 0 && tries < 200; tries += 1) {
    await ask();
    if (approved === 0) await pause(50);
  }
  const asking = (async () => {
    while (!ending) {
      await ask();
      await pause(everyMs);
    }
  })();
  return {
    serviceToken: client.serviceToken,
    stop: async () => {
      ending = true;
      await asking;
      client.close();
      return { asked, approved, unanswered };
    },
  };
}
