// Fees for borrowed shares: once per calendar day of the fund, what it is short of is charged at the reference data's yearly fee. A day is charged
// when it is over, at the first prices after it; days that passed while nothing ran are charged then too, because the shares were borrowed all the while.
//
//  1. How far a fund is charged is written in the same transaction as the fees, so no day is charged twice or left out, whatever is killed when.
//  2. The broker has one account per fund: what one strategy is short and another long is not borrowed. What is borrowed is shared by the strategies
//     that are short, in proportion.
import { localDate } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import {
  civilFromDays,
  daysFromCivil,
  formatDate,
  type Instant,
  millisecondsBetween,
  plusMilliseconds,
  tryParseDate,
} from "../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import { borrowFeeEntry, borrowFeeOfDay, cost, sharesOf } from "../../core/ledger.ts";
import type { StrategyHolding } from "../../ports/ledger-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ServicePorts } from "../service.ts";
import { bookEntry, entryIdOf, treasuryActor } from "./book-entry.ts";
import type { ReferenceView } from "./reference-view.ts";
import type { Price } from "./valuation.ts";
import { priceAgeMsMax } from "./value-alarms.ts";

/** Days of one transaction; more wait for the next. */
const daysMax = 31;
/** How often it is looked whether a day is over. */
export const lookEveryMs = 60_000;

export type BorrowPorts = Pick<ServicePorts, "clock" | "log" | "store" | "sha256">;

export interface BorrowAccrual {
  /** Charges every paper fund for the days that are over and not charged. */
  accrue(view: ReferenceView, prices: ReadonlyMap<string, Price>): Promise<void>;
}

/** A short position of a fund, and the strategies that are short of it. */
interface Short {
  readonly symbol: string;
  readonly quantity: decimal.Decimal;
  readonly strategies: readonly StrategyHolding[];
}

interface Charging {
  readonly fundId: string;
  readonly day: string;
  readonly at: Instant;
  readonly view: ReferenceView;
  readonly prices: ReadonlyMap<string, Price>;
}

export function createBorrowAccrual(ports: BorrowPorts): BorrowAccrual {
  /** The day that each fund is at, as far as this process knows: nothing is asked of the store before it is over. */
  const days = new Map<string, string>();
  let nextLookAt = ports.clock.now();

  /** Resolves to the day that is to be charged next. */
  function accrueOne(fundId: string, today: string, view: ReferenceView, prices: ReadonlyMap<string, Price>) {
    return ports.store.transact("treasury.borrow", async (unit) => {
      const remembered = await unit.ledger.lockFund(fundId);
      const { borrowDay } = remembered;
      if (borrowDay !== undefined && borrowDay >= today) return borrowDay;
      const at = ports.clock.now();
      const due = borrowDay === undefined ? [] : daysBetween(borrowDay, today);
      const shorts = due.length === 0 ? [] : await shortsOf(unit, fundId, view);
      if (!shorts.every(({ symbol }) => isFresh(prices.get(symbol), at))) return borrowDay;
      for (const day of due) {
        for (const short of shorts) await charge(unit, short, { fundId, day, at, view, prices });
      }
      const next = due.length < daysMax ? today : dayAfter(due.at(-1) ?? today);
      await unit.ledger.putFund(fundId, { ...remembered, borrowDay: next });
      return next;
    });
  }

  async function charge(unit: UnitOfWork, short: Short, charging: Charging): Promise<void> {
    for (const entry of entriesOf(short, charging, ports)) await bookEntry(unit, entry);
  }

  return {
    async accrue(view, prices) {
      const at = ports.clock.now();
      if (at < nextLookAt) return;
      let isDone = true;
      for (const { fund_id: fundId, mode, calendar: name } of view.reference.funds) {
        const calendar = view.calendars.get(name);
        if (mode !== "PAPER" || calendar === undefined) continue;
        const today = localDate(calendar, at);
        if (today <= (days.get(fundId) ?? "")) continue;
        const next = await accrueOne(fundId, today, view, prices);
        if (next !== undefined) days.set(fundId, next);
        isDone &&= next !== undefined && next >= today;
      }
      // A day that still waits for a price, or for its turn, is looked at again with the next value.
      if (isDone) nextLookAt = plusMilliseconds(at, lookEveryMs);
    },
  };
}

function entriesOf(short: Short, charging: Charging, { sha256 }: BorrowPorts): readonly LedgerEntry[] {
  const { fundId, day, at, view, prices } = charging;
  const { symbol, quantity, strategies } = short;
  const instrument = view.instruments.get(symbol);
  const price = prices.get(symbol);
  const borrow = view.reference.borrow.find((one) => one.symbol === symbol);
  if (instrument === undefined || price === undefined || borrow === undefined) return [];
  const value = cost(quantity, instrument.multiplier, price.price);
  const fee = borrowFeeOfDay(value, decimal.parse(borrow.fee_pct));
  const shares = sharesOf(
    fee,
    strategies.map((one) => decimal.abs(one.quantity)),
  );
  return strategies.flatMap(({ strategyId }, index) => {
    const amount = shares[index] ?? decimal.zero;
    if (amount === decimal.zero) return [];
    return borrowFeeEntry({
      entryId: entryIdOf(sha256, "borrow", fundId, day, symbol, strategyId),
      fundId,
      strategyId,
      symbol,
      currency: instrument.currency,
      amount,
      reason: `${day}: ${decimal.format(decimal.abs(quantity))} ${symbol} borrowed at ${borrow.fee_pct} a year`,
      bookedBy: treasuryActor,
      at,
    });
  });
}

async function shortsOf(unit: UnitOfWork, fundId: string, view: ReferenceView): Promise<readonly Short[]> {
  const made = (await unit.ledger.strategyHoldings()).filter((one) => one.fundId === fundId);
  const held = await unit.treasury.holdings();
  return held.flatMap(({ fundId: of, symbol, quantity }) => {
    if (of !== fundId || quantity >= decimal.zero || !view.instruments.has(symbol)) return [];
    return { symbol, quantity, strategies: made.filter((one) => one.symbol === symbol && one.quantity < decimal.zero) };
  });
}

function isFresh(price: Price | undefined, at: Instant): boolean {
  return price !== undefined && millisecondsBetween(price.at, at) <= priceAgeMsMax;
}

/** From the first on, before the last, and no more than are charged at once. */
function daysBetween(first: string, end: string): readonly string[] {
  const days: string[] = [];
  for (let day = first; day < end && days.length < daysMax; day = dayAfter(day)) days.push(day);
  return days;
}

function dayAfter(day: string): string {
  const date = tryParseDate(day);
  // A date that cannot be read ends every count instead of beginning an endless one.
  return date === undefined ? "9999-12-31" : formatDate(civilFromDays(daysFromCivil(date) + 1));
}
