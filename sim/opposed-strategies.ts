// Two strategies of one fund that hold sides against each other: what each holds more is nothing to the fund and nothing to the broker. Most of what one of them
// has to close can then be proven by no order.
import * as decimal from "../contracts/src/decimal.ts";
import { format } from "../contracts/src/instant.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import { bookFill } from "../services/oms/booking.ts";
import { paperPositions } from "../services/shared/paper-seeds.ts";
import type { ServicePorts } from "../services/shared/service.ts";
import type { Prng } from "../testkit/virtual/prng.ts";

const strategies = ["alpha-momentum", "alpha-meanrev"] as const;

/** What is booked at once stays few. */
const symbolsMax = 4;

/** Of some symbols of alpha: the holder is longer by as much as the other strategy is short. */
export async function opposeStrategies(
  { store, clock }: Pick<ServicePorts, "store" | "clock">,
  prng: Prng,
): Promise<void> {
  const held = paperPositions.filter(({ fundId }) => fundId === "alpha" && prng.chance(0.6)).slice(0, symbolsMax);
  await store.transact("oms.seed", async (unit) => {
    const at = clock.now();
    for (const { strategyId, symbol, price, quantity } of held) {
      const other = strategies.find((one) => one !== strategyId) ?? strategyId;
      const more = decimal.format(
        decimal.multiply(decimal.parse(quantity), decimal.fromNumber(0.5 + prng.below(3)), "down"),
      );
      const fill = (strategy_id: string, side: Fill["side"]): Fill => ({
        fill_id: `seed-opposed-${strategy_id}-${symbol}`,
        order_id: `seed-opposed-${symbol}`,
        fund_id: "alpha",
        strategy_id,
        symbol,
        side,
        quantity: more,
        price,
        currency: "USD",
        broker: "paper",
        kind: "SEED",
        filled_at: format(at),
      });
      await bookFill(unit, fill(strategyId, "BUY"), decimal.one, at);
      await bookFill(unit, fill(other, "SELL_SHORT"), decimal.one, at);
    }
  });
}
