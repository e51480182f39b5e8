// The risk engine's core: a state machine that is told what happened and asked about orders, and answers from nothing else. It reads no
// clock and does no input or output; the same calls in the same order give the same answers.
//
// Contract with the shell:
//  1. `check` decides and reserves at once. The message (`decisionMessage`) and the inputs of a result are made before the next call of
//     `check`, `conclude` or `headroom`; results that wait (duplicates, and those to ask the risk officer about) keep theirs.
//  2. A result whose record could not be stored is withdrawn; several of them newest first.
//  3. A fill that came before is not applied again: the shell asks its store.
//  4. Decisions never go back in time: one that is asked for an earlier moment than the last is made at the last one's.

import type { Denial } from "../../contracts/src/codes.ts";
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type {
  Approval,
  ExposureLine,
  Headroom,
  ThrottleStatus,
} from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { Mark } from "../../contracts/src/records/market.ts";
import type { Fill, FillReversal, OrderTransition } from "../../contracts/src/records/order.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { setConditions } from "../blocks/condition-book.ts";
import { setRestrictions } from "../blocks/restriction-book.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { doubtOf } from "../exposure/doubts.ts";
import { catchUp, sectorGross, unpricedSymbols } from "../exposure/exposure.ts";
import { type Amount, isNothing, minus, toDecimal } from "../money/amount.ts";
import { toExact } from "../money/exact.ts";
import { type ApprovalsQuestion, approvalOf, listApprovals } from "../orders/approval-list.ts";
import { applyReversal } from "../orders/busts.ts";
import { ownerOfOrder } from "../orders/keep-to-owner.ts";
import type { HandOver } from "../orders/order-owner.ts";
import { applyTransition, endOrder, type TransitionEffect } from "../orders/order-transitions.ts";
import { applyFill, type FillEffect } from "../orders/reservations.ts";
import { release } from "../orders/throttle.ts";
import {
  allUnsent,
  type Confirmed,
  confirmSent,
  type Expiry,
  expire,
  noSweep,
  type Swept,
  sweepUnsent,
  type Unsent,
  type UnsentEnd,
  unexpire,
} from "../orders/unsent-approvals.ts";
import { type Asker, unknownAsker } from "../orders/waiting-exits.ts";
import * as fundStates from "../state/fund-state.ts";
import { sumOf } from "../state/fund-state.ts";
import type { StandingCondition } from "../state/standing-condition.ts";
import type { Verdict } from "../state/view.ts";
import { type Acceptance, acceptanceOf } from "./acceptance.ts";
import { adoptDecision } from "./adopt-decision.ts";
import { type BlockedFund, firmBlocks, fundBlocks, fundsToAsk, symbolBlocks, symbolsToAsk } from "./blocks.ts";
import { check, conclude, withdraw } from "./check.ts";
import type { Checked as CheckResult } from "./decision.ts";
import { bodyOfBytes, type Hash, hashOfBytes } from "./fast/order-hash.ts";
import { headroom } from "./headroom.ts";
import type { HeadroomQuestion } from "./limits-in-force.ts";
import { type EngineSnapshot, restoreSnapshot, takeSnapshot } from "./snapshot.ts";
import type { StandingBlock } from "./standing.ts";
import {
  createEngineState,
  type EngineState,
  type HaltState,
  type HeldSymbol,
  noteClock,
  type EngineOptions as Options,
  setEnvelope,
  setHalts,
  setHeldSymbols,
  setMark,
  setNav,
  setReference,
  setTripped,
} from "./state.ts";
import { noteFill, type Values, valuesOf } from "./vouching/judge-value.ts";
import { compareMark } from "./vouching/price-ranges.ts";
import { reserveWithdrawal, type WithdrawalAsked } from "./withdrawal.ts";

export type Checked = CheckResult;
export type EngineOptions = Options;

interface EngineFacts {
  readonly funds: number;
  readonly strategies: number;
  readonly symbols: number;
  /** Symbols held or pending, over all funds. */
  readonly lines: number;
  readonly openOrders: number;
  readonly keys: number;
  readonly keyBytes: number;
  readonly throttled: number;
  readonly haltsKnown: boolean;
  readonly haltEpoch: number;
}

