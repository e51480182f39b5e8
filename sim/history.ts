// What the platform has reported so far, folded message by message into what must follow from it: a second bookkeeping, as plain as it can be, that
// shares nothing with the services but the records. The invariants hold the platform's own books against it.

import type { Decimal } from "../contracts/src/decimal.ts";
import * as decimal from "../contracts/src/decimal.ts";
import type { RiskEnvelope } from "../contracts/src/records/envelope.ts";
import type { LedgerBooked } from "../contracts/src/records/fund.ts";
import type {
  ReconcileDifference,
  StopAttempted,
  StopEnded,
  StopTriggered,
} from "../contracts/src/records/operations.ts";
import type {
  DecisionMade,
  Fill,
  Order,
  OrderCreated,
  OrderTransition,
  RiskDecision,
} from "../contracts/src/records/order.ts";
import type { AlarmRaised } from "../contracts/src/records/platform.ts";
import type { OrderState } from "../contracts/src/records/values.ts";
import { subjects } from "../contracts/src/subjects.ts";
import { paperReference } from "../services/shared/paper-seeds.ts";
import type { LogEntry } from "../testkit/memory/tables.ts";
import { type ActionHistory, actionFolds, actionHistory, isOfAction } from "./action-history.ts";
import { type HaltHistory, haltFolds, haltHistory, isOfOneResume } from "./halt-history.ts";
import type { Reported } from "./reported.ts";
import { type SignalHistory, signalFolds, signalHistory } from "./signal-history.ts";

export interface ReportedOrder {
  readonly order: OrderCreated;
  state: OrderState;
  /** The newest approval under its id. */
  approval: RiskDecision | undefined;
  /** The most that any approval allows that may still take force, or what was reported to be in force since. */
  allowed: Decimal;
  /** What was reported to be in force, and what its approved amendments allow, by their keys. */
  inForce: Decimal;
  readonly amendments: Map<string, Decimal>;
  filled: Decimal;
  /** Whether it was ever reported to be on its way to the broker. */
  routed: boolean;
}

export interface ReportedStop {
  readonly triggered: StopTriggered;
  attempts: StopAttempted[];
  ended: StopEnded | undefined;
  /** What its exits have traded, and what the strategy bought on top of it since the position was looked at. */
  exited: Decimal;
  added: Decimal;
}

export interface History extends HaltHistory, ActionHistory, SignalHistory {
  /** Where in the log each version of limits was reported. */
  readonly envelopesAt: Map<string, { readonly position: number; readonly at: number }>;
  /** By fund and version. */
  readonly envelopes: Map<string, RiskEnvelope>;
  readonly orders: Map<string, ReportedOrder>;
  /** By decision id: what was approved, and for what order. */
  readonly approvals: Map<string, { readonly decision: RiskDecision; readonly order: Order }>;
  readonly keys: Map<string, { readonly decisionId: string; readonly at: number }>;
  readonly fills: Map<string, Fill>;
  /** When each of them was reported. */
  readonly filledAt: Map<string, number>;
  /** Sums of fills: by fund and symbol, and by fund, strategy and symbol. */
  readonly positions: Map<string, Decimal>;
  readonly strategyPositions: Map<string, Decimal>;
  /** What each fund's cash must be. */
  readonly cash: Map<string, Decimal>;
  /** Deposits less withdrawals of each fund. */
  readonly flows: Map<string, Decimal>;
  readonly stops: Map<string, ReportedStop>;
  /** When a fund's position was set to the broker's the last time, by fund and symbol. */
  readonly adjustedAt: Map<string, number>;
  /** When a strategy's position was crossed with another's the last time, by fund, strategy and symbol. */
  readonly crossedAt: Map<string, number>;
  /** Stops of which an alarm said that their exit waits, and why: the sentences, by fund and symbol. */
  readonly waiting: Map<string, string[]>;
  /** Where the reconciler reported that our position and the broker's differ, and no correction followed: by fund and symbol. */
  readonly apart: Set<string>;
}

export const envelopeKey = (fundId: string, version: number): string => `${fundId} ${version}`;
export const positionKey = (fundId: string, symbol: string): string => `${fundId} ${symbol}`;
export const strategyKey = (fundId: string, strategyId: string, symbol: string): string =>
  `${fundId} ${strategyId} ${symbol}`;

const ended: ReadonlySet<OrderState> = new Set(["REJECTED", "FILLED", "CANCELLED", "EXPIRED"]);
export const isOver = (state: OrderState): boolean => ended.has(state);
export const buys = (side: string): boolean => side === "BUY" || side === "BUY_TO_COVER";
export const directed = (side: string, quantity: Decimal): Decimal =>
  buys(side) ? quantity : decimal.negate(quantity);

