// The engine's books as plain JSON, and back: positions, open orders, pace and throttles. Prices, valuations, envelopes, halts and keys are
// not in it: they are read from where they live. Equal states give equal JSON, to the last character: everything is sorted, decimals are
// their shortest text, and what no longer counts is left out.
import * as decimal from "../../contracts/src/decimal.ts";
import { Defect } from "../../contracts/src/fault.ts";
import * as instant from "../../contracts/src/instant.ts";
import { type BlocksSnapshot, blocksSnapshot } from "../blocks/block-book.ts";
import { movePosition } from "../exposure/exposure.ts";
import { isNothing, parseAmount, toDecimal } from "../money/amount.ts";
import { addHolding } from "../orders/broker-holdings.ts";
import type { OpenOrder } from "../orders/open-order.ts";
import type { OrderTerms } from "../orders/order-terms.ts";
import { reserve, restoreOrder, settle } from "../orders/reservations.ts";
import { countApproval } from "../orders/throttle.ts";
import { positionAt, rowOf, slotsOf } from "../state/fund-state.ts";
import { addInstant, type InstantRing, instantsWithin } from "../state/instant-ring.ts";
import {
  type Books,
  type FundBook,
  fundBookOf,
  type StrategyBook,
  strategyBookOf,
  symbolBookOf,
} from "../state/records.ts";
import { heldByStrategies, moveStrategyPosition } from "../state/strategy-positions.ts";
import { directionOf } from "../state/terms.ts";
import { restoreAcceptance } from "./acceptance.ts";
import { type EngineState, setTripped } from "./state.ts";

export interface EngineSnapshot {
  readonly form: 1;
  /** The moment of the newest decision. */
  readonly at: string;
  readonly funds: readonly FundSnapshot[];
  readonly strategies: readonly StrategySnapshot[];
  readonly orders: readonly OrderSnapshot[];
  /** Of the same orders; absent in snapshots from before it was kept, after which nothing of theirs counts as lowered. */
  readonly terms?: readonly TermsSnapshot[];
  /** Of the same orders; absent in snapshots from before it was kept, which are not restored: the journal has it. */
  readonly approvals?: readonly ApprovalSnapshot[];
  /** What lies with which broker; absent in snapshots from before it was kept, which are not restored: the journal has it. */
  readonly brokers?: readonly BrokerSnapshot[];
  /** What each strategy holds; absent in snapshots from before it was kept, which are not restored: the journal has it. */
  readonly strategy_positions?: readonly StrategyPositionSnapshot[];
  /** Approvals that ran out unsent or were released, oldest first. */
  readonly expired?: readonly ExpiredSnapshot[];
  /** Orders that ended before they were filled, oldest first; absent in snapshots from before they were kept, which are not restored: the journal has them. */
  readonly unfilled?: readonly UnfilledSnapshot[];
  /** What an operator must accept; absent in snapshots from before there was any. */
  readonly blocks?: BlocksSnapshot;
}

type StrategyPositionSnapshot = readonly [fundId: string, strategyId: string, symbol: string, quantity: string];
type BrokerSnapshot = readonly [fundId: string, symbol: string, broker: string, quantity: string];

/** Moments in microseconds; null once something shows that it was sent. */
interface ApprovalSnapshot {
  readonly order_id: string;
  readonly unsent_until: number | null;
  readonly evidence_at?: number | null;
  /** Absent in snapshots from before it was kept. */
  readonly asked_by?: string;
  readonly since?: number | null;
  readonly expired_once: boolean;
  /** Of the amendments that wait, in their order. */
  readonly amendments: readonly (number | null)[];
  readonly keys?: readonly (string | null)[];
  readonly approved_at?: readonly (number | null)[];
  readonly dropped: readonly DroppedSnapshot[];
}

interface DroppedSnapshot {
  readonly quantity: string;
  readonly terms: OrderTerms | null;
  readonly key?: string | null;
  readonly approved_at?: number | null;
  readonly unsent_until: number | null;
}

interface UnfilledSnapshot {
  readonly order: OrderSnapshot;
  readonly terms: TermsSnapshot;
  readonly approval: ApprovalSnapshot;
}

interface ExpiredSnapshot extends UnfilledSnapshot {
  /** Absent in snapshots from before it was kept, which are not restored: the journal has it. */
  readonly released?: boolean;
}

interface TermsSnapshot {
  readonly order_id: string;
  readonly sent: boolean;
  /** Null when they are not known. */
  readonly terms: OrderTerms | null;
  /** Of the amendments that wait, in their order. */
  readonly amendments: readonly (OrderTerms | null)[];
}

