// A broker: where approved orders go and where trades come from. The paper broker is the default; real ones fit the same socket.
//
// What every adapter promises (testkit/conformance/broker.ts):
//  1. An order is known by the client's own id: the same id sent twice is one order, also after a crash of either side.
//  2. `submit`, `cancel` and `amend` answer only what the broker has said. When it said nothing in time they reject with BROKER_UNAVAILABLE,
//     which means that the fate is unknown: never that it was refused.
//  3. Reports are numbered per broker without gaps and can be read again from any cursor: what was lost on the way is found by reading.
//     `onReport` is only a bell.
//  4. An execution has an id that never changes; the same one twice is one trade.
//  5. `positions` and `openOrders` say whether they are complete. An answer that is not, or none at all, is not "flat".
//  6. Everything that arrives carries the broker's own time.
//  7. What it says of an order has the terms that are in force there, prices included: an amendment that was not taken is seen by them.
//  8. What it has settled it says again for ever, at the same price; what it said nothing of is not settled.
import type { Decimal } from "../contracts/src/decimal.ts";
import type { Instant } from "../contracts/src/instant.ts";
import type { OrderType, Side, Tif } from "../contracts/src/records/values.ts";

export interface BrokerOrder {
  /** Our order_id. */
  readonly clientOrderId: string;
  /** One account per fund. */
  readonly account: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly orderType: OrderType;
  readonly limitPrice?: Decimal;
  readonly stopPrice?: Decimal;
  readonly tif: Tif;
  readonly expiresAt?: Instant;
  /** The broker may only let it shrink the account's position, where it can enforce that. It knows nothing of strategies: an exit of one that
   *  another strategy of the fund holds against is no reduction of the account, and must not be marked. */
  readonly reduceOnly: boolean;
}

export type BrokerOrderState = "WORKING" | "PARTIALLY_FILLED" | "FILLED" | "CANCELLED" | "EXPIRED" | "REJECTED";

export interface BrokerOrderStatus {
  readonly clientOrderId: string;
  readonly brokerOrderId: string;
  readonly account: string;
  readonly symbol: string;
  readonly side: Side;
  readonly state: BrokerOrderState;
  /** Its terms as the broker has them now, ended or not; prices where its type has them. */
  readonly quantity: Decimal;
  readonly limitPrice?: Decimal;
  readonly stopPrice?: Decimal;
  readonly filledQuantity: Decimal;
  /** Of a rejection. */
  readonly reason?: string;
  readonly at: Instant;
}

/** Every change of an order at the broker, executions included. */
export interface BrokerReport {
  /** Grows by one with every report of this broker. */
  readonly cursor: number;
  readonly status: BrokerOrderStatus;
  readonly execution?: {
    readonly executionId: string;
    readonly quantity: Decimal;
    readonly price: Decimal;
    readonly fee: Decimal;
    readonly feeCurrency: string;
  };
  readonly at: Instant;
}

export interface BrokerPosition {
  readonly symbol: string;
  /** Negative when short. */
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
}

/** What a broker says of an account: complete, or with the reason why not. */
export type BrokerAnswer<One> =
  | { readonly complete: true; readonly asOf: Instant; readonly cursor: number; readonly items: readonly One[] }
  | { readonly complete: false; readonly why: string };

/** A contract that has ended and was settled, for every account. */
export interface BrokerSettlement {
  /** Of the underlying, at which it was. */
  readonly price: Decimal;
  readonly at: Instant;
  /** Reports up to this one come before it. */
  readonly cursor: number;
}

export interface BrokerAmendment {
  readonly quantity?: Decimal;
  readonly limitPrice?: Decimal;
  readonly stopPrice?: Decimal;
}

/** A corporate action as a broker of ours is told of it. */
export interface BrokerAction {
  /** The same one twice is one. */
  readonly actionId: string;
  readonly legs: readonly BrokerActionLeg[];
}

interface BrokerActionLeg {
  readonly symbol: string;
  readonly newSymbol: string;
  /** So many new ones for so many old ones. */
  readonly quantity: readonly [to: number, from: number];
  readonly price: readonly [to: number, from: number];
  /** Accounts hold multiples of it, rounded towards zero; the rest is paid for. */
  readonly lotSize: Decimal;
}

export interface Broker {
  /** As orders name it: paper, alpaca, ccxt:<exchange>. */
  readonly name: string;
  submit(order: BrokerOrder): Promise<BrokerOrderStatus>;
  /** What has ended stays as it ended, and the answer says how. NOT_FOUND when the broker has said that it never had such an order. */
  cancel(clientOrderId: string): Promise<BrokerOrderStatus>;
  /** The order's terms afterwards: as before and with a reason when the broker refused, as it ended when it had. */
  amend(clientOrderId: string, amendment: BrokerAmendment): Promise<BrokerOrderStatus>;
  /** Undefined only when the broker has said that it never had such an order. */
  order(clientOrderId: string): Promise<BrokerOrderStatus | undefined>;
  openOrders(account: string): Promise<BrokerAnswer<BrokerOrderStatus>>;
  positions(account: string): Promise<BrokerAnswer<BrokerPosition>>;
  /** How an option that has ended was settled; undefined while it was not. Absent where the broker does not say. */
  settlement?(symbol: string): Promise<BrokerSettlement | undefined>;
  /** Reports after that cursor, oldest first, at most so many. */
  reports(after: number, countMax: number): Promise<readonly BrokerReport[]>;
  /** Takes it into every account, once; only of a broker that does not hear of it from its market. Open orders of the symbols must have ended. */
  applyAction?(action: BrokerAction): Promise<void>;
  /** Rings when there may be new reports; gives the function that stops it. */
  onReport(ring: () => void): () => void;
  close(): Promise<void>;
}
