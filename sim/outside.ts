// What is outside of the platform in a simulated run and outlives every process of it: the market, the broker's books, and what both are made to
// suffer. The simulator may look into the books at any moment; the platform only asks.

import type { PaperBooks } from "../adapters/paper-broker/paper-books.ts";
import { type PaperBroker, paperBroker } from "../adapters/paper-broker/paper-broker.ts";
import { paperMarket, pricesOf } from "../adapters/paper-market/paper-market.ts";
import { paperMarketHistory } from "../adapters/paper-market/paper-market-history.ts";
import * as decimal from "../contracts/src/decimal.ts";
import { format, type Instant, plusMilliseconds } from "../contracts/src/instant.ts";
import type { PaperWeather } from "../contracts/src/records/fund.ts";
import { isBuy, isOpenState, type PaperOrder } from "../core/paper/paper-matching.ts";
import { movePosition, type PaperPosition } from "../core/paper/paper-positions.ts";
import type { StoredAction } from "../ports/corporate-actions.ts";
import type { MarketHistory } from "../ports/market-history.ts";
import type { Quotes } from "../ports/quotes.ts";
import type { MarketSettings } from "../ports/settings.ts";
import { paperListings, paperPositions } from "../services/shared/paper-seeds.ts";
import { memoryPaperBooks } from "../testkit/memory/memory-books.ts";
import type { Scheduler } from "../testkit/virtual/scheduler.ts";
import { silentLog } from "./silent-ports.ts";

export interface Outside {
  readonly quotes: Quotes;
  readonly history: MarketHistory;
  /** A connection of one process to the broker. */
  connect(): PaperBroker;
  /** The broker's open orders, by our id, and what each account holds, by account and symbol. */
  readonly open: ReadonlyMap<string, PaperOrder>;
  readonly held: ReadonlyMap<string, PaperPosition>;
  /** Orders that ever arrived, with how often each was new to the broker. */
  readonly arrived: ReadonlyMap<string, number>;
  /** How often an order or a position of the broker has changed. */
  changes(): number;
  /** How many reports the broker has made. */
  reports(): number;
  /** What is called so now that was listed, or is called, by that name. */
  nameNow(symbol: string): string;
  bidAsk(symbol: string): { readonly bid: number; readonly ask: number };
  /** Of an option, as the market has it now. */
  delta(symbol: string): number | undefined;
  silence(forMs: number): void;
  gap(symbol: string, pct: number): void;
  /** Symbols that are neither quoted nor traded from now on; replaces those before. */
  haltSymbols(symbols: readonly string[]): void;
  loseReports(share: number): void;
  /** From now on it answers everybody, and no report is lost. Prices stay where they are. */
  clearUp(): void;
}

const latencyMs = 3;
export const heldKey = (account: string, symbol: string): string => `${account} ${symbol}`;

export function outside(
  { clock, timers }: Pick<Scheduler, "clock" | "timers">,
  market: MarketSettings,
  actions: () => readonly StoredAction[],
  /** What operators had it suffer. */
  asked: () => PaperWeather | undefined,
): Outside {
  const beganAt = clock.now();
  let suffered: PaperWeather = { set_by: "sim", reason: "simulated", at: format(beganAt) };
  let isFair = false;
  const faults = (): PaperWeather => withAsked(suffered, asked(), isFair);
  const known = () => ({ actions: actions(), readAt: clock.now() });
  const marketOptions = { clock, timers, ...market, listings: paperListings, beganAt, faults, actions: known };
  const prices = pricesOf(marketOptions);
  const open = new Map<string, PaperOrder>();
  const held = new Map<string, PaperPosition>();
  const arrived = new Map<string, number>();
  const reported = { count: 0, changes: 0 };
  const books = watchedBooks(open, held, arrived, reported);
  const nameNow = (symbol: string): string => prices.namesNow(symbol).at(-1) ?? symbol;
  return {
    quotes: paperMarket(marketOptions),
    history: withoutYears(paperMarketHistory(marketOptions)),
    connect: () =>
      paperBroker({
        clock,
        timers,
        log: silentLog,
        books,
        faults,
        instruments: prices.listings,
        sessions: "always",
        latencyMs,
      }),
    open,
    held,
    arrived,
    changes: () => reported.changes,
    reports: () => reported.count,
    nameNow,
    bidAsk(symbol) {
      const { bid, ask } = prices.quote(nameNow(symbol), clock.now());
      return { bid: Number(bid), ask: Number(ask) };
    },
    delta: (symbol) => prices.quote(nameNow(symbol), clock.now()).greeks?.delta,
    silence(forMs) {
      suffered = { ...suffered, broker_silent_until: format(plusMilliseconds(clock.now(), forMs)) };
    },
    gap(symbol, pct) {
      const gaps = [...(suffered.gaps ?? []), { symbol, pct, from: format(clock.now()) }].slice(-100);
      suffered = { ...suffered, gaps };
    },
    haltSymbols(symbols) {
      suffered = { ...suffered, halted_symbols: [...symbols] };
    },
    loseReports(share) {
      suffered = { ...suffered, report_loss_pct: share, report_repeat_pct: share };
    },
    clearUp() {
      isFair = true;
      suffered = {
        ...suffered,
        report_loss_pct: 0,
        report_repeat_pct: 0,
        broker_silent_until: format(clock.now() as Instant),
      };
    },
  };
}