interface FundSnapshot {
  readonly fund_id: string;
  readonly positions: readonly (readonly [symbol: string, quantity: string])[];
  readonly pace: readonly number[];
}

interface StrategySnapshot {
  readonly strategy_id: string;
  readonly tripped_at: string | null;
  readonly pace: readonly number[];
  readonly repeats: readonly RepeatSnapshot[];
}

interface RepeatSnapshot {
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly window_ms: number;
  readonly at: readonly number[];
}

interface OrderSnapshot {
  readonly order_id: string;
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly amendments: readonly string[];
  readonly filled: string;
  /** Absent where nothing was. */
  readonly busted?: string;
  readonly ended: boolean;
  readonly filled_told: string;
  readonly terms_at: number | null;
  /** Moments in microseconds; absent where there is none. */
  readonly ended_at?: number;
  readonly worked_at?: number;
  readonly worked?: { readonly at: number; readonly total: string };
}

const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

const everyFund = (): boolean => true;
function byId<Item extends { readonly id: string }>(all: Iterable<Item>, isMeant: (one: Item) => boolean): Item[] {
  return [...all].filter(isMeant).sort((left, right) => byText(left.id, right.id));
}

/** Of these funds alone, where not all of it is meant to be kept. */
export function takeSnapshot(
  state: EngineState,
  isMeant: (fundId: string | undefined) => boolean = everyFund,
): EngineSnapshot {
  const { books, orders, lastAt } = state;
  const funds = byId(books.funds.values(), ({ id }) => isMeant(id));
  const strategies = byId(books.strategies.values(), ({ fund }) => isMeant(fund?.id));
  const open = byId(orders.open.values(), ({ fund }) => isMeant(fund.id));
  return {
    form: 1,
    at: instant.format(lastAt),
    funds: funds
      .map((fund) => fundSnapshot(books, fund, lastAt))
      .filter(({ positions, pace }) => positions.length > 0 || pace.length > 0),
    strategies: strategies
      .map((strategy) => strategySnapshot(state, strategy))
      .filter(({ tripped_at, pace, repeats }) => tripped_at !== null || pace.length > 0 || repeats.length > 0),
    orders: open.map(orderSnapshot),
    terms: open.map(termsSnapshot),
    approvals: open.map(approvalSnapshot),
    brokers: [...books.brokers]
      .filter(([, { place }]) => isMeant(place.fund_id))
      .sort(([left], [right]) => byText(left, right))
      .map(([, { place, quantity }]) => [
        place.fund_id,
        place.symbol,
        place.broker,
        decimal.format(toDecimal(quantity)),
      ]),
    strategy_positions: heldByStrategies(books.strategyPositions)
      .filter(({ fundId }) => isMeant(fundId))
      .map(({ fundId, strategyId, symbol, quantity }) => [
        fundId,
        strategyId,
        symbol,
        decimal.format(toDecimal(quantity)),
      ]),
    expired: [...orders.expired.values()]
      .filter(({ fund }) => isMeant(fund.id))
      .map((order) => ({ released: order.released, ...wholeSnapshot(order) })),
    unfilled: [...orders.unfilled.values()].filter(({ fund }) => isMeant(fund.id)).map(wholeSnapshot),
    blocks: blocksSnapshot(state.blockBook),
  };
}

function paceOf(ring: InstantRing, at: instant.Instant): readonly number[] {
  return instantsWithin(ring, at, instant.microsecondsPerSecond);
}

function fundSnapshot(books: Books, fund: FundBook, at: instant.Instant): FundSnapshot {
  const positions = slotsOf(fund)
    .map((slot) => [books.bySlot[slot]?.symbol ?? "", toDecimal(positionAt(fund, rowOf(fund, slot)))] as const)
    .filter(([, position]) => position !== 0n)
    .map(([symbol, position]) => [symbol, decimal.format(position)] as const)
    .sort(([left], [right]) => byText(left, right));
  return { fund_id: fund.id, positions, pace: paceOf(fund.pace, at) };
}

