// An event of an order's life as every regime gets it, and what a regime makes of it.
import type { Instant } from "../../contracts/src/instant.ts";
import type { FiledDetails, FiledEventType, FiledOrder } from "../../contracts/src/records/filing.ts";
import type { FilingMistake } from "./mistake.ts";

/** Who is behind an order. */
export interface OrderMaker {
  /** The strategy that it is of. */
  readonly strategyId?: string | undefined;
  /** The operator who gave it; a strategy's own when absent. */
  readonly operator?: string | undefined;
  /** The caller or the foreign system says so, and nobody proved it. */
  readonly isClaimed: boolean;
}

export interface RegulatoryEvent {
  readonly type: FiledEventType;
  readonly at: Instant;
  readonly order: FiledOrder;
  readonly details: FiledDetails;
  /** The event's name over all sources of its fund. */
  readonly key: string;
  readonly maker?: OrderMaker | undefined;
  /** Of a fill: an operator has not accepted it yet. */
  readonly waits?: boolean | undefined;
}

/** How an order began, as the regime's records have it. */
export interface KnownOrder {
  readonly orderId: string;
  readonly symbol: string;
  /** When the record of its beginning says that it began. */
  readonly beganAt: Instant;
  /** A part of another order. */
  readonly isChild: boolean;
}

/** The orders that an event names, as far as the regime has heard of them. */
export interface KnownOrders {
  readonly order?: KnownOrder | undefined;
  readonly parent?: KnownOrder | undefined;
  /** Whether the trade that the event names is recorded; undefined where nobody looked. */
  readonly hasTrade?: boolean | undefined;
}

/** What the reference data say of the order's instrument. */
export interface KnownInstrument {
  readonly isin?: string | undefined;
  readonly currency: string;
}

export type RegimeRecord =
  | { readonly status: "WRITTEN"; readonly type: string; readonly line: string }
  | { readonly status: "QUARANTINED"; readonly type: string; readonly mistakes: readonly FilingMistake[] }
  /** Nothing is kept of it. */
  | { readonly status: "NOT_REPORTABLE"; readonly reason: string };

export type HexSha256 = (text: string) => string;

/** The events that begin an order for a regulator. */
export const beginnings: readonly FiledEventType[] = ["new_order", "order_received", "child_order"];
