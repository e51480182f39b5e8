// What becomes of approved orders: fills and endings, published into the outbox as an order-management system does, some of them late,
// twice or in another order. Whatever could not be published is published again, because its ids make the repetition harmless.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Fill, OrderTransition } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Store } from "../../ports/store.ts";
import { pause } from "../platform.ts";
import type { Prng } from "../virtual/prng.ts";
import { prices } from "./engine-orders.ts";

export interface Broker {
  approved(order: Order): void;
  /** Ends all but the newest open orders, and resolves when everything is published. */
  settle(msMax: number): Promise<void>;
  /** Ids of all that the engine must have in its journal by and by. */
  readonly fillIds: Set<string>;
  readonly endedOrders: Set<string>;
  stop(): Promise<void>;
}

type Event = { readonly fill: Fill } | { readonly ending: OrderTransition };

const openMax = 100;
const batchMax = 100;

export function runBroker(store: Store, throws: Prng): Broker {
  const queue: Event[] = [];
  const open: Order[] = [];
  const fillIds = new Set<string>();
  const endedOrders = new Set<string>();
  let isStopping = false;
  let isBusy = false;
  let lastTrouble = "none";

  function fillOf(order: Order, quantity: string, number: number): Event {
    const { order_id, fund_id, strategy_id, symbol, side } = order;
    const fill_id = `fill-${order_id}-${number}`;
    const price = prices.get(symbol) ?? "100";
    const filled_at = instant.format(instant.fromUnixMs(Date.now()));
    const about = { order_id, fund_id, strategy_id, symbol, side: side as Fill["side"] };
    return { fill: { fill_id, ...about, quantity, price, currency: "USD", broker: "paper", filled_at } };
  }

  function endingOf(order: Order, to: "CANCELLED" | "FILLED" | "EXPIRED", filled: string): Event {
    const { order_id, fund_id, strategy_id, symbol } = order;
    const at = instant.format(instant.fromUnixMs(Date.now()));
    const about = { order_id, fund_id, strategy_id, symbol, from: "WORKING" as const, to };
    return { ending: { ...about, filled_quantity: filled, remaining_quantity: "0", at } };
  }

  function halfOf(order: Order): string | undefined {
    const places = order.asset_class === "CRYPTO" ? 5 : 0;
    const half = decimal.divide(decimal.parse(order.quantity), decimal.parse("2"), "down");
    const rounded = decimal.parse(decimal.formatFixed(half, places, "down"));
    return rounded === 0n ? undefined : decimal.format(rounded);
  }

  function approved(order: Order): void {
    const fate = throws.below(10);
    const half = halfOf(order);
    if (fate < 3) queue.push(endingOf(order, "CANCELLED", "0"));
    else if (fate < 5) {
      const fill = fillOf(order, order.quantity, 1);
      queue.push(fill, endingOf(order, "FILLED", order.quantity));
      if (throws.chance(0.3)) queue.push(fill);
    } else if (fate === 5) queue.push(fillOf(order, order.quantity, 1));
    else if (fate < 8 && half !== undefined) {
      const events = [fillOf(order, half, 1), endingOf(order, "EXPIRED", half)];
      queue.push(...(throws.chance(0.5) ? events : events.reverse()));
    } else {
      if (half !== undefined && fate === 8) queue.push(fillOf(order, half, 1));
      open.push(order);
    }
  }

  async function publish(events: readonly Event[]): Promise<void> {
    await store.transact("crash-rounds.broker", async (unit) => {
      for (const event of events) {
        if ("fill" in event) await unit.events.publish(subjects.fillsCreated, event.fill);
        else await unit.events.publish(subjectOf(event.ending), event.ending);
      }
    });
    for (const event of events) {
      if ("fill" in event) fillIds.add(event.fill.fill_id);
      else endedOrders.add(event.ending.order_id);
    }
  }

  async function work(): Promise<void> {
    while (!isStopping) {
      const events = queue.splice(0, batchMax);
      if (events.length === 0) {
        await pause(10);
        continue;
      }
      isBusy = true;
      try {
        await publish(events);
      } catch (error) {
        lastTrouble = String(error);
        queue.unshift(...events);
        await pause(50);
      }
      isBusy = false;
    }
  }

  const working = work();
  return {
    approved,
    fillIds,
    endedOrders,
    async settle(msMax) {
      // A fill of half the order may be among them; an ending that does not tell of it must not unmake it.
      for (const order of open.splice(0, Math.max(0, open.length - openMax))) {
        queue.push(endingOf(order, "CANCELLED", "0"));
      }
      const until = Date.now() + msMax;
      while ((isBusy || queue.length > 0) && Date.now() < until) await pause(10);
      if (isBusy || queue.length > 0) {
        throw new Error(`${queue.length} events were not published within ${msMax} ms; last: ${lastTrouble}`);
      }
    },
    async stop() {
      isStopping = true;
      await working;
    },
  };
}

function subjectOf({ to }: OrderTransition) {
  if (to === "CANCELLED") return subjects.ordersCancelled;
  return to === "EXPIRED" ? subjects.ordersExpired : subjects.ordersUpdated;
}