const seededMultipliers: ReadonlyMap<string, Decimal> = new Map(
  paperReference("").instruments.map(({ symbol, multiplier }) => [symbol, decimal.parse(multiplier)]),
);

export function history(): History {
  return {
    ...haltHistory(),
    ...actionHistory(seededMultipliers),
    ...signalHistory(),
    envelopesAt: new Map(),
    envelopes: new Map(),
    orders: new Map(),
    approvals: new Map(),
    keys: new Map(),
    fills: new Map(),
    filledAt: new Map(),
    positions: new Map(),
    strategyPositions: new Map(),
    cash: new Map(),
    flows: new Map(),
    stops: new Map(),
    adjustedAt: new Map(),
    crossedAt: new Map(),
    waiting: new Map(),
    apart: new Set(),
  };
}

const decoder = new TextDecoder();

/** The payload is decoded when an invariant asks for it: most messages are never asked. */
export function readReported({ id, subject, at, position, bytes }: LogEntry): Reported {
  let read: { readonly payload: unknown } | undefined;
  return {
    id,
    subject,
    at,
    position,
    get payload() {
      read ??= { payload: JSON.parse(decoder.decode(bytes)) as unknown };
      return read.payload;
    },
  };
}

function add(sums: Map<string, Decimal>, key: string, amount: Decimal): void {
  sums.set(key, decimal.add(sums.get(key) ?? decimal.zero, amount));
}

/** How a message changes what must be true. */
const folds: Readonly<Record<string, (past: History, reported: Reported) => void>> = {
  ...haltFolds,
  ...actionFolds,
  ...signalFolds,
  [subjects.envelopeUpdated.name]: (past, { payload, position, at }) => {
    const envelope = payload as RiskEnvelope;
    const key = envelopeKey(envelope.fund_id, envelope.version);
    past.envelopes.set(key, envelope);
    past.envelopesAt.set(key, { position, at });
  },
  [subjects.ordersCreated.name]: (past, { payload }) => {
    const order = payload as OrderCreated;
    const before = past.orders.get(order.order_id);
    const fresh: ReportedOrder = {
      order,
      state: "PENDING_CHECK",
      approval: undefined,
      allowed: decimal.zero,
      inForce: decimal.zero,
      amendments: new Map(),
      filled: decimal.zero,
      routed: false,
    };
    past.orders.set(order.order_id, before ?? fresh);
  },
  [subjects.ordersAccepted.name]: foldTransition,
  [subjects.ordersRejected.name]: foldTransition,
  [subjects.ordersUpdated.name]: foldTransition,
  [subjects.ordersCancelled.name]: foldTransition,
  [subjects.ordersExpired.name]: foldTransition,
  [subjects.decisionMade.name]: (past, { payload, at }) => {
    const { order: asked, decision } = payload as DecisionMade;
    if (!decision.approved || decision.dry_run === true) return;
    const order = asked as unknown as Order;
    past.approvals.set(decision.decision_id, { decision, order });
    past.keys.set(order.idempotency_key, { decisionId: decision.decision_id, at });
    const known = past.orders.get(order.order_id);
    if (known === undefined) return;
    const quantity = decimal.parse(order.quantity);
    if (known.approval === undefined) known.inForce = quantity;
    else known.amendments.set(order.idempotency_key, quantity);
    known.approval = decision;
    known.allowed = decimal.max(known.allowed, quantity);
  },
  [subjects.fillsCreated.name]: foldFill,
  [subjects.ledgerBooked.name]: (past, { payload }) => {
    const { fund_id: fundId, amount, kind } = payload as LedgerBooked;
    add(past.cash, fundId, decimal.parse(amount));
    if (kind === "FLOW") add(past.flows, fundId, decimal.parse(amount));
  },
  [subjects.stopTriggered.name]: (past, { payload }) => {
    const triggered = payload as StopTriggered;
    if (past.stops.has(triggered.stop_id)) return;
    const { fund_id: fundId, strategy_id: strategyId = "", symbol } = triggered;
    const held = past.strategyPositions.get(strategyKey(fundId, strategyId, symbol)) ?? decimal.zero;
    // A trade may come between the look at the position and the word that the stop fired; the exit is of what is held by then.
    const since = decimal.subtract(decimal.abs(held), decimal.abs(decimal.parse(triggered.quantity)));
    const added = decimal.max(decimal.zero, since);
    const fresh: ReportedStop = { triggered, attempts: [], ended: undefined, exited: decimal.zero, added };
    past.stops.set(triggered.stop_id, fresh);
  },
  [subjects.alarmRaised.name]: (past, { payload }) => {
    const { code, sentence, facts } = payload as AlarmRaised;
    if (code !== "STOP_EXIT_WAITING") return;
    const key = positionKey(String(facts?.["fund_id"]), String(facts?.["symbol"]));
    past.waiting.set(key, [...(past.waiting.get(key) ?? []), sentence]);
  },
  [subjects.reconcileDifference.name]: (past, { payload }) => {
    const { fund_id: fundId, symbol, status } = payload as ReconcileDifference;
    const key = positionKey(fundId, symbol);
    if (status === "CONFIRMED") past.apart.add(key);
    else if (status !== "SUSPECTED") past.apart.delete(key);
  },
  [subjects.stopAttempted.name]: (past, { payload }) => {
    const attempt = payload as StopAttempted;
    past.stops.get(attempt.stop_id)?.attempts.push(attempt);
  },
  [subjects.stopEnded.name]: (past, { payload }) => {
    const over = payload as StopEnded;
    const stop = past.stops.get(over.stop_id);
    if (stop !== undefined) stop.ended ??= over;
  },
};