/** A fund's exposure as the engine counts it: exact products, in units of 10^-36. */
interface FundExposure {
  readonly gross: bigint;
  readonly netHigh: bigint;
  readonly netLow: bigint;
  readonly sectors: ReadonlyMap<string, bigint>;
  readonly unpriced: readonly string[];
  readonly openOrders: number;
}

export interface Engine {
  setReference(contents: ReferenceContents): void;
  setEnvelope(envelope: Envelope): void;
  setNav(nav: NavUpdated, counts?: Decimal): void;
  /** Values of funds, as they are heard. */
  readonly values: Values;
  setMark(mark: Mark): void;
  /** One of a source that is named and does not count at present: that the two differ is found out. */
  compareMark(mark: Mark): void;
  /** What the clock shows. When it was set back, marks and values that are dated later count as of now, so that newer ones take their place. */
  noteClock(now: Instant): void;
  setHalts(halts: HaltState): void;
  /** What denies new risk, as its source says it: all that this source hands in, in place of what it handed in before. The shell does so before it serves. */
  setConditions(source: string, standing: readonly StandingCondition[]): void;
  /** Symbols in which nothing is decided because of a corporate action; replaces all that were. */
  setHeldSymbols(held: readonly HeldSymbol[]): void;
  heldSymbols(): readonly string[];
  /** What watchdogs keep from being done; replaces all that were. */
  setRestrictions(restrictions: readonly Restriction[]): void;
  /** What admins handed from one source to another, in the order in which it was done; replaces all that was. */
  setHandOvers(handOvers: readonly HandOver[]): void;
  /** The source that an order belongs to; undefined for one that is not remembered, and where nobody knows who asked. */
  ownerOf(orderId: string): string | undefined;
  check(order: Order, at: Instant, asker?: Asker): Checked;
  /** The second half of a check whose outcome is "ask", with the risk officer's answer. */
  conclude(asked: Checked, verdict: Verdict, at: Instant): Checked;
  withdraw(checked: Checked): void;
  applyFill(fill: Fill): FillEffect;
  /** Takes a busted fill back; one that came before is not applied again, as with fills. */
  applyReversal(reversal: FillReversal): void;
  applyTransition(transition: OrderTransition): TransitionEffect;
  /** One stretch of a sweep over all open orders: those whose unsent approvals run out by then. From 0 a new sweep begins. */
  sweepUnsent(through: Instant, from: number, countMax: number): Swept;
  /** Everything of the order that nothing shows to be sent; undefined when there is nothing. */
  unsent(orderId: string): Unsent | undefined;
  /** The order's unsent approvals up to that `valid_until` hold nothing any more; undefined when there are none. */
  expire(orderId: string, through: Instant, end?: UnsentEnd): Expiry | undefined;
  /** As if it had not been. */
  unexpire(expiry: Expiry): void;
  /** Its owner says that it was sent; undefined for an order that is not known. */
  confirmSent(orderId: string): Confirmed | undefined;
  /** An operator says that it has ended; nothing happens to an order that is not open. */
  endOrder(orderId: string, at: Instant): void;
  /** Everything that is reserved, order by order; of one fund when it is named, at most so many. */
  approvals(question: ApprovalsQuestion): readonly Approval[];
  /** What is known of one order's approval; also of one that ran out. */
  approval(orderId: string): Approval | undefined;
  /** False when the throttle had not tripped. */
  releaseThrottle(strategyId: string): boolean;
  /** Undefined for a strategy that is not known. */
  throttle(strategyId: string): ThrottleStatus | undefined;
  /** A decision that was stored before this engine began: what it approved is reserved, what it tripped is tripped. */
  adoptDecision(order: Order, decision: RiskDecision, at: Instant, askedBy?: string): void;
  /**
   * A key that was seen before this engine began; a sighting that is known already stays. False when an earlier version made its hashes: then
   * the order itself must be remembered.
   */
  rememberKey(keyHash: Uint8Array, bodyHash: Uint8Array, at: Instant): boolean;
  rememberOrder(order: Order, at: Instant, askedBy?: string): void;
  /** Why money may not leave a fund; undefined when it may, and then it counts as gone. */
  reserveWithdrawal(asked: WithdrawalAsked, now: Instant): Denial | undefined;
  headroom(question: HeadroomQuestion, at: Instant): Headroom;
  /** A question about the state that changes nothing of it but the view, which belongs to the next check anyway. */
  read<Answer>(question: (state: EngineState) => Answer): Answer;
  /** The standing conditions that deny new risk, in parts, so that nobody waits long for an answer about all of them. */
  readonly blocks: {
    funds(): readonly BlockedFund[];
    symbols(fundId: string | undefined, countMax: number): readonly string[];
    ofFirm(at: Instant): readonly StandingBlock[];
    ofFund(fundId: string, at: Instant): readonly StandingBlock[];
    ofSymbols(fundId: string, symbols: readonly string[], at: Instant): readonly StandingBlock[];
  };
  /** What an operator must accept before new risk passes. */
  readonly acceptance: Acceptance;
  snapshot(): EngineSnapshot;
  restore(snapshot: EngineSnapshot): void;
  facts(): EngineFacts;
  /** Undefined for a fund that nobody ever named. */
  exposure(fundId: string): FundExposure | undefined;
  /** What is held and pending, line by line over all funds; nothing is valued. */
  lines(): readonly ExposureLine[];
}

