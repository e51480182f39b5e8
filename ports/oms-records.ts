// Order management's part of a unit of work: orders with their state, trades, and the positions that are their sum. Stops, the reconciler
// and the job that compares the books read here as well; only order management writes, but for the risk engine's note that an approval was released.
import type { Denial } from "../contracts/src/codes.ts";
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { ActiveHalt } from "../contracts/src/records/halt.ts";
import type { Fill, Order, RiskDecision } from "../contracts/src/records/order.ts";
import type { OrderState } from "../contracts/src/records/values.ts";

/** An order as it is kept. */
export interface StoredOrder {
  readonly order: Order;
  readonly state: OrderState;
  /** Of the whole order as it was handed in: the same key with another body is a conflict. */
  readonly bodyHash: string;
  readonly filledQuantity: Decimal;
  /** Sum of quantity x price of its trades. */
  readonly filledValue: Decimal;
  /** The approval, or the denial that ended it. */
  readonly decision?: RiskDecision;
  /** The risk engine has released, or is about to release, the order's approvals up to this `valid_until`: they let nothing out. */
  readonly releasedThrough?: Instant;
  readonly brokerOrderId?: string;
  readonly parentOrderId?: string;
  /** New terms that are not in force yet. */
  readonly amendment?: Amendment;
  /** What became of the amendments whose keys still count, oldest first. */
  readonly settledAmendments?: readonly SettledAmendment[];
  /** Set on an order that goes out in slices: it is never checked or sent itself, and shows the sum of its slices. */
  readonly sliced?: true;
  /** Somebody wants it gone, and why; it holds as soon as that can be done. */
  readonly cancelReason?: string;
  /** The quantity that was asked for, of an exit that was cut to what its strategy holds. */
  readonly cutFrom?: string;
  readonly code?: string;
  readonly reason?: string;
  /** Who handed it in, as proved. */
  readonly submittedBy: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** New terms of an open order: handed in, then approved, then with the broker, which has not confirmed them yet. */
export interface Amendment {
  readonly idempotency_key: string;
  readonly quantity?: string;
  readonly limit_price?: string;
  readonly stop_price?: string;
  /** The approval; absent while the risk engine has not answered. */
  readonly decision?: RiskDecision;
  readonly askedAt: Instant;
  /** When the broker was last told, or was about to be; absent while it cannot have heard of it. */
  readonly handedAt?: Instant;
}

/** The outcome of an amendment, kept for as long as its key counts. */
export interface SettledAmendment {
  readonly idempotency_key: string;
  readonly quantity?: string;
  readonly limit_price?: string;
  readonly stop_price?: string;
  /** The approval that it has spent; absent when none was. */
  readonly decisionId?: string;
  /** Why the terms were dropped; absent when they came into force. */
  readonly denial?: Denial;
  readonly settledAt: Instant;
}

/** What a strategy of a fund holds of a symbol: the sum of its trades. */
export interface StoredPosition {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** Negative when short. */
  readonly quantity: Decimal;
  /** Weighted average of what opened it; zero when flat. A trade that flips it begins anew at its own price. */
  readonly averagePrice: Decimal;
  /** What the current opening cost in all, exactly, per unit of the multiplier; absent means quantity times average price. */
  readonly cost?: Decimal;
  /** In the instrument's currency, without fees. */
  readonly realisedPnl: Decimal;
  /** The trade with which it left zero the last time: names this opening of the position. */
  readonly openedBy: string;
  readonly updatedAt: Instant;
}

export interface OmsRecords {
  /** The order that took this key at or after that moment, if any; the key is kept from others until this unit ends. */
  lockKey(idempotencyKey: string, since: Instant): Promise<StoredOrder | undefined>;
  /** Forgets keys that no order took at or after that moment, at most so many; gives how many they were. */
  trimKeys(before: Instant, countMax: number): Promise<number>;
  /** An order_id that exists already is a STORE_CONFLICT. */
  insertOrder(order: StoredOrder): Promise<void>;
  /** Kept from others until this unit ends. */
  lockOrder(orderId: string): Promise<StoredOrder | undefined>;
  updateOrder(order: StoredOrder): Promise<void>;
  order(orderId: string): Promise<StoredOrder | undefined>;
  /** Those that have not ended, oldest first. */
  openOrders(): Promise<readonly StoredOrder[]>;
  /** How many orders ended as cancelled for exactly this reason. */
  cancelledFor(reason: string): Promise<number>;
  slicesOf(parentOrderId: string): Promise<readonly StoredOrder[]>;
  /** Books a trade once: false when it is known. Gives it the fund's next sequence when it has none. */
  insertFill(fill: Fill): Promise<Fill | false>;
  /** Trades of the past that sum to zero: without sequence, known ones left as they are. Gives how many are new. */
  importFills(fills: readonly Fill[]): Promise<number>;
  fillsOf(orderId: string): Promise<readonly Fill[]>;
  lockPosition(fundId: string, strategyId: string, symbol: string): Promise<StoredPosition | undefined>;
  putPosition(position: StoredPosition): Promise<void>;
  /** Those that are not zero, and those that were, of one fund or of all. */
  positions(fundId?: string): Promise<readonly StoredPosition[]>;
  /** How far this broker's reports were booked; 0 at first. */
  lockReportCursor(broker: string): Promise<number>;
  /** The same without keeping it from others. */
  reportCursor(broker: string): Promise<number>;
  putReportCursor(broker: string, cursor: number): Promise<void>;
  /** Trades of these funds that the treasury's ledger has no entry for, at most so many; those of an imported past are not meant. */
  unbookedFills(fundIds: readonly string[], countMax: number): Promise<readonly Fill[]>;
  /** The halts in force and the epoch, kept as they are until this unit ends; other units may look at them at the same time. */
  haltsAtSending(): Promise<{ readonly epoch: number; readonly active: readonly ActiveHalt[] }>;
}
