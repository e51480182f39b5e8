// A strategy's year, day by day: the very function that trades live is asked after every close, its targets are traded at that close, and on the
// last day everything is sold again. Returns are on the strategy's own allocation, after fees.
//
//  1. A day's opinion sees prices up to that day's close and earns from the next day on.
//  2. What was bought in all equals what was sold in all, per symbol.
//  3. Profit is exact: the cash of every trade, and what is held at the close.
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import { informationCoefficient, momentsMax, type RealisedSignal } from "../stats/information-coefficient.ts";
import { type Performance, performanceOf } from "../stats/performance.ts";
import { type BacktestBook, type BacktestTrade, backtestBook } from "./backtest-account.ts";
import { exactFraction, type Strategy, type StrategyOpinion } from "./shape.ts";

type Decimal = decimal.Decimal;

/** One day of prices. */
export interface BacktestClose {
  /** A date: 2026-11-15. */
  readonly day: string;
  readonly at: Instant;
  readonly closes: ReadonlyMap<string, Decimal>;
}

interface BacktestDay {
  readonly day: string;
  readonly return: number;
  /** Of what was said the day before and this day's returns; null on days with too few symbols. */
  readonly informationCoefficient: number | null;
  /** Since the beginning, fees included, and what is held at this close. */
  readonly profit: Decimal;
  readonly held: Decimal;
}

export interface Backtested extends Performance {
  readonly days: readonly BacktestDay[];
  readonly trades: readonly BacktestTrade[];
  /** What it said of every symbol after each day's close. */
  readonly signals: readonly BacktestSignals[];
}

interface BacktestSignals {
  readonly day: string;
  readonly signals: StrategyOpinion["signals"];
}

export function backtest(
  strategy: Strategy,
  days: readonly BacktestClose[],
  instruments: ReadonlyMap<string, Instrument>,
  nav: Decimal,
  /** Days before this one are only looked back on. */
  from = "",
): Backtested {
  const money = decimal.toNumber(decimal.multiply(nav, exactFraction(strategy.allocationPct), "down"));
  const book = backtestBook(instruments);
  const rows = new Map<string, number[]>();
  const moments: RealisedSignal[][] = [];
  const results: BacktestDay[] = [];
  const signals: BacktestSignals[] = [];
  let opinion: StrategyOpinion = { signals: [], targets: [] };
  for (const [place, today] of days.entries()) {
    if (place > 0) moments.push(realised(opinion, days[place - 1], today));
    if (moments.length > momentsMax) moments.shift();
    for (const [symbol, close] of today.closes) push(rows, symbol, decimal.toNumber(close), strategy.lookback);
    const { closes: prices, at } = today;
    const { allocationPct } = strategy;
    opinion = strategy.judge({ closes: rows, prices, instruments, positions: book.positions, nav, allocationPct, at });
    if (today.day < from) continue;
    signals.push({ day: today.day, signals: opinion.signals });
    if (place === days.length - 1) closeAll(book, today);
    else if (results.length % strategy.tradesEveryDays === 0) follow(book, today, opinion);
    const before = results.at(-1)?.profit ?? decimal.zero;
    const { profit, held } = book.valueAt(prices);
    results.push({
      day: today.day,
      return: money === 0 ? 0 : decimal.toNumber(decimal.subtract(profit, before)) / money,
      informationCoefficient: moments.length === 0 ? null : informationCoefficient(strategy.signalled.length, moments),
      profit,
      held,
    });
  }
  const returns = results.slice(1).map((day) => day.return);
  return { ...performanceOf(returns, strategy.daysPerYear), days: results, trades: book.trades, signals };
}

function push(rows: Map<string, number[]>, symbol: string, close: number, countMax: number): void {
  const row = rows.get(symbol) ?? [];
  row.push(close);
  if (row.length > countMax) row.shift();
  rows.set(symbol, row);
}

function realised(
  opinion: StrategyOpinion,
  yesterday: BacktestClose | undefined,
  today: BacktestClose,
): RealisedSignal[] {
  return opinion.signals.flatMap(({ symbol, value }) => {
    const from = yesterday?.closes.get(symbol);
    const to = today.closes.get(symbol);
    if (from === undefined || to === undefined || decimal.sign(from) <= 0) return [];
    return [{ symbol, value, realised: decimal.toNumber(to) / decimal.toNumber(from) - 1 }];
  });
}

function follow(book: BacktestBook, today: BacktestClose, opinion: StrategyOpinion): void {
  for (const { symbol, quantity } of opinion.targets) {
    const price = today.closes.get(symbol);
    if (price !== undefined) book.tradeTo(today.day, symbol, quantity, price);
  }
}

function closeAll(book: BacktestBook, today: BacktestClose): void {
  for (const symbol of [...book.positions.keys()]) {
    const price = today.closes.get(symbol);
    if (price !== undefined) book.tradeTo(today.day, symbol, decimal.zero, price);
  }
}
