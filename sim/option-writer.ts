// One who writes and buys calls on what gamma holds, more of them than any fund may: what they add to its exposure is their underlying's.
import type { Order } from "../contracts/src/records/order.ts";
import { insist, type PeopleParts } from "./people.ts";
import { serviceIdentity } from "./platform.ts";

const writtenOption = "SPY 281215C00650000";

export async function optionWriter(parts: PeopleParts, everyMs: number): Promise<void> {
  const { time, platform } = parts;
  const prng = time.prng.fork("option writer");
  const ask = platform.ask(serviceIdentity("research"));
  for (let count = 1; !parts.isStopping(); count += 1) {
    await time.timers.sleep(1 + prng.below(2 * everyMs));
    if (parts.isStopping()) return;
    const order: Order = {
      idempotency_key: `key-option-${count}`,
      order_id: `option-${count}`,
      fund_id: "gamma",
      strategy_id: "gamma-income",
      symbol: platform.outside.nameNow(writtenOption),
      asset_class: "OPTION",
      broker: "paper",
      side: prng.chance(0.9) ? "SELL_SHORT" : "BUY_TO_COVER",
      quantity: String(10 + prng.below(10)),
      order_type: "MARKET",
      tif: "GTC",
      actor: "sim option writer",
    };
    void insist(parts, ask, "Oms", "SubmitOrder", order);
  }
}
