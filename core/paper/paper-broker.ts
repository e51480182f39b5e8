// The paper broker's decisions: what becomes of an order that arrives, of a cancellation, an amendment, a quote, and the end of a day. Each
// takes what the books have and gives what they shall have, reports included, so that a store has only to load and to write.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { type Ratio, scaled, wholeOf } from "../ledger/corporate-actions.ts";
import {
  isBuy,
  isOpenState,
  type MatchingQuote,
  type MatchingStep,
  matchQuote,
  type PaperExecution,
  type PaperOrder,
  type PaperTerms,
} from "./paper-matching.ts";
import { movePosition, type PaperPosition } from "./paper-positions.ts";

export interface PaperReport {
  /** Grows by one with every report. */
  readonly cursor: number;
  /** The order as it was then. */
  readonly order: PaperOrder;
  readonly execution?: PaperExecution;
  readonly at: Instant;
}

/** What was loaded for one decision. */
export interface BookView {
  /** The newest report. */
  readonly cursor: number;
  /** Orders and places in time that were given so far. */
  readonly arrivals: number;
  /** Whether the first positions have been put in. */
  readonly begun: boolean;
  /** Trades that shall happen without a report: a fill that got lost for good. */
  readonly hideNext: number;
  readonly openCount: number;
  /** The one that was asked for. */
  readonly order: PaperOrder | undefined;
  /** The open ones of the symbols that were asked for. */
  readonly open: readonly PaperOrder[];
  readonly positions: readonly PaperPosition[];
  /** The moment of the last quote that somebody traded on, by symbol: its size is used up. */
  readonly prints: ReadonlyMap<string, Instant>;
  /** Whether the corporate action that was asked for is in the books. */
  readonly hasAction: boolean;
}

export interface BookChanges {
  readonly cursor: number;
  readonly arrivals: number;
  readonly begun: boolean;
  readonly hideNext: number;
  readonly orders: readonly PaperOrder[];
  readonly positions: readonly PaperPosition[];
  readonly reports: readonly PaperReport[];
  readonly prints: ReadonlyMap<string, Instant>;
  /** A corporate action that is in the books from now on. */
  readonly actionId?: string;
}

export interface Decided<Answer> {
  readonly answer: Answer;
  /** Undefined when nothing changes. */
  readonly changes: BookChanges | undefined;
}

type NewOrder = Omit<
  PaperOrder,
  "brokerOrderId" | "arrival" | "triggered" | "state" | "filledQuantity" | "executionCount" | "reason" | "updatedAt"
>;

/** A corporate action as the paper broker takes it in. */
interface PaperAction {
  readonly actionId: string;
  readonly legs: readonly {
    readonly symbol: string;
    readonly newSymbol: string;
    readonly quantity: Ratio;
    readonly price: Ratio;
    readonly lotSize: decimal.Decimal;
  }[];
}

export const openOrdersMax = 10_000;
/** So that quantity x price always fits a decimal. */
const quantityMax = decimal.fromInteger(1_000_000_000n);

/** The same id again is the same order, whatever else it says. */
export function acceptOrder(
  view: BookView,
  asked: NewOrder,
  terms: PaperTerms | undefined,
  at: Instant,
): Decided<PaperOrder> {
  if (view.order !== undefined) return { answer: view.order, changes: undefined };
  const refusal = refusalOf(view, asked, terms);
  const arrival = view.arrivals + 1;
  const order: PaperOrder = {
    ...asked,
    brokerOrderId: `P${arrival}`,
    arrival,
    triggered: false,
    filledQuantity: decimal.zero,
    executionCount: 0,
    updatedAt: at,
    ...(refusal === undefined ? { state: "WORKING" } : { state: "REJECTED", reason: refusal }),
  };
  return { answer: order, changes: { ...changesOf(view, [{ order }], at), arrivals: arrival } };
}

