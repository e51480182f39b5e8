// Who trades in a simulated run: they hand orders in, cancel and amend them, also exits that are none. They ask over the same bad network links as everybody,
// and ask again with the same key until they are answered. Operators are operators.ts's.
import type { AskPeer } from "../adapters/peers/peers.ts";
import { RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import type { Order } from "../contracts/src/records/order.ts";
import type { StoredOrder } from "../ports/oms-records.ts";
import type { Prng } from "../testkit/virtual/prng.ts";
import type { Scheduler } from "../testkit/virtual/scheduler.ts";
import type { Promises } from "./evidence.ts";
import { type Platform, serviceIdentity } from "./platform.ts";

export interface PeopleParts {
  readonly time: Scheduler;
  readonly platform: Platform;
  readonly promises: Promises;
  readonly isStopping: () => boolean;
}

/** Few enough that orders meet each other and the limits. */
const places: readonly (readonly [fund: string, strategy: string, symbol: string, assetClass: Order["asset_class"]])[] =
  [
    ["alpha", "alpha-momentum", "AAPL", "EQUITY"],
    ["alpha", "alpha-momentum", "AAPL", "EQUITY"],
    ["alpha", "alpha-meanrev", "AAPL", "EQUITY"],
    ["alpha", "alpha-meanrev", "XOM", "EQUITY"],
    ["beta", "beta-trend", "ETH-USD", "CRYPTO"],
    ["beta", "beta-trend", "BTC-USD", "CRYPTO"],
    ["gamma", "gamma-income", "SPY", "EQUITY"],
  ];
const notionalMax: Readonly<Record<string, number>> = { alpha: 240_000, beta: 95_000, gamma: 140_000 };
const triesMax = 6;

export function one<Item>(prng: Prng, items: readonly Item[]): Item {
  return items[prng.below(items.length)] as Item;
}

/** Asks until there is an answer, or until somebody with less patience would have given up. */
export async function insist(
  parts: PeopleParts,
  ask: AskPeer,
  service: string,
  method: string,
  request: object,
): Promise<unknown> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    try {
      const outcome = await ask(service, method, request);
      return outcome.ok ? outcome.value : undefined;
    } catch {
      // Whatever it was, they ask again: that is what the key is for.
      await parts.time.timers.sleep(100 * tries);
    }
  }
  return undefined;
}

/** The word for new risk; how much of it fits the position is left to chance. Coins may cross zero by any word. */
function openingSide(
  platform: Platform,
  fund: string,
  symbol: string,
  assetClass: string,
  isBuy: boolean,
): Order["side"] {
  if (isBuy) return "BUY";
  const net = [...platform.tables.oms.positions.values()]
    .filter((held) => held.fundId === fund && held.symbol === symbol)
    .reduce((sum, { quantity }) => sum + quantity, 0n);
  return net > 0n || assetClass === "CRYPTO" ? "SELL" : "SELL_SHORT";
}

function orderOf(prng: Prng, platform: Platform, name: string): Order {
  const [fund, strategy, listed, assetClass] = one(prng, places);
  const symbol = platform.outside.nameNow(listed);
  const { bid, ask } = platform.outside.bidAsk(symbol);
  const isBuy = prng.chance(0.5);
  const isExit = prng.chance(0.25);
  const position = [...platform.tables.oms.positions.values()].find(
    (held) => held.fundId === fund && held.strategyId === strategy && held.symbol === symbol,
  );
  const held = Number(position?.quantity ?? 0n) / 1e18;
  const notional = (notionalMax[fund] ?? 0) * (0.05 + (0.95 * prng.below(1_000)) / 1_000);
  const lot = assetClass === "CRYPTO" ? 1e-4 : 1;
  // All of it, a part, and now and then more than there is: that one only claims to be an exit.
  const share = prng.chance(0.4) ? 1 : prng.chance(0.2) ? 1.7 : 0.3;
  const wanted = isExit && held !== 0 ? Math.abs(held) * share : notional / ask;
  const units = Math.max(1, Math.floor(Math.min(wanted, (notionalMax[fund] ?? 0) / ask) / lot));
  const side =
    isExit && held !== 0
      ? held > 0
        ? "SELL"
        : "BUY_TO_COVER"
      : openingSide(platform, fund, symbol, assetClass, isBuy);
  const isLimit = prng.chance(0.55);
  // Resting orders lie behind the market, by less than the collar.
  const away = (0.04 * prng.below(1_000)) / 1_000;
  const limit = side.startsWith("SELL") ? ask * (1 + away) : bid * (1 - away);
  return {
    idempotency_key: `key-${name}`,
    order_id: `order-${name}`,
    fund_id: fund,
    strategy_id: strategy,
    symbol,
    side,
    quantity: assetClass === "CRYPTO" ? (units / 1e4).toFixed(4) : String(units),
    order_type: isLimit ? "LIMIT" : "MARKET",
    ...(isLimit && { limit_price: limit.toFixed(2) }),
    tif: prng.chance(0.15) ? "IOC" : "GTC",
    broker: "paper",
    asset_class: assetClass,
    actor: "sim trader",
    ...(isExit && { reduce_only: true }),
  };
}

