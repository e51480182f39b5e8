// The conditions that stand, as their sources handed them in, and which of them cover an order. A check asks for nothing while none can stand: that is one
// comparison with the earliest moment of what is about more than one fund, and one with the fund's own.
//
// Invariants (condition-book.test.ts holds them against a list):
//  1. What a source hands in replaces all that it handed in before, and nothing of another source.
//  2. What covers an order is found from its moment on: of each code the widest, of those the one that was handed in first, with how many there are.
//  3. Before `from` and before the fund's own moment nothing covers an order of that fund.
import type { DenialCode } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import * as fundStates from "../state/fund-state.ts";
import { setHead } from "../state/fund-state.ts";
import { type Books, fundBookOf } from "../state/records.ts";
import { noneStands, type StandingCondition } from "../state/standing-condition.ts";
import { conditionOf, placeOf } from "./index.ts";

type Standing = StandingCondition;
type ByName = Map<string, Standing[]>;
type Names = Pick<Order, "fund_id" | "strategy_id" | "symbol">;

export interface ConditionBook {
  /** The earliest moment of those that are about more than one fund. */
  from: number;
  readonly bySource: Map<string, readonly Standing[]>;
  /** About the whole firm, under the empty name. */
  readonly firm: ByName;
  readonly strategies: ByName;
  /** In every fund. */
  readonly symbols: ByName;
  /** By fund and symbol; about the whole fund under the empty one. */
  readonly funds: Map<string, ByName>;
}

export function createConditionBook(): ConditionBook {
  const [firm, strategies, symbols] = [new Map(), new Map(), new Map()];
  return { from: Number.POSITIVE_INFINITY, bySource: new Map(), firm, strategies, symbols, funds: new Map() };
}

const momentOf = ({ from = Number.NEGATIVE_INFINITY }: Standing): number => from;

/** Replaces all that this source handed in before. */
export function setConditions(book: ConditionBook, books: Books, source: string, standing: readonly Standing[]): void {
  const before = book.bySource.get(source) ?? noneStands;
  if (before.length === 0 && standing.length === 0) return;
  for (const one of before) leave(book, one);
  for (const one of standing) enter(book, one);
  if (standing.length === 0) book.bySource.delete(source);
  else book.bySource.set(source, standing);
  const touched = new Set([...before, ...standing].map(fundOf));
  for (const fundId of touched) {
    if (fundId === undefined) book.from = earliest([book.firm, book.strategies, book.symbols]);
    else setHead(fundBookOf(books, fundId), fundStates.conditionsFrom, earliest([book.funds.get(fundId)]));
  }
}

function earliest(parts: readonly (ByName | undefined)[]): number {
  let from = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    for (const some of part?.values() ?? []) for (const one of some) from = Math.min(from, momentOf(one));
  }
  return from;
}

/** The fund that it is about; undefined for what may be about several. A strategy may change its fund. */
function fundOf({ fundId, strategyId }: Standing): string | undefined {
  return strategyId === undefined ? fundId : undefined;
}

/** Where it stands, and under which name. */
function partOf(book: ConditionBook, one: Standing): readonly [ByName, string] {
  const { strategyId, symbol } = one;
  if (strategyId !== undefined) return [book.strategies, strategyId];
  const fundId = fundOf(one);
  if (fundId === undefined) return symbol === undefined ? [book.firm, ""] : [book.symbols, symbol];
  const own = book.funds.get(fundId) ?? new Map<string, Standing[]>();
  book.funds.set(fundId, own);
  return [own, symbol ?? ""];
}

function enter(book: ConditionBook, one: Standing): void {
  // What nobody could judge by must not be handed in.
  conditionOf(one.code);
  const [part, name] = partOf(book, one);
  const there = part.get(name);
  if (there === undefined) part.set(name, [one]);
  else there.push(one);
}

function leave(book: ConditionBook, one: Standing): void {
  const [part, name] = partOf(book, one);
  const rest = (part.get(name) ?? []).filter((other) => other !== one);
  if (rest.length > 0) part.set(name, rest);
  else part.delete(name);
  const fundId = fundOf(one);
  if (fundId !== undefined && part.size === 0) book.funds.delete(fundId);
}

/** What covers an order, as the gates ask for it. Only asked while something may stand; where nothing covers it nothing is made. */
export function conditionsOn(book: ConditionBook, order: Names, at: Instant, isPaper = false): readonly Standing[] {
  const { fund_id: fundId, strategy_id: strategyId, symbol } = order;
  const own = book.funds.get(fundId);
  const firm = standing(book.firm.get(""), at);
  const wholeFund = standing(own?.get(""), at);
  const strategy = standing(book.strategies.get(strategyId), at);
  const inFund = standing(symbol === "" ? undefined : own?.get(symbol), at);
  const inSymbol = ofMode(standing(book.symbols.get(symbol), at), isPaper);
  const count = firm.length + wholeFund.length + strategy.length + inFund.length + inSymbol.length;
  return count === 0 ? noneStands : inOrder(byCode([firm, wholeFund, strategy, inFund, inSymbol]));
}

function standing(some: readonly Standing[] | undefined, at: Instant): readonly Standing[] {
  if (some === undefined || !some.some((one) => at >= momentOf(one))) return noneStands;
  return some.filter((one) => at >= momentOf(one));
}

function ofMode(some: readonly Standing[], isPaper: boolean): readonly Standing[] {
  return some.some((one) => one.isPaper === !isPaper) ? some.filter((one) => one.isPaper !== !isPaper) : some;
}

/** Invariant 2. */
function byCode(widestFirst: readonly (readonly Standing[])[]): readonly Standing[] {
  const found = new Map<DenialCode, { readonly one: Standing; count: number }>();
  for (const one of widestFirst.flat()) {
    const first = found.get(one.code);
    if (first === undefined) found.set(one.code, { one, count: 1 });
    else first.count += 1;
  }
  return [...found.values()].map(({ one, count }) => (count === 1 ? one : { ...one, count }));
}

/** As a view has them. */
export function inOrder(standing: readonly Standing[]): readonly Standing[] {
  return [...standing].sort((one, other) => placeOf(one.code) - placeOf(other.code));
}

/** What is about a fund as a whole, by its code. */
export function ofWholeFund(book: ConditionBook, fundId: string, code: DenialCode, at: Instant): Standing | undefined {
  return book.funds
    .get(fundId)
    ?.get("")
    ?.find((one) => one.code === code && at >= momentOf(one));
}

/** Symbols in which the fund has such conditions of its own, or every fund has. */
export function symbolsWithConditions(
  { funds, symbols }: ConditionBook,
  fundId: string,
  isAsked: (code: DenialCode) => boolean,
): readonly string[] {
  const all = [...(funds.get(fundId) ?? []), ...symbols];
  const found = all.filter(([symbol, some]) => symbol !== "" && some.some(({ code }) => isAsked(code)));
  return [...new Set(found.map(([symbol]) => symbol))];
}