function foldTransition(past: History, { payload }: Reported): void {
  const { order_id: orderId, to, quantity, dropped_amendment_key: dropped } = payload as OrderTransition;
  const known = past.orders.get(orderId);
  if (known === undefined) return;
  known.state = to;
  // New terms are in force from here on.
  if (quantity !== undefined) {
    known.inForce = decimal.parse(quantity);
    known.amendments.clear();
  }
  // These never will be.
  if (dropped !== undefined) known.amendments.delete(dropped);
  if (quantity !== undefined || dropped !== undefined) known.allowed = mostAllowed(known);
  if (to === "ROUTED") known.routed = true;
}

function mostAllowed({ inForce, amendments }: ReportedOrder): Decimal {
  return [...amendments.values()].reduce((most, one) => decimal.max(most, one), inForce);
}

function foldFill(past: History, { payload, at }: Reported): void {
  const fill = payload as Fill;
  if (past.fills.has(fill.fill_id)) return;
  past.fills.set(fill.fill_id, fill);
  past.filledAt.set(fill.fill_id, at);
  const quantity = decimal.parse(fill.quantity);
  const change = directed(fill.side, quantity);
  const { fund_id: fundId, strategy_id: strategyId, symbol } = fill;
  add(past.positions, positionKey(fundId, symbol), change);
  add(past.strategyPositions, strategyKey(fundId, strategyId, symbol), change);
  const multiplier = past.multipliers.get(symbol) ?? decimal.one;
  const paid = decimal.multiply(
    decimal.multiply(change, multiplier, "half-even"),
    decimal.parse(fill.price),
    "half-even",
  );
  add(past.cash, fundId, decimal.negate(decimal.add(paid, decimal.parse(fill.fee ?? "0"))));
  if (fill.kind === "CROSS") past.crossedAt.set(strategyKey(fundId, strategyId, symbol), at);
  if (fill.kind === "ADJUSTMENT") past.adjustedAt.set(positionKey(fundId, symbol), at);
  const known = past.orders.get(fill.order_id);
  if (known !== undefined) known.filled = decimal.add(known.filled, quantity);
  for (const stop of past.stops.values()) noteForStop(stop, fill, change);
}

/** What a corporate action makes of it is reported with the action. */
function noteForStop(stop: ReportedStop, fill: Fill, change: Decimal): void {
  if (isOfAction(fill)) return;
  const { triggered } = stop;
  const isItsPlace =
    fill.fund_id === triggered.fund_id &&
    fill.strategy_id === triggered.strategy_id &&
    fill.symbol === triggered.symbol;
  if (!isItsPlace) return;
  if (isExitOf(triggered.stop_id, fill.order_id)) stop.exited = decimal.add(stop.exited, decimal.abs(change));
  else if (buys(fill.side) !== buys(triggered.side)) stop.added = decimal.add(stop.added, decimal.abs(change));
}

/** An exit is named after its stop and the number of the attempt, and slices of it after that. */
export function isExitOf(stopId: string, orderId: string): boolean {
  return orderId.startsWith(`${stopId}-`);
}

export function fold(past: History, reported: Reported): void {
  if (!isOfOneResume(reported)) past.resumer = undefined;
  folds[reported.subject]?.(past, reported);
}

/** What an order may still trade, as far as it was reported. */
export function leftOf({ allowed, filled, state }: ReportedOrder): Decimal {
  if (isOver(state)) return decimal.zero;
  return decimal.max(decimal.subtract(allowed, filled), decimal.zero);
}