function strategySnapshot({ lastAt }: EngineState, strategy: StrategyBook): StrategySnapshot {
  const repeats: RepeatSnapshot[] = [];
  for (const { symbol, side, quantity, windowMicroseconds, ring } of strategy.repeats.values()) {
    const at = instantsWithin(ring, lastAt, windowMicroseconds);
    const window_ms = windowMicroseconds / 1_000;
    if (at.length > 0) repeats.push({ symbol, side, quantity: decimal.format(toDecimal(quantity)), window_ms, at });
  }
  repeats.sort(
    (left, right) =>
      byText(left.symbol, right.symbol) || byText(left.side, right.side) || byText(left.quantity, right.quantity),
  );
  const { trippedAt } = strategy;
  return {
    strategy_id: strategy.id,
    tripped_at: trippedAt === undefined ? null : instant.format(trippedAt),
    pace: paceOf(strategy.pace, lastAt),
    repeats,
  };
}

function wholeSnapshot(order: OpenOrder): UnfilledSnapshot {
  return { order: orderSnapshot(order), terms: termsSnapshot(order), approval: approvalSnapshot(order) };
}

function orderSnapshot(order: OpenOrder): OrderSnapshot {
  return {
    order_id: order.id,
    fund_id: order.fund.id,
    strategy_id: order.strategyId,
    symbol: order.book.symbol,
    side: order.side,
    quantity: decimal.format(toDecimal(order.quantity)),
    amendments: order.amendments.map(({ quantity }) => decimal.format(toDecimal(quantity))),
    filled: decimal.format(toDecimal(order.filled)),
    ...(!isNothing(order.busted) && { busted: decimal.format(toDecimal(order.busted)) }),
    ended: order.ended,
    filled_told: decimal.format(toDecimal(order.filledReported)),
    terms_at: orNull(order.termsAt),
    ...(!Number.isNaN(order.endedAt) && { ended_at: order.endedAt }),
    ...(!Number.isNaN(order.workedAt) && { worked_at: order.workedAt }),
    ...(order.worked !== undefined && {
      worked: { at: order.worked.at, total: decimal.format(toDecimal(order.worked.total)) },
    }),
  };
}

function termsSnapshot({ id, sent, terms, amendments }: OpenOrder): TermsSnapshot {
  return {
    order_id: id,
    sent,
    terms: plainTerms(terms),
    amendments: amendments.map((amended) => plainTerms(amended.terms)),
  };
}

function approvalSnapshot(order: OpenOrder): ApprovalSnapshot {
  const { id, unsentUntil, evidenceAt, expiredOnce, amendments, dropped, askedBy, approvedAt: since } = order;
  return {
    order_id: id,
    asked_by: askedBy,
    since: orNull(since),
    unsent_until: orNull(unsentUntil),
    evidence_at: orNull(evidenceAt),
    expired_once: expiredOnce,
    amendments: amendments.map((amended) => orNull(amended.unsentUntil)),
    keys: amendments.map(({ key }) => key ?? null),
    approved_at: amendments.map(({ approvedAt }) => orNull(approvedAt)),
    dropped: dropped.map(({ quantity, terms, key, approvedAt, unsentUntil: until }) => ({
      quantity: decimal.format(toDecimal(quantity)),
      terms: plainTerms(terms),
      key: key ?? null,
      approved_at: orNull(approvedAt),
      unsent_until: orNull(until),
    })),
  };
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** Without what is absent, as JSON has it. */
function plainTerms(terms: OrderTerms | undefined): OrderTerms | null {
  if (terms === undefined) return null;
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined)) as unknown as OrderTerms;
}

/** Whether it says everything that is kept today. One from before does not: the journal, folded from its beginning, has it. */
export function isWhole({ approvals, brokers, strategy_positions, expired, unfilled }: EngineSnapshot): boolean {
  if (approvals === undefined || brokers === undefined || strategy_positions === undefined) return false;
  if (unfilled === undefined) return false;
  return (expired ?? []).every(({ released }) => released !== undefined);
}