export function createEngine(options: EngineOptions): Engine {
  const state = createEngineState(options);
  const sweep = noSweep();
  return {
    setReference: (contents) => setReference(state, contents),
    setEnvelope: (envelope) => setEnvelope(state, envelope),
    setNav: (nav, counts) => setNav(state, nav, counts),
    values: valuesOf(state),
    setMark: (mark) => setMark(state, mark),
    compareMark: (mark) => compareMark(state, mark),
    noteClock: (now) => noteClock(state, now),
    setHalts: (halts) => setHalts(state, halts),
    setConditions: (source, standing) => setConditions(state.conditions, state.books, source, standing),
    setHeldSymbols: (held) => setHeldSymbols(state, held),
    heldSymbols: () => [...state.heldSymbols],
    setRestrictions(restrictions) {
      const standing = setRestrictions(state.restrictions, restrictions);
      setConditions(state.conditions, state.books, "restrictions", standing);
    },
    setHandOvers(handOvers) {
      state.handOvers = handOvers;
    },
    ownerOf: (orderId) => ownerOfOrder(state, orderId),
    check: (order, at, asker = unknownAsker) => check(state, order, at, asker),
    conclude: (asked, verdict, at) => conclude(state, asked, verdict, at),
    withdraw: (checked) => withdraw(state, checked),
    applyFill(fill) {
      noteFill(state, fill);
      return applyFill(state.books, state.orders, fill);
    },
    applyReversal(reversal) {
      noteFill(state, reversal);
      applyReversal(state.books, state.orders, reversal);
    },
    applyTransition: (transition) => applyTransition(state.books, state.orders, transition),
    sweepUnsent: (through, from, countMax) => sweepUnsent(state.orders, sweep, through, from, countMax),
    unsent: (orderId) => allUnsent(state.orders, orderId),
    expire: (orderId, through, end) => expire(state.books, state.orders, orderId, through, end),
    unexpire: (expiry) => unexpire(state.books, state.orders, expiry),
    confirmSent: (orderId) => confirmSent(state.books, state.orders, orderId),
    endOrder: (orderId, at) => endOrder(state.books, state.orders, orderId, at),
    approvals: (question) => listApprovals(state.orders, question, (order) => ownerOfOrder(state, order.id)),
    approval: (orderId) => approvalOf(state.orders, orderId, (order) => ownerOfOrder(state, order.id)),
    releaseThrottle(strategyId) {
      const strategy = state.books.strategies.get(strategyId);
      if (strategy === undefined || !release(strategy)) return false;
      setTripped(state, strategy, undefined);
      return true;
    },
    throttle: (strategyId) => throttleStatus(state, strategyId),
    adoptDecision: (order, decision, at, askedBy = "") => adoptDecision(state, order, decision, at, askedBy),
    rememberKey(keyHash, bodyHash, at) {
      const [key, body] = [hashOfBytes(keyHash), bodyOfBytes(bodyHash)];
      if (key === undefined || body === undefined) return false;
      rememberKey(state, key, body, at);
      return true;
    },
    rememberOrder(order, at, askedBy = "") {
      const { key, body } = state.hasher.read(order);
      rememberKey(state, key, state.ofAsker(body, askedBy), at);
    },
    reserveWithdrawal: (asked, now) => reserveWithdrawal(state, asked, now),
    headroom: (question, at) => headroom(state, question, at),
    read: (question) => question(state),
    blocks: {
      funds: () => fundsToAsk(state),
      symbols: (fundId, countMax) => symbolsToAsk(state, fundId, countMax),
      ofFirm: (at) => firmBlocks(state, at),
      ofFund: (fundId, at) => fundBlocks(state, fundId, at),
      ofSymbols: (fundId, symbols, at) => symbolBlocks(state, fundId, symbols, at),
    },
    acceptance: acceptanceOf(state),
    snapshot: () => takeSnapshot(state),
    restore: (snapshot) => restoreSnapshot(state, snapshot),
    facts: () => factsOf(state),
    exposure: (fundId) => exposureOf(state, fundId),
    lines: () => linesOf(state),
  };
}

