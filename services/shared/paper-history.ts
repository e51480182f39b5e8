// The year before the paper platform began, as data: what the strategies would have done, day by day, on the paper market. Trades that close all that
// they opened, a value of every fund for every day, and the strategies' backtests. Whoever makes it again from the same market and the same last day
// gets the same, which its hash shows.
//
//  1. Per fund, strategy and symbol the trades sum to zero: the positions of today are none of its business.
//  2. A fund's last value is the capital that it begins with today; its first one is that minus what the year earned.
//  3. nav = cash + positionsValue, to the last decimal, on every day.
import { isOpen } from "../../contracts/src/calendar.ts";
import { alwaysOpen, usEquities } from "../../contracts/src/calendars.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { Fault } from "../../contracts/src/fault.ts";
import {
  civilFromDays,
  daysFromCivil,
  format,
  formatDate,
  fromUnixMs,
  type Instant,
  millisecondsPerDay,
  plusMilliseconds,
  tryParseDate,
} from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { canonicalJson } from "../../core/audit/canonical/canonical-json.ts";
import { type BacktestClose, type Backtested, backtest } from "../../core/strategies/backtest.ts";
import { strategies } from "../../core/strategies/index.ts";
import type { Strategy } from "../../core/strategies/shape.ts";
import type { Sha256 } from "../../ports/hashing.ts";
import type { MarketHistory } from "../../ports/market-history.ts";
import { paperCapital, paperReference } from "./paper-seeds.ts";

/** What a fund was worth at the end of a day, decimals as text. */
export interface HistoryNav {
  readonly fundId: string;
  readonly day: string;
  readonly nav: string;
  readonly cash: string;
  readonly positionsValue: string;
  /** What was held and at which close it counted: the market of today may tell another past, after a split for one. */
  readonly prices?: NavPrices;
}

type NavPrices = NonNullable<NavUpdated["prices"]>;

interface HistoryBacktest extends Omit<Backtested, "signals"> {
  readonly strategyId: string;
}

export interface PaperHistory {
  /** As it is remembered: once put in, never again. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly fills: readonly Fill[];
  readonly navs: readonly HistoryNav[];
  readonly backtests: readonly HistoryBacktest[];
  /** SHA-256 over all of it, in hexadecimal. */
  readonly hash: string;
}

interface PaperHistoryPorts {
  readonly marketHistory: Pick<MarketHistory, "closes">;
  readonly sha256: Sha256;
}

/** As it is remembered: once put in, never again. */
export const historyName = "paper-history";

const daysInHistory = 365;
/** Of its canonical text; a history is a few hundred thousand characters long. */
const historyLengthMax = 10_000_000;
/** Every strategy knows its prices this much earlier, so that it has an opinion on the first day. */
const daysBefore = 100;
/** When a day's trades are made: near the close of those who close, and of the day for those who do not. */
const tradedAtMs = { 252: 71_970_000, 365: 86_370_000 } as const;

/** The last whole day before that moment: where the history ends. */
export function lastHistoryDay(now: Instant): string {
  return dayBefore(format(now).slice(0, 10));
}

export function dayBefore(day: string): string {
  return dayText(dayNumber(day) - 1);
}

export async function paperHistory(ports: PaperHistoryPorts, to: string): Promise<PaperHistory> {
  const last = dayNumber(to);
  const first = last - daysInHistory + 1;
  const instruments = paperInstruments();
  const backtests: HistoryBacktest[] = [];
  const market = remembering(ports.marketHistory);
  const closed = new Map<string, BacktestClose["closes"]>();
  for (const strategy of strategies) {
    const days = await dailyCloses(market, strategy, instruments, dayText(first - daysBefore), to);
    for (const { day, closes } of days) closed.set(day, new Map([...(closed.get(day) ?? []), ...closes]));
    // The history is known by its hash, which never had the signals in it.
    const { signals: _signals, ...year } = backtestYear(strategy, days, instruments, dayText(first));
    backtests.push({ strategyId: strategy.name, ...year });
  }
  const fills = backtests.flatMap((one) => fillsOf(one));
  const navs = paperCapital
    .flatMap(({ fundId, amount }) => navsOf(fundId, decimal.parse(amount), backtests))
    .map((nav) => ({ ...nav, prices: pricesOf(nav, fills, closed) }));
  const whole = { name: historyName, from: dayText(first), to, fills, navs, backtests };
  return { ...whole, hash: hex(ports.sha256(canonicalText(whole))) };
}

