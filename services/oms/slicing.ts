// Exits above the fund's largest order go out in slices, one after the other: orders of their own, `<order_id>/1` and so on, each with its own
// key and check. The order itself is never checked or sent, so nothing is reserved twice: it shows the sum of its slices and ends as the last of them
// does. An exit is what is marked reduce_only and what our own books prove to close a position; the mark goes with the slices. An order that nobody
// marked goes to the risk engine whole, like any other.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { signedQuantity } from "../../core/ledger/position.ts";
import { nextSlice } from "../../core/orders/exit-slices.ts";
import { hasEnded, type OrderEvent } from "../../core/orders/order-lifecycle.ts";
import type { StoredOrder, StoredPosition } from "../../ports/oms-records.ts";
import type { Cancelling } from "./cancelling.ts";
import type { Instruments } from "./instruments.ts";
import type { Bells, OmsPorts, StepOutcome } from "./oms-parts.ts";
import type { QuoteKeeping } from "./quotes/keep-quotes.ts";
import { lock } from "./routing.ts";
import { move, remainingOf } from "./transitions.ts";

const slicesMax = 1_000;

/** A slice that ended so says nothing about the exit: the next one is tried. */
const triedAgain: ReadonlySet<string> = new Set(["APPROVAL_EXPIRED", "APPROVAL_RELEASED", "ORDER_CHECK_UNANSWERED"]);

export interface Slicing {
  /** Begins to slice an exit that is too large; undefined when this order goes out whole. */
  begin(stored: StoredOrder): Promise<StoredOrder | undefined>;
  /** A sliced order: sees to its next slice, or ends it. */
  go(stored: StoredOrder): Promise<StepOutcome>;
}

interface SlicingParts {
  readonly ports: OmsPorts;
  readonly instruments: Instruments;
  readonly cancelling: Cancelling;
  readonly bells: Bells;
  readonly quotes: Pick<QuoteKeeping, "ofOrder">;
}

export function createSlicing({ ports, instruments, cancelling, bells, quotes }: SlicingParts): Slicing {
  /** The size of the next slice of what is left; undefined without limits or price, and then nothing is cut. */
  async function sizeOf({ order }: StoredOrder, left: decimal.Decimal, made: number) {
    const envelope = await ports.riskChecks.envelope(order.fund_id);
    const price = await priceOf(order);
    if (envelope === undefined || price === undefined) return undefined;
    const instrument = await instruments.find(order.symbol);
    return nextSlice({
      quantity: left,
      price,
      multiplier: decimal.parse(instrument?.multiplier ?? "1"),
      lot: decimal.parse(instrument?.lot_size ?? "1"),
      notionalMax: decimal.fromNumber(envelope.max_notional),
      slicesMax: slicesMax - made,
    });
  }

  /** What the exit will trade at, as near as we know: its own price, the market's, or what the position cost. */
  async function priceOf(order: Order): Promise<decimal.Decimal | undefined> {
    const own = order.limit_price ?? order.stop_price;
    if (own !== undefined) return decimal.parse(own);
    const fresh = await instruments.freshPrice(order.symbol, order.fund_id);
    if (fresh !== undefined) return fresh.price;
    const positions = await ports.store.transact("oms.look", (unit) => unit.oms.positions(order.fund_id));
    return positions.find(({ symbol, quantity }) => symbol === order.symbol && quantity !== decimal.zero)?.averagePrice;
  }

  /** How much of the fund's position this order could close, next to what all its other open orders close already. */
  async function reducible({ order }: StoredOrder): Promise<decimal.Decimal> {
    const { positions, open } = await ports.store.transact("oms.look", async (unit) => ({
      positions: await unit.oms.positions(order.fund_id),
      open: await unit.oms.openOrders(),
    }));
    return reducibleBy(order, positions, open);
  }

  async function begin(known: StoredOrder): Promise<StoredOrder | undefined> {
    const { order, parentOrderId } = known;
    if (parentOrderId !== undefined || order.reduce_only !== true) return undefined;
    const quantity = decimal.parse(order.quantity);
    // More than there is to exit is no exit: whole, it is judged as what it is; cut, its first slices would be let through.
    if ((await reducible(known)) < quantity) return undefined;
    const size = await sizeOf(known, quantity, 0);
    if (size === undefined || size >= quantity) return undefined;
    return ports.store.transact("oms.slice", async (unit) => {
      const stored = await lock(unit, known);
      return move(unit, stored, "slice", ports.clock.now(), { sliced: true });
    });
  }

  async function go(known: StoredOrder): Promise<StepOutcome> {
    const slices = await ports.store.transact("oms.look", (unit) => unit.oms.slicesOf(known.order.order_id));
    const last = slices.at(-1);
    if (last !== undefined && !hasEnded(last.state)) {
      if (known.cancelReason !== undefined && last.cancelReason === undefined) {
        await cancelling.request(last.order.order_id, known.cancelReason);
      }
      bells.order(last.order.order_id);
      return "rest";
    }
    const filled = slices.reduce((sum, one) => decimal.add(sum, one.filledQuantity), decimal.zero);
    const left = decimal.subtract(decimal.parse(known.order.quantity), filled);
    const end = endOf(known, last, left, slices.length);
    if (end !== undefined) return finish(known, end, last);
    const size = (await sizeOf(known, left, slices.length)) ?? left;
    const most = await reducible(known);
    // One that nobody marked was begun by an earlier version: its slices would be judged as new risk, so it ends.
    if (known.order.reduce_only !== true) {
      return finish(known, "broker_cancel", {
        ...last,
        reason: "It is not marked reduce_only, so the rest is not sliced.",
      });
    }
    // With nothing left to exit a marked slice is denied as it is, and the whole ends with it.
    return makeSlice(known, slices.length + 1, most > decimal.zero ? decimal.min(size, most) : size);
  }

  async function finish(
    known: StoredOrder,
    event: OrderEvent,
    last: Pick<Partial<StoredOrder>, "code" | "reason"> | undefined,
  ): Promise<StepOutcome> {
    const words = {
      ...(last?.code !== undefined && { code: last.code }),
      ...(last?.reason !== undefined && { reason: last.reason }),
    };
    return ports.store.transact("oms.slice", async (unit) => {
      const stored = await lock(unit, known);
      const why = stored.cancelReason === undefined ? words : { reason: stored.cancelReason };
      return move(unit, stored, event, ports.clock.now(), event === "fill_whole" ? {} : why);
    });
  }

  async function makeSlice(known: StoredOrder, from: number, quantity: decimal.Decimal): Promise<StepOutcome> {
    const made = await ports.store.transact("oms.slice", async (unit) => {
      const parent = await lock(unit, known);
      // Somebody wants it gone since it was read.
      if (hasEnded(parent.state) || parent.cancelReason !== undefined) return undefined;
      let number = from;
      // Somebody may have had the name before such names were refused.
      while ((await unit.oms.order(sliceIdOf(parent.order, number))) !== undefined) number += 1;
      const order = sliceOf(parent.order, number, decimal.format(quantity));
      const { bodyHash, submittedBy } = parent;
      const at = ports.clock.now();
      await quotes.ofOrder(unit, "CREATED", order, at);
      await unit.oms.insertOrder({
        order,
        state: "PENDING_CHECK",
        bodyHash,
        filledQuantity: decimal.zero,
        filledValue: decimal.zero,
        parentOrderId: parent.order.order_id,
        submittedBy,
        createdAt: at,
        updatedAt: at,
      });
      await unit.events.publish(subjects.ordersCreated, { ...order, submitted_by: submittedBy });
      return order.order_id;
    });
    if (made === undefined) return "later";
    bells.order(made);
    return "rest";
  }

  return { begin, go };
}

