// The honest side, the same in both worlds: a market that moves a little with every step, a valuer, and an order management that asks, confirms, reports and
// fills. An order is asked in the lied world first; what is not approved there is never asked in the twin, and what is sent is sent in both.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Fill, FillBusted, OrderTransition } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { paperListings } from "../../services/shared/paper-seeds.ts";
import type { Prng } from "../../testkit/virtual/prng.ts";
import { desk, type Fund, feed, funds, symbols, type World } from "./world.ts";

export interface Worlds {
  readonly lied: World;
  readonly twin: World;
}

/** An order of the desk that was approved, as it knows it. */
export interface DeskOrder {
  readonly order: Partial<Order> & Pick<Order, "order_id" | "fund_id" | "strategy_id" | "symbol" | "side">;
  readonly quantity: decimal.Decimal;
  filled: decimal.Decimal;
  isSent: boolean;
  isEnded: boolean;
}

/** What broke an invariant, or undefined. */
export type Complaint = string | undefined;

export interface Desk {
  readonly orders: readonly DeskOrder[];
  readonly counts: Readonly<Record<string, number>>;
  priceOf(symbol: string): decimal.Decimal;
  market(): Promise<void>;
  act(): Promise<Complaint>;
  /** Of everybody, now. */
  tellValues(): Promise<void>;
}

const cent = decimal.parse("0.01");
/** Within it an approval runs out in both worlds. */
const runsOutMs = 1_500;

interface HonestSide {
  /** What the market says at that moment; absent: a walk of its own, a step with each call. */
  readonly marketAt?: (symbol: string, at: Instant) => decimal.Decimal;
  /** Of a fund's cash at most one part in so many leaves at once. */
  readonly cashParts?: number;
}