interface Amendment {
  readonly order_id: string;
  readonly idempotency_key: string;
  readonly quantity: string;
  readonly reason: string;
}

/** New terms under a new key, or a key that came before: of these terms, of others, of another order, and long after the ones that followed it. */
function amendmentOf(prng: Prng, { order }: StoredOrder, amended: readonly Amendment[]): Amendment {
  const isCoin = order.asset_class === "CRYPTO";
  const wanted = Number(order.quantity) * (0.5 + prng.below(100) / 100);
  const quantity = isCoin ? Math.max(1e-4, wanted).toFixed(4) : String(Math.max(1, Math.round(wanted)));
  const before = amended.filter(({ order_id: id }) => id === order.order_id);
  const again = before.length > 0 ? one(prng, before) : undefined;
  const thrown = prng.below(100);
  if (again !== undefined && thrown < 35) return again;
  const terms = { order_id: order.order_id, quantity, reason: "resized" };
  if (again !== undefined && thrown < 42) return { ...terms, idempotency_key: again.idempotency_key };
  const other = amended.at(-1);
  if (other !== undefined && thrown >= 42 && thrown < 45) return { ...terms, idempotency_key: other.idempotency_key };
  if (thrown >= 45 && thrown < 48) return { ...terms, idempotency_key: order.idempotency_key };
  return { ...terms, idempotency_key: `amend-${order.order_id}-${prng.word()}` };
}

/** One who trades all the time, never waiting for an answer before the next idea. */
export async function trader(parts: PeopleParts, name: string, everyMs: number): Promise<void> {
  const { time, platform, promises } = parts;
  const prng = time.prng.fork(`trader ${name}`);
  const ask = platform.ask(serviceIdentity("research"));
  const sent: Order[] = [];
  const amended: Amendment[] = [];
  const submit = async (order: Order): Promise<void> => {
    const status = (await insist(parts, ask, "Oms", "SubmitOrder", order)) as OrderStatus | undefined;
    if (status?.order !== undefined) promises.orders.add(status.order.order_id);
  };
  const openOrder = (): StoredOrder | undefined => {
    const open = [...platform.tables.oms.orders.values()].filter(
      ({ state }) => state === "WORKING" || state === "ACCEPTED",
    );
    return open.length === 0 ? undefined : one(prng, open);
  };
  while (!parts.isStopping()) {
    await time.timers.sleep(1 + prng.below(2 * everyMs));
    if (parts.isStopping()) return;
    const thrown = prng.below(100);
    const open = openOrder();
    if (thrown < 66 || open === undefined) {
      const order = orderOf(prng, platform, `${name}-${sent.length + 1}`);
      sent.push(order);
      void submit(order);
    } else if (thrown < 79) {
      void insist(parts, ask, "Oms", "CancelOrder", { order_id: open.order.order_id, reason: "no longer wanted" });
    } else if (thrown < 92) {
      const terms = amendmentOf(prng, open, amended);
      amended.push(terms);
      void insist(parts, ask, "Oms", "AmendOrder", terms);
    } else {
      // The same again, and the same key with another body.
      const again = one(prng, sent);
      void submit(prng.chance(0.5) ? again : { ...again, quantity: "1" });
    }
  }
}

/** A client that asks and never sends: it crashes in between, every time. */
export async function crashingClient(
  parts: PeopleParts,
  { everyMs, crashed }: { readonly everyMs: number; readonly crashed: string[] },
): Promise<void> {
  const { time, platform } = parts;
  const prng = time.prng.fork("crashing client");
  const ask = platform.ask(serviceIdentity("oms"));
  for (let number = 1; !parts.isStopping(); number += 1) {
    await time.timers.sleep(1 + prng.below(2 * everyMs));
    if (parts.isStopping()) return;
    const order = orderOf(prng, platform, `crashed-${number}`);
    crashed.push(order.order_id);
    void ask("RiskEngine", "CheckOrder", order).catch(() => undefined);
  }
}

/** Notes what answers promise, at the moment at which they leave. */
export function notePromises(promises: Promises): (service: string, method: string, answer: unknown) => void {
  let turn = 0;
  return (service, method, answer) => {
    turn += 1;
    if (typeof answer !== "object" || answer === null) return;
    if (method === "RequestHalt" && "acknowledged" in answer && answer.acknowledged === true) {
      const { halt_id: id, epoch } = answer as unknown as { readonly halt_id: string; readonly epoch: number };
      if (!promises.halts.has(id)) promises.halts.set(id, { epoch, turn });
    }
    if (method === "ResumeHalt" && "lifted_halt_ids" in answer) {
      for (const id of answer.lifted_halt_ids as readonly string[]) promises.lifted.add(id);
    }
    if (method === "ReceiveSignal" && "http_status" in answer && answer.http_status === 202) {
      promises.signals.add((answer as unknown as { readonly signal_id: string }).signal_id);
    }
    if (service === "RiskEngine" && method === "CheckOrder" && "encoded" in answer) {
      const decision = RiskDecision.decode(answer.encoded as Uint8Array);
      if (decision.approved && decision.dry_run !== true)
        promises.approvals.push({ decisionId: decision.decision_id, turn });
    }
  };
}
