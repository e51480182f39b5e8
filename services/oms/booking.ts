// One report of a broker becomes part of the books: trade, position, order and how far the reports were read, in one transaction.
//
//  1. A trade is booked once: its id is the broker's name and the execution's id, and the trade knows which of them are there.
//  2. Trades are facts: they are booked in whatever state the order is, beyond its quantity as well (which is an alarm).
//  3. A report about an order that is not ours changes no books: what somebody traded past us is the reconciler's to find.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { bookTrade, flatPosition } from "../../core/ledger/position.ts";
import { hasEnded } from "../../core/orders/order-lifecycle.ts";
import type { Broker, BrokerReport } from "../../ports/broker.ts";
import type { StoredOrder, StoredPosition } from "../../ports/oms-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { Instruments } from "./instruments.ts";
import { learn } from "./learning.ts";
import type { OmsPorts } from "./oms-parts.ts";
import type { QuoteKeeping } from "./quotes/keep-quotes.ts";
import { hexOf } from "./slicing.ts";
import { alarm, move, type OrderChanges } from "./transitions.ts";

type Execution = NonNullable<BrokerReport["execution"]>;

export interface Booked {
  /** Undefined when the order is not ours. */
  readonly stored: StoredOrder | undefined;
  readonly hasTraded: boolean;
}

export interface BookingParts {
  readonly ports: OmsPorts;
  readonly instruments: Instruments;
  readonly quotes: Pick<QuoteKeeping, "ofFill" | "owed">;
}

/** Undefined when the books are not where this report follows: somebody else reads reports too, or one is missing. */
export async function bookReport(
  { ports, instruments, quotes }: BookingParts,
  broker: Broker,
  report: BrokerReport,
): Promise<Booked | undefined> {
  const multiplier = await instruments.multiplier(report.status.symbol);
  return ports.store.transact("oms.report", async (unit): Promise<Booked | undefined> => {
    const cursor = await unit.oms.lockReportCursor(broker.name);
    if (report.cursor !== cursor + 1) return undefined;
    await unit.oms.putReportCursor(broker.name, report.cursor);
    const stored = await unit.oms.lockOrder(report.status.clientOrderId);
    if (stored === undefined) return { stored, hasTraded: false };
    const at = ports.clock.now();
    const { execution } = report;
    const traded =
      execution === undefined
        ? undefined
        : await bookExecution(unit, { ports, quotes, broker, report, execution, multiplier, at }, stored);
    const after = traded ?? stored;
    const known = hasEnded(after.state) ? after : await learn(unit, after, report.status, at);
    return { stored: known, hasTraded: traded !== undefined };
  });
}

interface Booking extends Omit<BookingParts, "instruments"> {
  readonly broker: Broker;
  readonly report: BrokerReport;
  readonly execution: Execution;
  readonly multiplier: decimal.Decimal;
  readonly at: Instant;
}

/** Undefined when the trade is in the books already. */
async function bookExecution(
  unit: UnitOfWork,
  booking: Booking,
  stored: StoredOrder,
): Promise<StoredOrder | undefined> {
  const { ports, quotes, broker, execution, report, multiplier, at } = booking;
  const { order } = stored;
  const fill: Fill = {
    fill_id: fillIdOf(ports, broker.name, execution.executionId),
    order_id: order.order_id,
    fund_id: order.fund_id,
    strategy_id: order.strategy_id,
    symbol: order.symbol,
    side: order.side,
    quantity: decimal.format(execution.quantity),
    price: decimal.format(execution.price),
    fee: decimal.format(execution.fee),
    currency: execution.feeCurrency,
    broker: broker.name,
    filled_at: format(report.at),
    kind: "TRADE",
  };
  if ((await bookFill(unit, fill, multiplier, at)) === undefined) return undefined;
  await quotes.ofFill(unit, fill);
  const moved = await addToOrder(unit, stored, execution, at);
  if (stored.parentOrderId !== undefined) {
    const parent = await unit.oms.lockOrder(stored.parentOrderId);
    if (parent !== undefined) await addToOrder(unit, parent, execution, at);
  }
  return moved;
}

/** Books a trade into the position and tells of it; undefined when it is known. The position is locked first, by whoever books. */
export async function bookFill(
  unit: UnitOfWork,
  fill: Fill,
  multiplier: decimal.Decimal,
  at: Instant,
): Promise<StoredPosition | undefined> {
  const before = await unit.oms.lockPosition(fill.fund_id, fill.strategy_id, fill.symbol);
  const booked = await unit.oms.insertFill(fill);
  if (booked === false) return undefined;
  const position: StoredPosition = {
    fundId: fill.fund_id,
    strategyId: fill.strategy_id,
    symbol: fill.symbol,
    ...bookTrade(bookedPosition(before), {
      fillId: fill.fill_id,
      side: fill.side,
      quantity: decimal.parse(fill.quantity),
      price: decimal.parse(fill.price),
      multiplier,
    }),
    updatedAt: at,
  };
  await unit.oms.putPosition(position);
  await unit.events.publish(subjects.fillsCreated, booked);
  return position;
}

export function bookedPosition(position: StoredPosition | undefined) {
  if (position === undefined) return flatPosition;
  const { quantity, averagePrice, realisedPnl, openedBy } = position;
  const cost = position.cost ?? decimal.multiply(quantity, averagePrice, "half-even");
  return { quantity, cost, averagePrice, realisedPnl, openedBy };
}

async function addToOrder(
  unit: UnitOfWork,
  stored: StoredOrder,
  { quantity, price }: Execution,
  at: Instant,
): Promise<StoredOrder> {
  const filledQuantity = decimal.add(stored.filledQuantity, quantity);
  const changes: OrderChanges = {
    filledQuantity,
    filledValue: decimal.add(stored.filledValue, decimal.multiply(quantity, price, "half-even")),
  };
  const total = quantityInForce(stored);
  if (filledQuantity > total) {
    const { order_id: orderId, fund_id: fundId } = stored.order;
    const sentence = `Order ${orderId} of ${fundId} traded ${decimal.format(filledQuantity)} of ${decimal.format(total)}; all of it is in the position.`;
    await alarm(unit, "ORDER_OVERFILLED", orderId, sentence, at);
  }
  const moved = await move(unit, stored, filledQuantity < total ? "fill_part" : "fill_whole", at, changes);
  if (moved !== stored) return moved;
  // It has ended before: what it traded is added all the same, and reported by the trade.
  const late: StoredOrder = { ...stored, ...changes, updatedAt: at };
  await unit.oms.updateOrder(late);
  return late;
}

/** The most that it may trade: an approved amendment may be in force at the broker already. */
function quantityInForce({ order, amendment }: StoredOrder): decimal.Decimal {
  const quantity = decimal.parse(order.quantity);
  if (amendment?.decision === undefined || amendment.quantity === undefined) return quantity;
  return decimal.max(quantity, decimal.parse(amendment.quantity));
}

/** Unique over all brokers; an execution's id that is no identifier of ours stands as its hash. */
function fillIdOf({ sha256 }: Pick<OmsPorts, "sha256">, brokerName: string, executionId: string): string {
  const plain = `${brokerName}:${executionId}`;
  return idText.safeParse(plain).success ? plain : `${brokerName}:${hexOf(sha256(executionId))}`;
}