/** One world may be both: in it nobody lies. */
export function honestSide(worlds: Worlds, prng: Prng, { marketAt, cashParts = 2 }: HonestSide = {}): Desk {
  const { lied, twin } = worlds;
  const isAlone = lied === twin;
  const both = isAlone ? [twin] : [lied, twin];
  const orders: DeskOrder[] = [];
  const fills: Fill[] = [];
  const busted = new Set<string>();
  const counts = { asked: 0, approved: 0, fills: 0, withdrawals: 0, exits: 0 };
  let count = 0;
  const prices = new Map(
    symbols.map((symbol): [string, decimal.Decimal] => [
      symbol,
      decimal.parse(paperListings.find((one) => one.symbol === symbol)?.price ?? "1"),
    ]),
  );
  const one = <Item>(items: readonly Item[]): Item => items[prng.below(items.length)] as Item;
  const priceOf = (symbol: string): decimal.Decimal => prices.get(symbol) ?? decimal.one;

  async function publishIn<Payload extends object>(
    kind: "orders" | "fills",
    fundId: string,
    id: string,
    subject: Parameters<World["publish"]>[1]["subject"],
    payload: (world: World) => Payload,
  ): Promise<void> {
    for (const world of both) {
      const sequence = world.next(desk, fundId, kind);
      await world.publish(desk, { id, subject, payload: { ...payload(world), sequence } });
    }
  }

  /** Up or down by a thousandth at most. */
  function walked(symbol: string): decimal.Decimal {
    const change = BigInt(prng.below(2_001) - 1_000);
    const before = priceOf(symbol);
    return (before + (before * change) / 1_000_000n) as decimal.Decimal;
  }

  /** In whole cents. */
  async function market(): Promise<void> {
    for (const symbol of symbols) {
      const moved = marketAt?.(symbol, twin.time.clock.now()) ?? walked(symbol);
      prices.set(symbol, decimal.max(decimal.roundToIncrement(moved, cent, "half-even"), decimal.one));
      const price = decimal.format(priceOf(symbol));
      for (const world of both) {
        world.ledger.ownPrice(symbol, price);
        const payload = { symbol, price, source: "claimed", at: world.now() };
        await world.publish(feed, { id: "p", subject: subjects.marketMarks, payload });
      }
    }
  }

  async function tellValues(): Promise<void> {
    for (const fund of funds) for (const world of both) await world.tellValue(fund);
  }

  /** Of new risk as much as the lied world says that it takes, or some. */
  async function ask(): Promise<Complaint> {
    const fund = one(funds);
    const [symbol, strategyId] = [one<string>(fund.symbols), one<string>(fund.strategies)];
    const held = twin.ledger.account(fund.fundId).own.positions.get(symbol) ?? decimal.zero;
    const isCrypto = fund.fundId === "beta";
    const isExit = held > 0n && prng.chance(0.3);
    const side = isExit ? "SELL" : held > 0n || isCrypto || prng.chance(0.7) ? "BUY" : "SELL_SHORT";
    const room = await lied.headroom(fund.fundId, symbol, side);
    const some = BigInt(1 + prng.below(isExit ? 4 : 8));
    const wanted = isExit ? held / some : prng.chance(0.6) ? room : room / some;
    const lot = isCrypto ? decimal.parse("0.00001") : decimal.one;
    const quantity = decimal.roundToIncrement(wanted as decimal.Decimal, lot, "down");
    if (quantity <= decimal.zero) return undefined;
    count += 1;
    const order = {
      order_id: `desk-${count}`,
      idempotency_key: `desk-key-${count}`,
      fund_id: fund.fundId,
      strategy_id: strategyId,
      symbol,
      side,
      quantity: decimal.format(quantity),
      order_type: "LIMIT",
      limit_price: decimal.format(priceOf(symbol)),
      asset_class: isCrypto ? "CRYPTO" : "EQUITY",
      reduce_only: isExit ? true : undefined,
    };
    counts.asked += 1;
    return take(order, quantity);
  }

  async function take(order: DeskOrder["order"], quantity: decimal.Decimal): Promise<Complaint> {
    const decided = await lied.ask(order);
    if (!decided.approved) return undefined;
    const judged = isAlone ? decided : await judgedInTwin(order);
    const isExit = decided.classification === "REDUCE";
    if (!judged.approved && !isExit) return approvedAlone(order, quantity, judged);
    // An exit of what others reported, which the desk does not hold: it lets it run out.
    if (!judged.approved) return undefined;
    counts.approved += 1;
    if (isExit) counts.exits += 1;
    const taken: DeskOrder = { order, quantity, filled: decimal.zero, isSent: false, isEnded: false };
    orders.push(taken);
    if (!prng.chance(0.85)) return undefined;
    taken.isSent = true;
    for (const world of both) await world.call("ConfirmSent", { order_id: order.order_id }, desk);
    await report(taken, "ROUTED", "WORKING");
    return undefined;
  }

  /** An approval that nobody sent runs out in one world a moment before it does in the other, which a kill may make of it: what is denied for it alone passes then. */
  async function judgedInTwin(order: DeskOrder["order"]): Promise<RiskDecision> {
    const judged = await twin.ask(order);
    const isWaiting = orders.some(
      ({ isSent, isEnded, order: { fund_id: fundId } }) => !isSent && !isEnded && fundId === order.fund_id,
    );
    if (judged.approved || judged.classification === "REDUCE" || !isWaiting) return judged;
    for (const world of both) await world.fixture.pass(runsOutMs);
    return twin.ask({ ...order, idempotency_key: `${order.idempotency_key}-again` });
  }

  const approvedAlone = (
    { order_id, fund_id, side, symbol }: DeskOrder["order"],
    quantity: decimal.Decimal,
    { code, reason }: RiskDecision,
  ): string =>
    `no_figure_loosens: ${order_id} of ${fund_id}, ${side} ${decimal.format(quantity)} ${symbol}, was approved as new risk beside lies; without them it is ${code}: ${reason}`;

  const subjectOf: Partial<Record<OrderTransition["to"], Parameters<World["publish"]>[1]["subject"]>> = {
    CANCELLED: subjects.ordersCancelled,
  };

  async function report(
    { order, quantity, filled }: DeskOrder,
    from: OrderTransition["from"],
    to: OrderTransition["to"],
  ): Promise<void> {
    count += 1;
    const { order_id, fund_id, strategy_id, symbol } = order;
    const remaining = to === "CANCELLED" ? decimal.zero : decimal.subtract(quantity, filled);
    await publishIn("orders", fund_id, `d-o-${count}`, subjectOf[to] ?? subjects.ordersUpdated, (world) => ({
      order_id,
      fund_id,
      strategy_id,
      symbol,
      from,
      to,
      filled_quantity: decimal.format(filled),
      remaining_quantity: decimal.format(remaining),
      at: world.now(),
    }));
    if (to === "CANCELLED" || to === "FILLED") (orders.find((own) => own.order === order) as DeskOrder).isEnded = true;
  }

  const open = (): readonly DeskOrder[] => orders.filter(({ isSent, isEnded }) => isSent && !isEnded);

  async function fillOne(): Promise<void> {
    const [first] = open();
    const chosen = prng.chance(0.5) ? first : open()[prng.below(Math.max(1, open().length))];
    if (chosen === undefined) return;
    const { order, quantity } = chosen;
    const left = decimal.subtract(quantity, chosen.filled);
    const lot = order.fund_id === "beta" ? decimal.parse("0.00001") : decimal.one;
    const part = decimal.roundToIncrement((left / 2n) as decimal.Decimal, lot, "down");
    const traded = part > 0n && prng.chance(0.4) ? part : left;
    count += 1;
    const { order_id, fund_id, strategy_id, symbol, side } = order;
    const shown = {
      fill_id: `desk-f-${count}`,
      order_id,
      fund_id,
      strategy_id,
      symbol,
      side: side as Fill["side"],
      quantity: decimal.format(traded),
      price: decimal.format(priceOf(symbol)),
      fee: "1",
    };
    chosen.filled = decimal.add(chosen.filled, traded);
    fills.push({ ...shown, filled_at: "" });
    counts.fills += 1;
    await publishIn("fills", fund_id, `d-f-${count}`, subjects.fillsCreated, (world) => ({
      ...shown,
      filled_at: world.now(),
    }));
    await report(chosen, "WORKING", chosen.filled === quantity ? "FILLED" : "PARTIALLY_FILLED");
  }

  async function cancelOne(): Promise<void> {
    const chosen = open()[prng.below(Math.max(1, open().length))];
    if (chosen !== undefined) await report(chosen, "WORKING", "CANCELLED");
  }

  async function bustOne(): Promise<void> {
    const left = fills.filter(({ fill_id }) => !busted.has(fill_id)).slice(-5);
    const chosen = left[prng.below(Math.max(1, left.length))];
    if (chosen === undefined) return;
    busted.add(chosen.fill_id);
    count += 1;
    const { fill_id, order_id, fund_id, strategy_id, symbol } = chosen;
    const shown = { bust_id: `desk-b-${count}`, fill_id, order_id, fund_id, strategy_id, symbol, reason: "erroneous" };
    await publishIn(
      "fills",
      fund_id,
      `d-b-${count}`,
      subjects.fillsBusted,
      (world): FillBusted => ({
        ...shown,
        fill_id: world.idOf(fill_id),
        at: world.now(),
      }),
    );
  }

  async function withdraw(): Promise<Complaint> {
    const fund: Fund = one(funds);
    const cash = twin.ledger.account(fund.fundId).own.cash;
    const amount = decimal.round((cash / BigInt(cashParts + prng.below(30))) as decimal.Decimal, 0, "down");
    if (amount <= decimal.zero || (await lied.withdraw(fund, amount)) !== undefined) return undefined;
    const code = isAlone ? undefined : await twin.withdraw(fund, amount);
    if (code !== undefined) {
      return `no_figure_loosens: ${decimal.format(amount)} left ${fund.fundId} beside lies; without them it is ${code}`;
    }
    counts.withdrawals += 1;
    for (const world of both) world.ledger.withdrew(fund.fundId, amount);
    await tellValues();
    if (fund.mode === "LIVE") for (const world of both) await acceptFlow(world, fund);
    return undefined;
  }

  /** Of a fund that treasury does not value only a person knows of flows. */
  async function acceptFlow(world: World, { fundId }: Fund): Promise<void> {
    await world.fixture.pass(50);
    const open = (await world.blocks()).filter(
      ({ fund_id, code }) => fund_id === fundId && code === "VALUE_NOT_VOUCHED",
    );
    for (const { block_id: id = "" } of open) await world.fixture.accept(world.life(), [id], "a withdrawal");
  }

  async function act(): Promise<Complaint> {
    const drawn = prng.below(100);
    if (drawn < 40) return ask();
    if (drawn < 65) await fillOne();
    else if (drawn < 80) await cancelOne();
    else if (drawn < 83) await bustOne();
    else if (drawn < 90) return withdraw();
    return undefined;
  }

  return { orders, counts, priceOf, market, act, tellValues };
}
