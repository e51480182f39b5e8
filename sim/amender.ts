// A client that changes its mind: more of an order, less of it, and then what it asked for first once more, under the key of then. An approval that
// lets out twice shows here.
import type { Order } from "../contracts/src/records/order.ts";
import type { Prng } from "../testkit/virtual/prng.ts";
import { insist, one, type PeopleParts } from "./people.ts";
import { serviceIdentity } from "./platform.ts";

/** One of the orders that rest, again and again. */
export async function amender(parts: PeopleParts, everyMs: number): Promise<void> {
  const { time, platform } = parts;
  const prng = time.prng.fork("amender");
  for (let round = 1; !parts.isStopping(); round += 1) {
    await time.timers.sleep(1 + prng.below(2 * everyMs));
    const working = [...platform.tables.oms.orders.values()].filter(({ state }) => state === "WORKING");
    if (working.length > 0) await changeMind(parts, prng, one(prng, working).order, `${round}`);
  }
}

/** An order of its own that rests behind the market, before anything may fail: a run with faults is too short for every turn of it. */
export async function amendInCalm(parts: PeopleParts): Promise<void> {
  const { time, platform } = parts;
  const prng = time.prng.fork("amendments in calm");
  const { bid } = platform.outside.bidAsk("AAPL");
  const order: Order = {
    idempotency_key: "key-calm",
    order_id: "order-calm",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: String(50 + prng.below(200)),
    order_type: "LIMIT",
    limit_price: (bid * 0.96).toFixed(2),
    tif: "GTC",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "sim trader",
  };
  await insist(parts, platform.ask(serviceIdentity("research")), "Oms", "SubmitOrder", order);
  for (let round = 1; round <= 2; round += 1) await changeMind(parts, prng, order, `calm-${round}`);
}

async function changeMind(parts: PeopleParts, prng: Prng, order: Order, round: string): Promise<void> {
  const ask = parts.platform.ask(serviceIdentity("research"));
  const sized = (share: number): string => {
    const wanted = Number(order.quantity) * share;
    return order.asset_class === "CRYPTO" ? wanted.toFixed(4) : String(Math.max(1, Math.round(wanted)));
  };
  const more = { idempotency_key: `more-${round}`, quantity: sized(1 + prng.below(30) / 100) };
  const less = { idempotency_key: `less-${round}`, quantity: sized(0.3 + prng.below(50) / 100) };
  for (const terms of [more, less, more, prng.chance(0.5) ? less : more]) {
    if (parts.isStopping()) return;
    await insist(parts, ask, "Oms", "AmendOrder", { order_id: order.order_id, ...terms, reason: "resized" });
  }
}