function refusalOf(view: BookView, asked: NewOrder, terms: PaperTerms | undefined): string | undefined {
  const { orderType, limitPrice, stopPrice, quantity } = asked;
  if (terms === undefined) return `${asked.symbol} is not traded here.`;
  if (quantity <= decimal.zero || quantity > quantityMax)
    return "The quantity must be above zero and at most 1,000,000,000.";
  if ((orderType === "LIMIT" || orderType === "STOP_LIMIT") && limitPrice === undefined)
    return "It has no limit price.";
  if ((orderType === "STOP" || orderType === "STOP_LIMIT") && stopPrice === undefined) return "It has no stop price.";
  if (asked.tif === "GTD" && asked.expiresAt === undefined) return "It does not say until when it is good.";
  if (view.openCount >= openOrdersMax) return `There are ${openOrdersMax} open orders already.`;
  if (asked.reduceOnly && reducible(view, asked) === decimal.zero) return "There is nothing to reduce.";
  return undefined;
}

function reducible(view: BookView, asked: NewOrder): decimal.Decimal {
  const held = view.positions.find((one) => one.account === asked.account && one.symbol === asked.symbol);
  const quantity = held?.quantity ?? decimal.zero;
  return decimal.max(decimal.zero, isBuy(asked.side) ? decimal.negate(quantity) : quantity);
}

/** What has ended stays as it ended, and the answer says how. */
export function cancelOrder(view: BookView, at: Instant): Decided<PaperOrder | undefined> {
  if (view.order === undefined || !isOpenState(view.order.state)) return { answer: view.order, changes: undefined };
  const order: PaperOrder = { ...view.order, state: "CANCELLED", updatedAt: at };
  return { answer: order, changes: changesOf(view, [{ order }], at) };
}

interface PaperAmendment {
  readonly quantity?: decimal.Decimal;
  readonly limitPrice?: decimal.Decimal;
  readonly stopPrice?: decimal.Decimal;
}

/** Less of the same keeps its place in time; anything else goes behind those that are there. What cannot be is answered with its reason. */
export function amendOrder(view: BookView, asked: PaperAmendment, at: Instant): Decided<PaperOrder | undefined> {
  const { order } = view;
  if (order === undefined || !isOpenState(order.state)) return { answer: order, changes: undefined };
  const quantity = asked.quantity ?? order.quantity;
  if (quantity > quantityMax) return { answer: { ...order, reason: "That is too much." }, changes: undefined };
  if (quantity <= order.filledQuantity) {
    const reason = `${decimal.format(order.filledQuantity)} have been traded already.`;
    return { answer: { ...order, reason }, changes: undefined };
  }
  const keepsItsPlace =
    quantity <= order.quantity &&
    isSame(asked.limitPrice, order.limitPrice) &&
    isSame(asked.stopPrice, order.stopPrice);
  const arrivals = keepsItsPlace ? view.arrivals : view.arrivals + 1;
  const amended: PaperOrder = {
    ...order,
    quantity,
    ...(asked.limitPrice !== undefined && { limitPrice: asked.limitPrice }),
    ...(asked.stopPrice !== undefined && { stopPrice: asked.stopPrice }),
    arrival: keepsItsPlace ? order.arrival : arrivals,
    updatedAt: at,
  };
  return { answer: amended, changes: { ...changesOf(view, [{ order: amended }], at), arrivals } };
}

function isSame(asked: decimal.Decimal | undefined, present: decimal.Decimal | undefined): boolean {
  return asked === undefined || asked === present;
}

/** Matches each quote against the orders of its symbol; a quote that was traded on before is not traded on again. */
export function matchQuotes(
  view: BookView,
  quotes: readonly MatchingQuote[],
  termsOf: (symbol: string) => PaperTerms | undefined,
  at: Instant,
): Decided<number> {
  const steps: MatchingStep[] = [];
  const touched: PaperOrder[] = [];
  const moved: PaperPosition[] = [];
  const prints = new Map<string, Instant>();
  for (const quote of quotes) {
    const terms = termsOf(quote.symbol);
    const orders = view.open.filter((order) => order.symbol === quote.symbol);
    if (terms === undefined || orders.length === 0 || quote.at <= (view.prints.get(quote.symbol) ?? 0)) continue;
    const held = view.positions.filter(({ symbol }) => symbol === quote.symbol);
    const matched = matchQuote(orders, quote, new Map(held.map((one) => [one.account, one])), terms);
    steps.push(...matched.steps);
    touched.push(...matched.touched);
    moved.push(...matched.positions.values());
    if (matched.steps.some(({ execution }) => execution !== undefined)) prints.set(quote.symbol, quote.at);
  }
  if (steps.length === 0 && touched.length === 0) return { answer: 0, changes: undefined };
  const changes = changesOf(view, steps, at);
  const orders = newestOf([...touched, ...changes.orders]);
  return { answer: steps.length, changes: { ...changes, orders, positions: moved, prints } };
}

