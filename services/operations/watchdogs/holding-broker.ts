// Which broker holds what a hedge reduces. Elsewhere the same order would open something new instead, so nobody guesses: while no broker that could hold
// it says completely what it has, the hedge waits.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault, messageOf } from "../../../contracts/src/fault.ts";
import type { HedgeOrder } from "../../../core/watchdogs/watchdog.ts";
import type { Broker } from "../../../ports/broker.ts";
import type { StoredPosition } from "../../../ports/oms-records.ts";

interface HoldingParts {
  readonly brokers: readonly Pick<Broker, "name" | "positions">[];
  positions(): Promise<readonly Pick<StoredPosition, "fundId" | "strategyId" | "symbol" | "quantity">[]>;
}

interface Holding {
  readonly broker: string;
  readonly closable: decimal.Decimal;
}

export function findHoldingBroker({ brokers, positions }: HoldingParts) {
  return async (fundId: string, { strategyId, symbol, side }: HedgeOrder): Promise<string | undefined> => {
    const closable = (quantity: decimal.Decimal): decimal.Decimal =>
      side === "BUY" ? decimal.negate(quantity) : quantity;
    const own = (await positions()).find(
      (one) => one.fundId === fundId && one.strategyId === strategyId && one.symbol === symbol,
    );
    if (own === undefined || decimal.sign(closable(own.quantity)) <= 0) return undefined;
    const holdings: Holding[] = [];
    const silent: string[] = [];
    for (const broker of brokers) {
      const answer = await broker
        .positions(fundId)
        .catch((thrown: unknown) => ({ complete: false, why: messageOf(thrown) }) as const);
      if (!answer.complete) silent.push(`${broker.name}: ${answer.why}`);
      else {
        const held = answer.items.find((item) => item.symbol === symbol)?.quantity ?? decimal.zero;
        if (decimal.sign(closable(held)) > 0) holdings.push({ broker: broker.name, closable: closable(held) });
      }
    }
    const [most] = holdings.sort((one, other) => decimal.compare(other.closable, one.closable));
    if (most !== undefined) return most.broker;
    const why = silent.length > 0 ? silent.join("; ") : `none of them has ${symbol} to close`;
    throw new Fault("BROKER_UNAVAILABLE", `No broker is known to hold ${symbol} of ${fundId}: ${why}.`, {
      retry: "later",
    });
  };
}