/** The strategy's year on its own: what research shows. Days before `from` only give it something to look back on. */
export function backtestYear(
  strategy: Strategy,
  days: readonly BacktestClose[],
  instruments: ReadonlyMap<string, Instrument>,
  from: string,
): Backtested {
  const capital = paperCapital.find(({ fundId }) => fundId === strategy.fundId)?.amount ?? "1000000";
  return backtest(strategy, days, instruments, decimal.parse(capital), from);
}

export function paperInstruments(): ReadonlyMap<string, Instrument> {
  return new Map(paperReference("").instruments.map((instrument) => [instrument.symbol, instrument]));
}

/** Two strategies that watch the same symbol ask the market once. */
function remembering({ closes }: Pick<MarketHistory, "closes">): Pick<MarketHistory, "closes"> {
  const asked = new Map<string, ReturnType<typeof closes>>();
  return {
    closes(...question) {
      const key = JSON.stringify(question);
      const answer = asked.get(key) ?? closes(...question);
      asked.set(key, answer);
      return answer;
    },
  };
}

/** The closes of every day on which all that the strategy watches was traded. */
export async function dailyCloses(
  market: Pick<MarketHistory, "closes">,
  strategy: Strategy,
  instruments: ReadonlyMap<string, Instrument>,
  from: string,
  to: string,
): Promise<readonly BacktestClose[]> {
  const symbols = strategy.watches(instruments);
  const [first, last] = [dayNumber(from), dayNumber(to)];
  const byDay = new Map<string, Map<string, decimal.Decimal>>();
  for (const symbol of symbols) {
    const end = plusMilliseconds(midnight(last + 1), -1);
    const { known, closes } = await market.closes(symbol, "1d", midnight(first), end, last - first + 1);
    if (!known) throw new Fault("NOT_FOUND", `the market has no history of ${symbol}`, { retry: "never" });
    for (const { start, close } of closes) {
      const day = start.slice(0, 10);
      byDay.set(day, (byDay.get(day) ?? new Map()).set(symbol, decimal.parse(close)));
    }
  }
  const calendar = strategy.daysPerYear === 252 ? usEquities : alwaysOpen;
  return [...byDay]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .filter(([day, closes]) => day >= from && day <= to && closes.size === symbols.length)
    .map(([day, closes]) => ({
      day,
      at: plusMilliseconds(midnight(dayNumber(day)), tradedAtMs[strategy.daysPerYear]),
      closes,
    }))
    .filter(({ day }) => isOpen(calendar, plusMilliseconds(midnight(dayNumber(day)), 17 * 3_600_000)));
}

function fillsOf({ strategyId, trades }: HistoryBacktest): readonly Fill[] {
  const strategy = strategies.find(({ name }) => name === strategyId);
  return trades.map(({ day, symbol, side, quantity, price, fee }, place) => {
    const id = `seed-history-${strategyId}-${place + 1}`;
    const at = plusMilliseconds(midnight(dayNumber(day)), tradedAtMs[strategy?.daysPerYear ?? 365] + (place % 1_000));
    return {
      fill_id: id,
      order_id: id,
      fund_id: strategy?.fundId ?? "",
      strategy_id: strategyId,
      symbol,
      side,
      quantity: decimal.format(quantity),
      price: decimal.format(price),
      fee: decimal.format(fee),
      currency: "USD",
      broker: "paper",
      filled_at: format(at),
      kind: "SEED",
    };
  });
}