function sliceIdOf({ order_id: orderId }: Order, number: number): string {
  return `${orderId}/${number}`;
}

/** Its key begins as no key may that comes in by the door, so that nobody can have used it. */
function sliceOf(order: Order, number: number, quantity: string): Order {
  const { notional, ...rest } = order;
  const name = sliceIdOf(order, number);
  return { ...rest, order_id: name, idempotency_key: `slice-${name}`, quantity };
}

/** By the fund's whole position in the symbol, as the risk engine proves it; an order in slices counts whole. */
function reducibleBy(
  order: Order,
  positions: readonly StoredPosition[],
  open: readonly StoredOrder[],
): decimal.Decimal {
  const direction = signedQuantity(order.side, decimal.one);
  const held = positions
    .filter(({ symbol }) => symbol === order.symbol)
    .reduce((sum, { quantity }) => decimal.add(sum, quantity), decimal.zero);
  const closing = open.filter(
    ({ order: other, parentOrderId }) =>
      parentOrderId === undefined &&
      other.order_id !== order.order_id &&
      other.fund_id === order.fund_id &&
      other.symbol === order.symbol &&
      signedQuantity(other.side, decimal.one) === direction,
  );
  const pending = closing.reduce((sum, other) => decimal.add(sum, remainingOf(other)), decimal.zero);
  const opposite = direction > decimal.zero ? decimal.negate(held) : held;
  return decimal.max(decimal.subtract(opposite, pending), decimal.zero);
}

/** How the whole ends, from how its last slice did; undefined when there is a next slice to make. */
function endOf(
  parent: StoredOrder,
  last: StoredOrder | undefined,
  left: decimal.Decimal,
  made: number,
): OrderEvent | undefined {
  if (left <= decimal.zero) return "fill_whole";
  if (parent.cancelReason !== undefined) return "broker_cancel";
  if (last === undefined || last.state === "FILLED") return undefined;
  const mayTryAgain = last.code !== undefined && triedAgain.has(last.code) && made < slicesMax;
  if (last.state === "REJECTED" && mayTryAgain) return undefined;
  if (last.state === "REJECTED") return "broker_reject";
  return last.state === "EXPIRED" ? "broker_expire" : "broker_cancel";
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