function rememberKey({ keys }: EngineState, key: Hash, body: Hash, at: Instant): void {
  if (Number.isNaN(keys.find(key, body, at))) keys.remember(key, body, at);
}

function throttleStatus({ books }: EngineState, strategyId: string): ThrottleStatus | undefined {
  const strategy = books.strategies.get(strategyId);
  if (strategy === undefined) return undefined;
  const { trippedAt } = strategy;
  return {
    strategy_id: strategyId,
    fund_id: strategy.fund?.id ?? "",
    tripped: trippedAt !== undefined,
    since: trippedAt === undefined ? undefined : instant.format(trippedAt),
  };
}

function factsOf({ books, orders, keys, halts }: EngineState): EngineFacts {
  let lines = 0;
  for (const fund of books.funds.values()) lines += fund.count;
  let throttled = 0;
  for (const strategy of books.strategies.values()) if (strategy.trippedAt !== undefined) throttled += 1;
  return {
    funds: books.funds.size,
    strategies: books.strategies.count(),
    symbols: books.symbols.count(),
    lines,
    openOrders: orders.open.count(),
    keys: keys.count(),
    keyBytes: keys.bytes(),
    throttled,
    haltsKnown: halts.known,
    haltEpoch: halts.epoch,
  };
}

function exposureOf({ books }: EngineState, fundId: string): FundExposure | undefined {
  const fund = books.funds.get(fundId);
  if (fund === undefined) return undefined;
  catchUp(books, fund);
  const sectors = [...books.sectorNumbers].map(
    ([sector, number]) => [sector, toExact(sectorGross(books, fund, number))] as const,
  );
  return {
    gross: toExact(sumOf(fund, fundStates.gross)),
    netHigh: toExact(sumOf(fund, fundStates.netHigh)),
    netLow: toExact(sumOf(fund, fundStates.netLow)),
    sectors: new Map(sectors.filter(([, gross]) => gross !== 0n)),
    unpriced: unpricedSymbols(books, fund),
    openOrders: fund.openOrders,
  };
}

/** What fills that nobody vouches for may do is no open order, and a line of nothing else is none. */
function linesOf({ books }: EngineState): readonly ExposureLine[] {
  const text = (amount: Amount): string => decimal.format(toDecimal(amount));
  return [...books.funds.values()].flatMap((fund) =>
    fundStates.slotsOf(fund).flatMap((slot) => {
      const row = fundStates.rowOf(fund, slot);
      const { buys, sells } = doubtOf(fund, slot);
      const quantity = fundStates.positionAt(fund, row);
      const pendingBuy = minus(fundStates.pendingBuyAt(fund, row), buys);
      const pendingSell = minus(fundStates.pendingSellAt(fund, row), sells);
      if (fund.doubts !== undefined && [quantity, pendingBuy, pendingSell].every(isNothing)) return [];
      return {
        fund_id: fund.id,
        symbol: books.bySlot[slot]?.symbol ?? "",
        quantity: text(quantity),
        pending_buy: text(pendingBuy),
        pending_sell: text(pendingSell),
      };
    }),
  );
}