/** Ends what has an end, also when no quote comes any more. */
export function expireOrders(view: BookView, at: Instant): Decided<number> {
  const steps = view.open
    .filter((order) => isOpenState(order.state) && order.expiresAt !== undefined && order.expiresAt <= at)
    .map((order) => ({ order: { ...order, state: "EXPIRED" as const, updatedAt: at } }));
  if (steps.length === 0) return { answer: 0, changes: undefined };
  return { answer: steps.length, changes: changesOf(view, steps, at) };
}

/** The first positions, once. */
export function beginBooks(view: BookView, positions: readonly PaperPosition[]): Decided<boolean> {
  if (view.begun) return { answer: false, changes: undefined };
  return { answer: true, changes: { ...unchanged(view), begun: true, positions } };
}

/** Quantities and averages of the account become those of after it; orders that rest in its symbols end, as brokers end them. */
export function applyAction(view: BookView, action: PaperAction, at: Instant): Decided<void> {
  if (view.hasAction) return { answer: undefined, changes: undefined };
  const steps = view.open.map((order) => ({
    order: { ...order, state: "CANCELLED" as const, updatedAt: at, reason: `The corporate action ${action.actionId}.` },
  }));
  const held = view.positions.filter(({ quantity }) => quantity !== decimal.zero);
  const moved = held.flatMap((position) => {
    const leg = action.legs.find(({ symbol }) => symbol === position.symbol);
    return leg === undefined ? [] : [{ position, leg }];
  });
  const gone = moved
    .filter(({ leg }) => leg.symbol !== leg.newSymbol)
    .map(({ position }) => ({ ...position, quantity: decimal.zero, averagePrice: decimal.zero }));
  const positions = moved.map(({ position, leg }) => {
    const quantity = wholeOf(position.quantity, leg.quantity, leg.lotSize);
    const averagePrice = quantity === decimal.zero ? decimal.zero : scaled(position.averagePrice, leg.price);
    return { ...position, symbol: leg.newSymbol, quantity, averagePrice };
  });
  const changes = { ...changesOf(view, steps, at), positions: [...gone, ...positions], actionId: action.actionId };
  return { answer: undefined, changes };
}

/** A trade that nobody here asked for: the position moves, and no report says so. */
export function tradeOffSystem(
  view: BookView,
  trade: {
    readonly account: string;
    readonly symbol: string;
    readonly quantity: decimal.Decimal;
    readonly price: decimal.Decimal;
  },
): Decided<void> {
  const { account, symbol } = trade;
  const held = view.positions.find((one) => one.account === account && one.symbol === symbol) ?? {
    account,
    symbol,
    quantity: decimal.zero,
    averagePrice: decimal.zero,
  };
  const positions = [movePosition(held, trade.quantity, trade.price)];
  return { answer: undefined, changes: { ...unchanged(view), positions } };
}

export function hideTrades(view: BookView, count: number): Decided<void> {
  return { answer: undefined, changes: { ...unchanged(view), hideNext: count } };
}

function unchanged(view: BookView): BookChanges {
  const { cursor, arrivals, begun, hideNext } = view;
  return { cursor, arrivals, begun, hideNext, orders: [], positions: [], reports: [], prints: new Map() };
}

/** Every step is a report, but for trades that shall stay hidden. */
export function changesOf(view: BookView, steps: readonly MatchingStep[], at: Instant): BookChanges {
  const reports: PaperReport[] = [];
  let { cursor, hideNext } = view;
  for (const { order, execution } of steps) {
    if (execution !== undefined && hideNext > 0) {
      hideNext -= 1;
      continue;
    }
    cursor += 1;
    reports.push({ cursor, order, at, ...(execution !== undefined && { execution }) });
  }
  return { ...unchanged(view), cursor, hideNext, reports, orders: newestOf(steps.map(({ order }) => order)) };
}

function newestOf(orders: readonly PaperOrder[]): readonly PaperOrder[] {
  return [...new Map(orders.map((order) => [order.clientOrderId, order])).values()];
}
