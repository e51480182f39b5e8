// What people ask about orders and trades. Only PostgreSQL answers it: lists and histories are no part of the state machine.
import type { Instant } from "../contracts/src/instant.ts";
import type { Fill } from "../contracts/src/records/order.ts";
import type { SignalStatus } from "../contracts/src/records/signal.ts";
import type { OrderState } from "../contracts/src/records/values.ts";
import type { StoredOrder } from "./oms-records.ts";
import type { StoredSignal } from "./signal-records.ts";

interface OrdersQuery {
  readonly fundId?: string;
  readonly openOnly: boolean;
  readonly countMax: number;
  readonly state?: OrderState;
  /** Created then or later. */
  readonly since?: Instant;
  /** Only ids that begin so. */
  readonly idPrefix?: string;
  /** Continue after this order, towards older ones. */
  readonly afterOrderId?: string;
}

interface FillsQuery {
  readonly fundId?: string;
  readonly orderId?: string;
  readonly countMax: number;
  /** Only ids that begin so. */
  readonly idPrefix?: string;
  /** Continue after this fill, towards older ones. */
  readonly afterFillId?: string;
}

interface SignalsQuery {
  readonly fundId?: string;
  readonly strategyId?: string;
  readonly status?: SignalStatus;
  /** Received then or later. */
  readonly since?: Instant;
  readonly countMax: number;
  /** Only ids that begin so. */
  readonly idPrefix?: string;
  /** Continue after this signal, towards older ones. */
  readonly afterSignalId?: string;
}

/** A signal, and the order that it became. */
export interface SignalWithOrder {
  readonly signal: StoredSignal;
  readonly order?: StoredOrder;
}

export interface OmsQueries {
  /** Newest first; nothing after a signal that is not there. */
  signals(query: SignalsQuery): Promise<readonly SignalWithOrder[]>;
  /** Newest first; nothing after an order that is not there. */
  orders(query: OrdersQuery): Promise<readonly StoredOrder[]>;
  /** Newest first; nothing after a fill that is not there. */
  fills(query: FillsQuery): Promise<readonly Fill[]>;
}
