// Exits above the fund's largest order go out in slices, one after the other: orders of their own, `<order_id>/1` and so on, each with its own
// key and check. The order itself is never sent: it shows the sum of its slices and ends as the last of them does.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { nextSlice } from "../../core/exit-slices.ts";
import { hasEnded, type OrderEvent } from "../../core/order-lifecycle.ts";
import type { StoredOrder } from "../../ports/oms-records.ts";
import type { Cancelling } from "./cancelling.ts";
import type { Instruments } from "./instruments.ts";
import type { Bells, OmsPorts, StepOutcome } from "./oms-parts.ts";
import { lock } from "./routing.ts";
import { move } from "./transitions.ts";

export const slicesMax = 1_000;
const keyLengthMax = 200;

/** A slice that ended so says nothing about the exit: the next one is tried. */
const triedAgain: ReadonlySet<string> = new Set(["APPROVAL_EXPIRED", "ORDER_CHECK_UNANSWERED"]);

export interface Slicing {
  /** Begins to slice an exit that is too large; undefined when this order goes out whole. */
  begin(stored: StoredOrder): Promise<StoredOrder | undefined>;
  /** A sliced order: sees to its next slice, or ends it. */
  go(stored: StoredOrder): Promise<StepOutcome>;
}

export interface SlicingParts {
  readonly ports: OmsPorts;
  readonly instruments: Instruments;
  readonly cancelling: Cancelling;
  readonly bells: Bells;
}

export function createSlicing({ ports, instruments, cancelling, bells }: SlicingParts): Slicing {
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
    const fresh = instruments.freshPrice(order.symbol);
    if (fresh !== undefined) return fresh.price;
    const positions = await ports.store.transact("oms.look", (unit) => unit.oms.positions(order.fund_id));
    return positions.find(({ symbol, quantity }) => symbol === order.symbol && quantity !== decimal.zero)?.averagePrice;
  }

  async function begin(known: StoredOrder): Promise<StoredOrder | undefined> {
    const { order, parentOrderId } = known;
    if (order.reduce_only !== true || parentOrderId !== undefined) return undefined;
    const quantity = decimal.parse(order.quantity);
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
    return makeSlice(known, slices.length + 1, size);
  }

  async function finish(known: StoredOrder, event: OrderEvent, last: StoredOrder | undefined): Promise<StepOutcome> {
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

  async function makeSlice(known: StoredOrder, number: number, quantity: decimal.Decimal): Promise<StepOutcome> {
    const made = await ports.store.transact("oms.slice", async (unit) => {
      const parent = await lock(unit, known);
      // Somebody wants it gone since it was looked at.
      if (hasEnded(parent.state) || parent.cancelReason !== undefined) return undefined;
      const order = sliceOf(parent.order, number, decimal.format(quantity));
      const { bodyHash, submittedBy } = parent;
      const at = ports.clock.now();
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
      await unit.events.publish(subjects.ordersCreated, order);
      return order.order_id;
    });
    if (made === undefined) return "later";
    bells.order(made);
    return "rest";
  }

  function sliceOf(order: Order, number: number, quantity: string): Order {
    const key = `${order.idempotency_key}/${number}`;
    const { notional, ...rest } = order;
    return {
      ...rest,
      order_id: `${order.order_id}/${number}`,
      idempotency_key: key.length <= keyLengthMax ? key : `${hexOf(ports.sha256(order.idempotency_key))}/${number}`,
      quantity,
    };
  }

  return { begin, go };
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