/** Into an engine that has decided nothing yet; reference data, envelopes and the rest may come before or after. */
export function restoreSnapshot(state: EngineState, snapshot: EngineSnapshot): void {
  const { books, orders } = state;
  if (snapshot.form !== 1) throw new Defect(`a snapshot of form ${String(snapshot.form)} is not known`);
  if (state.sequence !== 0 || orders.open.count() > 0)
    throw new Defect("a snapshot is restored before the first decision");
  state.lastAt = instant.parse(snapshot.at);
  for (const { fund_id, positions, pace } of snapshot.funds) {
    const fund = fundBookOf(books, fund_id);
    for (const [symbol, quantity] of positions) {
      movePosition(books, fund, symbolBookOf(books, symbol), parseAmount(quantity));
    }
    refill(fund.pace, pace);
  }
  for (const [fund_id, symbol, broker, quantity] of snapshot.brokers ?? []) {
    addHolding(books, { fund_id, symbol, broker }, parseAmount(quantity));
  }
  for (const [fundId, strategyId, symbol, quantity] of snapshot.strategy_positions ?? []) {
    moveStrategyPosition(books.strategyPositions, fundId, strategyId, symbol, parseAmount(quantity));
  }
  for (const strategy of snapshot.strategies) restoreStrategy(state, strategy);
  const terms = new Map((snapshot.terms ?? []).map((one) => [one.order_id, one]));
  const approvals = new Map((snapshot.approvals ?? []).map((one) => [one.order_id, one]));
  for (const order of snapshot.orders) {
    restoreOne(state, order, terms.get(order.order_id), approvals.get(order.order_id));
  }
  if (snapshot.blocks !== undefined) restoreAcceptance(state, snapshot.blocks);
  // With nothing left to trade each leaves as it did.
  for (const { order, terms: kept, approval } of snapshot.unfilled ?? []) restoreOne(state, order, kept, approval);
  for (const expired of snapshot.expired ?? []) {
    const order = restoreOne(state, expired.order, expired.terms, expired.approval);
    order.expired = true;
    order.released = expired.released ?? false;
    orders.expired.set(order.id, order);
    settle(books, orders, order);
  }
}

function refill(ring: InstantRing, moments: readonly number[]): void {
  for (const at of moments) addInstant(ring, instant.fromMicroseconds(at), instant.microsecondsPerSecond);
}

function restoreStrategy(state: EngineState, snapshot: StrategySnapshot): void {
  const { books } = state;
  const strategy = strategyBookOf(books, snapshot.strategy_id);
  setTripped(state, strategy, snapshot.tripped_at === null ? undefined : instant.parse(snapshot.tripped_at));
  refill(strategy.pace, snapshot.pace);
  // Those that were approved longest ago come first, as they did.
  const repeats = [...snapshot.repeats].sort((left, right) => (left.at.at(-1) ?? 0) - (right.at.at(-1) ?? 0));
  for (const { symbol, side, quantity, window_ms, at: moments } of repeats) {
    const book = symbolBookOf(books, symbol);
    for (const moment of moments) {
      const at = instant.fromMicroseconds(moment);
      countApproval(strategy, { book, side, quantity: parseAmount(quantity), at, windowMs: window_ms });
    }
  }
}

function restoreOne(
  { books, orders }: EngineState,
  snapshot: OrderSnapshot,
  kept: TermsSnapshot | undefined,
  approval: ApprovalSnapshot | undefined,
): OpenOrder {
  const direction = directionOf(snapshot.side);
  if (direction === 0) throw new Defect(`an order in a snapshot has the side ${snapshot.side}`);
  const fund = fundBookOf(books, snapshot.fund_id);
  const book = symbolBookOf(books, snapshot.symbol);
  const until = approval?.unsent_until ?? Number.NaN;
  const order = reserve(books, orders, fund, book, snapshot, direction, parseAmount(snapshot.quantity), until);
  order.askedBy = approval?.asked_by ?? "";
  order.approvedAt = approval?.since ?? Number.NaN;
  restoreOrder(books, orders, order, {
    terms: kept?.terms ?? undefined,
    amendments: snapshot.amendments.map((quantity, index) => ({
      quantity: parseAmount(quantity),
      terms: kept?.amendments[index] ?? undefined,
      key: approval?.keys?.[index] ?? undefined,
      approvedAt: approval?.approved_at?.[index] ?? Number.NaN,
      unsentUntil: approval?.amendments[index] ?? Number.NaN,
    })),
    evidenceAt: approval?.evidence_at ?? Number.NaN,
    dropped: (approval?.dropped ?? []).map(({ quantity, terms, key, approved_at, unsent_until }) => ({
      quantity: parseAmount(quantity),
      terms: terms ?? undefined,
      key: key ?? undefined,
      approvedAt: approved_at ?? Number.NaN,
      unsentUntil: unsent_until ?? Number.NaN,
    })),
    sent: kept?.sent ?? false,
    expiredOnce: approval?.expired_once ?? false,
    filled: parseAmount(snapshot.filled),
    busted: parseAmount(snapshot.busted ?? "0"),
    ended: snapshot.ended,
    filledReported: parseAmount(snapshot.filled_told),
    termsAt: snapshot.terms_at ?? Number.NaN,
    endedAt: snapshot.ended_at ?? Number.NaN,
    workedAt: snapshot.worked_at ?? Number.NaN,
    worked: snapshot.worked && { at: snapshot.worked.at, total: parseAmount(snapshot.worked.total) },
  });
  return order;
}