/** Every day on which one of its strategies has a close; a strategy's last profit holds until its next. */
function navsOf(
  fundId: string,
  capital: decimal.Decimal,
  backtests: readonly HistoryBacktest[],
): readonly HistoryNav[] {
  const own = backtests.filter(({ strategyId }) =>
    strategies.some((one) => one.name === strategyId && one.fundId === fundId),
  );
  const days = [...new Set(own.flatMap((one) => one.days.map(({ day }) => day)))].sort();
  const sum = (values: readonly decimal.Decimal[]): decimal.Decimal => values.reduce(decimal.add, decimal.zero);
  const earned = sum(own.map((one) => one.days.at(-1)?.profit ?? decimal.zero));
  const began = decimal.subtract(capital, earned);
  const newest = own.map((one) => ({ days: new Map(one.days.map((day) => [day.day, day])), last: one.days[0] }));
  return days.map((day) => {
    for (const each of newest) each.last = each.days.get(day) ?? each.last;
    const nav = decimal.add(began, sum(newest.map(({ last }) => last?.profit ?? decimal.zero)));
    const positionsValue = sum(newest.map(({ last }) => last?.held ?? decimal.zero));
    return {
      fundId,
      day,
      nav: decimal.format(nav),
      cash: decimal.format(decimal.subtract(nav, positionsValue)),
      positionsValue: decimal.format(positionsValue),
    };
  });
}

/** What the fund's trades until that day come to, each at its close. */
function pricesOf(
  { fundId, day }: HistoryNav,
  fills: readonly Fill[],
  closed: ReadonlyMap<string, BacktestClose["closes"]>,
): NavPrices {
  const held = new Map<string, decimal.Decimal>();
  const at = new Map<string, string>();
  for (const fill of fills) {
    if (fill.fund_id !== fundId || fill.filled_at.slice(0, 10) > day) continue;
    const quantity = decimal.parse(fill.quantity);
    const isBought = fill.side === "BUY" || fill.side === "BUY_TO_COVER";
    const moved = isBought ? quantity : decimal.negate(quantity);
    held.set(fill.symbol, decimal.add(held.get(fill.symbol) ?? decimal.zero, moved));
    at.set(fill.symbol, `${day}${fill.filled_at.slice(10, 19)}.000000Z`);
  }
  return Object.fromEntries(
    [...held].flatMap(([symbol, quantity]) => {
      const close = closed.get(day)?.get(symbol);
      if (quantity === decimal.zero || close === undefined) return [];
      const valued = { quantity: decimal.format(quantity), price: decimal.format(close), at: at.get(symbol) ?? "" };
      return [[symbol, valued]];
    }),
  );
}

/** Figures that are no whole numbers stand as text, in their shortest form. */
function canonicalText(history: Omit<PaperHistory, "hash">): string {
  const backtests = history.backtests.map(({ trades: _trades, days, ...figures }) => ({
    ...Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, String(figure)])),
    days: days.map(({ day, informationCoefficient, ...figures }) => ({
      day,
      return: String(figures.return),
      information_coefficient: String(informationCoefficient),
    })),
  }));
  const { name, from, to, fills } = history;
  // Prices follow from the trades and the market's closes; the hash of a history that was put in before stays what it is.
  const navs = history.navs.map(({ prices: _prices, ...nav }) => nav);
  const limits = { lengthMax: historyLengthMax };
  return canonicalJson({ name, from, to, fills, navs, backtests }, limits);
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function dayNumber(day: string): number {
  const date = tryParseDate(day);
  if (date === undefined) throw new Fault("INVALID_ARGUMENT", `${day} is not a date`, { retry: "never" });
  return daysFromCivil(date);
}

function dayText(days: number): string {
  return formatDate(civilFromDays(days));
}

function midnight(days: number): Instant {
  return fromUnixMs(days * millisecondsPerDay);
}