/** What both make of it; when it is fair only moved prices stay as they are. */
function withAsked(suffered: PaperWeather, asked: PaperWeather | undefined, isFair: boolean): PaperWeather {
  if (asked === undefined) return suffered;
  const gaps = [...(suffered.gaps ?? []), ...(asked.gaps ?? [])];
  if (isFair) return { ...suffered, gaps };
  const { broker_silent_until: own = "", report_loss_pct: lost = 0, report_repeat_pct: repeated = 0 } = suffered;
  const { broker_silent_until: wanted = "", halted_symbols = [] } = asked;
  const silentUntil = own > wanted ? own : wanted;
  return {
    ...suffered,
    ...(silentUntil !== "" && { broker_silent_until: silentUntil }),
    report_loss_pct: Math.max(lost, asked.report_loss_pct ?? 0),
    report_repeat_pct: Math.max(repeated, asked.report_repeat_pct ?? 0),
    gaps,
    halted_symbols,
  };
}

/** The books, and what they hold after every change. */
function watchedBooks(
  open: Map<string, PaperOrder>,
  held: Map<string, PaperPosition>,
  arrived: Map<string, number>,
  reported: { count: number; changes: number },
): PaperBooks {
  const books = memoryPaperBooks();
  return {
    ...books,
    change: (selection, decide) =>
      books.change(selection, (view) => {
        const decided = decide(view);
        reported.count += decided.changes?.reports.length ?? 0;
        reported.changes += (decided.changes?.orders.length ?? 0) + (decided.changes?.positions.length ?? 0);
        for (const order of decided.changes?.orders ?? []) {
          const id = order.clientOrderId;
          if (view.order === undefined && selection.orderId === id) arrived.set(id, (arrived.get(id) ?? 0) + 1);
          if (isOpenState(order.state)) open.set(id, order);
          else open.delete(id);
        }
        for (const one of decided.changes?.positions ?? []) held.set(heldKey(one.account, one.symbol), one);
        return decided;
      }),
  };
}

/** Backtests look at years of days, which take longer to compute than everything else of a run; here nobody traded before today. */
function withoutYears(history: MarketHistory): MarketHistory {
  return {
    ...history,
    bars: (symbol, interval, from, to, countMax) =>
      interval === "1d"
        ? Promise.resolve({ known: true, bars: [] })
        : history.bars(symbol, interval, from, to, countMax),
  };
}

/** What the broker holds when its books begin: an account is a fund, so strategies that hold the same are added up. */
export function firstHoldings(): readonly PaperPosition[] {
  const all = new Map<string, PaperPosition>();
  for (const { fundId: account, symbol, side, quantity, price } of paperPositions) {
    const key = heldKey(account, symbol);
    const before = all.get(key) ?? { account, symbol, quantity: decimal.zero, averagePrice: decimal.zero };
    const units = decimal.parse(quantity);
    all.set(key, movePosition(before, isBuy(side) ? units : decimal.negate(units), decimal.parse(price)));
  }
  return [...all.values()];
}
