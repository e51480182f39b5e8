// The life of an order as one table: which event may follow which state. What is not in the table says nothing about the order and
// changes nothing: it came late, twice, or about an order that has ended.
//
// Invariants (order-lifecycle.test.ts names them):
//  1. Nothing leaves an end state: REJECTED, CANCELLED, EXPIRED and FILLED are final.
//  2. Trades are facts: in every state that is no end they move the order on, whatever was heard before, an acknowledgement included.
//  3. Only an accepted order is routed, and only what was routed can be with a broker: REJECTED follows UNKNOWN only when the broker itself
//     said that it never had the order or refused it, never because it said nothing.
//  4. An order that shall be cancelled stays CANCEL_PENDING until the broker says what became of it.
import type { OrderState } from "../../contracts/src/records/values.ts";

export const orderEvents = [
  /** The risk engine approved, or denied; nobody answered in time counts as denied. */
  "approve",
  "deny",
  /** An exit that is too large for one order goes out in slices. */
  "slice",
  /** It may be sent from now on. */
  "route",
  /** It was not sent and will not be: its approval no longer holds, or the broker never had it. */
  "refuse",
  /** Somebody wants it gone. */
  "want_cancel",
  /** It was not with the broker, and somebody wanted it gone. */
  "drop",
  /** The broker did not answer. */
  "lose",
  /** The broker has it. */
  "acknowledge",
  /** It traded in part, or whole. */
  "fill_part",
  "fill_whole",
  /** What the broker said. */
  "broker_reject",
  "broker_cancel",
  "broker_expire",
] as const;
export type OrderEvent = (typeof orderEvents)[number];

type Moves = Readonly<Partial<Record<OrderEvent, OrderState>>>;

const fills: Moves = { fill_part: "PARTIALLY_FILLED", fill_whole: "FILLED" };
const brokerEnds: Moves = { broker_reject: "REJECTED", broker_cancel: "CANCELLED", broker_expire: "EXPIRED" };
const none: Moves = {};

export const lifecycle: Readonly<Record<OrderState, Moves>> = {
  PENDING_CHECK: { ...fills, approve: "ACCEPTED", deny: "REJECTED", slice: "WORKING", drop: "CANCELLED" },
  ACCEPTED: { ...fills, route: "ROUTED", refuse: "REJECTED", want_cancel: "CANCELLED", drop: "CANCELLED" },
  ROUTED: {
    ...fills,
    ...brokerEnds,
    refuse: "REJECTED",
    want_cancel: "CANCEL_PENDING",
    drop: "CANCELLED",
    lose: "UNKNOWN",
    acknowledge: "WORKING",
  },
  UNKNOWN: {
    ...fills,
    ...brokerEnds,
    // Sent again, after the broker said that it never had it.
    route: "ROUTED",
    refuse: "REJECTED",
    want_cancel: "CANCEL_PENDING",
    drop: "CANCELLED",
    acknowledge: "WORKING",
  },
  WORKING: { ...fills, ...brokerEnds, want_cancel: "CANCEL_PENDING" },
  // What has traded stays traded, so the rest of it is cancelled rather than the order rejected.
  PARTIALLY_FILLED: { ...fills, ...brokerEnds, broker_reject: "CANCELLED", want_cancel: "CANCEL_PENDING" },
  CANCEL_PENDING: { ...brokerEnds, fill_part: "CANCEL_PENDING", fill_whole: "FILLED", drop: "CANCELLED" },
  REJECTED: none,
  FILLED: none,
  CANCELLED: none,
  EXPIRED: none,
};

/** The state that follows; undefined when the event says nothing here. */
export function nextState(state: OrderState, event: OrderEvent): OrderState | undefined {
  return lifecycle[state][event];
}

const endStates: ReadonlySet<OrderState> = new Set(["REJECTED", "FILLED", "CANCELLED", "EXPIRED"]);

export function hasEnded(state: OrderState): boolean {
  return endStates.has(state);
}

/** States of an order that a broker may have and that can still trade. */
const withBroker: ReadonlySet<OrderState> = new Set([
  "ROUTED",
  "UNKNOWN",
  "WORKING",
  "PARTIALLY_FILLED",
  "CANCEL_PENDING",
]);

export function mayBeWithBroker(state: OrderState): boolean {
  return withBroker.has(state);
}
