// What explains a difference: every order of the account since the books last agreed, as the broker has it and as we have it, and the trades that
// both sides know.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { signedQuantity } from "../../../core/ledger/position.ts";
import { hasEnded } from "../../../core/orders/order-lifecycle.ts";
import type { BookedTrade, Evidence, Mismatch, OrderGap } from "../../../core/reconcile/reconcile.ts";
import type { BrokerOrderStatus, BrokerReport } from "../../../ports/broker.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import { readReports, reportsMax } from "./broker-reports.ts";
import type { GatherPorts, OwnSide } from "./own-side.ts";

/** Orders that the broker is asked about, newest first. */
const ordersMax = 200;

export async function gatherEvidence(
  ports: GatherPorts,
  account: string,
  cursor: number,
  mismatches: readonly Mismatch[],
  own: OwnSide,
): Promise<ReadonlyMap<string, Evidence>> {
  const symbols = new Set(mismatches.map(({ symbol }) => symbol));
  const after = Math.max(0, Math.min(own.agreedCursor, cursor), cursor - reportsMax);
  const read = await readReports(ports.broker, after, cursor);
  const reports = read.reports.filter(({ status }) => status.account === account && symbols.has(status.symbol));
  const named = [...own.open.filter(({ order, sliced }) => symbols.has(order.symbol) && sliced === undefined)].map(
    ({ order }) => order.order_id,
  );
  const orderIds = [...new Set([...reports.map(({ status }) => status.clientOrderId).reverse(), ...named])];
  const asked = orderIds.slice(0, ordersMax);
  // Nobody is accused of trading outside of our books while those have not read what the broker reported.
  const isRead = own.cursor >= cursor;
  const isWhole = read.isWhole && isRead && after <= own.agreedCursor && asked.length === orderIds.length;
  const theirs = new Map<string, BrokerOrderStatus | undefined>();
  for (const orderId of asked) theirs.set(orderId, await ports.broker.order(orderId));
  const ours = await ports.store.transact("reconcile.orders", async (unit) => {
    const found = new Map<string, StoredOrder | undefined>();
    for (const orderId of asked) found.set(orderId, await unit.oms.order(orderId));
    return found;
  });
  return new Map(
    [...symbols].map((symbol) => {
      const ofSymbol = reports.filter(({ status }) => status.symbol === symbol);
      const gaps = asked.flatMap((orderId) => {
        const pair = { orderId, theirs: theirs.get(orderId), ours: ours.get(orderId) };
        return (pair.theirs?.symbol ?? pair.ours?.order.symbol) === symbol ? gapOf(pair, ofSymbol) : [];
      });
      return [symbol, { gaps, booked: bookedIn(ofSymbol), isWhole }];
    }),
  );
}

interface OrderPair {
  readonly orderId: string;
  readonly theirs: BrokerOrderStatus | undefined;
  readonly ours: StoredOrder | undefined;
}

function gapOf({ orderId, theirs, ours }: OrderPair, reports: readonly BrokerReport[]): readonly OrderGap[] {
  const side = theirs?.side ?? ours?.order.side;
  if (side === undefined) return [];
  const traded = theirs?.filledQuantity ?? decimal.zero;
  const gap = signedQuantity(side, decimal.subtract(traded, ours?.filledQuantity ?? decimal.zero));
  if (gap === 0n) return [];
  const price = newestPrice(reports, orderId);
  return [
    {
      orderId,
      known: ours === undefined ? "nobody" : hasEnded(ours.state) && ours.state !== "FILLED" ? "ended" : "open",
      ...(ours !== undefined && { strategyId: ours.order.strategy_id }),
      gap,
      ...(price !== undefined && { price }),
    },
  ];
}

function newestPrice(reports: readonly BrokerReport[], orderId: string): Decimal | undefined {
  return reports.findLast(({ status, execution }) => status.clientOrderId === orderId && execution !== undefined)
    ?.execution?.price;
}

/** Newest first. */
function bookedIn(reports: readonly BrokerReport[]): readonly BookedTrade[] {
  return reports
    .flatMap(({ status, execution, at }) =>
      execution === undefined
        ? []
        : [{ orderId: status.clientOrderId, quantity: signedQuantity(status.side, execution.quantity), at }],
    )
    .reverse();
}
