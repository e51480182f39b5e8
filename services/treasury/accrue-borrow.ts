// Fees for borrowed shares: what a fund is short of at the end of a calendar day is charged for that day, at the reference data's yearly fee.
//
//  1. What was held at the end of a day is what is held now less what traded since, by the trades' own times: what is held later, or when it is
//     reckoned, makes no difference. Days on which nothing ran are charged one by one.
//  2. Every calendar day counts, weekends and holidays too: shares stay borrowed. A day begins and ends in the time zone of the fund's calendar.
//  3. How far a fund is charged is written in the same transaction as the fees, so no day is charged twice or left out, whatever is killed when.
//  4. The broker has one account per fund: what one strategy is short and another long is not borrowed. What is borrowed is shared by the strategies
//     that are short, in proportion.
//  5. A symbol is charged at its first fresh price after the day, or at its last one when none comes for a minute. It holds up no other symbol; one
//     that has no price at all stays owed.
//  6. Trades that are reported late change the fees of the days before them, for a week: the difference is an entry of its own.
import { localDate, startOfDate, type TradingCalendar } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import {
  civilFromDays,
  daysFromCivil,
  format,
  formatDate,
  type Instant,
  millisecondsBetween,
  parse,
  plusMilliseconds,
  tryParseDate,
} from "../../contracts/src/instant.ts";
import { type BorrowedSymbol, borrowedAt, feesOfDay } from "../../core/ledger/borrow-days.ts";
import { nameNow, pricesAfter, quantityRatioSince, scaled } from "../../core/ledger/corporate-actions.ts";
import { borrowFeeEntry } from "../../core/ledger/ledger.ts";
import { ageMsOf } from "../../core/state/dated.ts";
import type { StoredAction } from "../../ports/corporate-actions.ts";
import type { BorrowRecord } from "../../ports/ledger-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import type { ServicePorts } from "../shared/service.ts";
import { bookEntry, entryIdOf, treasuryActor } from "./book-entry.ts";
import { withRemembered } from "./publish-values.ts";
import type { Price } from "./valuation.ts";
import { priceAgeMsMax } from "./value-alarms.ts";

/** Days of one transaction; more wait for the next. */
const daysMax = 31;
/** How long trades that come late change what was charged. */
const correctedDays = 7;
/** How long a fresh price is waited for. */
const priceWaitMs = 60_000;
/** How often it is looked whether a day is over, and whether a trade came late. */
const lookEveryMs = 60_000;

type BorrowPorts = Pick<ServicePorts, "clock" | "log" | "store" | "sha256">;

interface BorrowAccrual {
  /** Charges every paper fund for the days that are over and not charged. */
  accrue(view: ReferenceView, prices: ReadonlyMap<string, Price>): Promise<void>;
}

interface Charging {
  readonly unit: UnitOfWork;
  readonly fundId: string;
  readonly calendar: TradingCalendar;
  readonly at: Instant;
  readonly view: ReferenceView;
  /** The newest that is known of each symbol, fresh or not. */
  /** In the terms of now. */
  readonly pricesNow: ReadonlyMap<string, Price>;
  readonly actions: readonly StoredAction[];
}

export function createBorrowAccrual(ports: BorrowPorts): BorrowAccrual {
  let nextLookAt = ports.clock.now();

  /** Resolves to whether nothing is left to do before the next look. */
  function accrueOne(
    fundId: string,
    calendar: TradingCalendar,
    view: ReferenceView,
    prices: ReadonlyMap<string, Price>,
  ): Promise<boolean> {
    return ports.store.transact("treasury.borrow", async (unit) => {
      const remembered = await unit.ledger.lockFund(fundId);
      const at = ports.clock.now();
      const today = localDate(calendar, at);
      const { borrowDay } = remembered;
      if (borrowDay === undefined) {
        await unit.ledger.putFund(fundId, { ...remembered, borrowDay: today, borrowBegan: today });
        return true;
      }
      const began = remembered.borrowBegan ?? borrowDay;
      const next = earliest(today, plusDays(borrowDay, daysMax));
      const first = latest(began, earliest(borrowDay, plusDays(next, -correctedDays)));
      const actions = await unit.corporateActions.applied();
      const pricesNow = pricesAfter(withRemembered(prices, remembered), actions);
      const charging: Charging = { unit, fundId, calendar, at, view, pricesNow, actions };
      const known = remembered.borrow ?? [];
      const records: BorrowRecord[] = known.filter((one) => one.day < first && one.charged === undefined);
      for (let day = first; day < next; day = plusDays(day, 1)) {
        records.push(...(await recordsOfDay(charging, day, known)));
      }
      const settled: BorrowRecord[] = [];
      for (const record of records) settled.push(await settle(charging, record));
      const isSame = borrowDay >= next && JSON.stringify(known) === JSON.stringify(settled);
      const moved = { borrowBegan: began, borrowDay: latest(borrowDay, next), borrow: settled };
      if (!isSame) await unit.ledger.putFund(fundId, { ...remembered, ...moved });
      return moved.borrowDay >= today && settled.every(({ charged }) => charged !== undefined);
    });
  }

  /** Charges what is owed when there is a price for it, and corrects what was charged when trades came late. */
  async function settle(charging: Charging, record: BorrowRecord): Promise<BorrowRecord> {
    const { day, symbol, charged } = record;
    const terms = charged ?? termsOf(charging, record);
    if (terms === undefined) return record;
    const [short] = (await borrowedOn(charging, day)).filter((one) => one.symbol === symbol);
    const due = short === undefined ? new Map<string, decimal.Decimal>() : feesOfDay(short, terms);
    const before = new Map(Object.entries(charged?.fees ?? {}).map(([id, fee]) => [id, decimal.parse(fee)]));
    const revision = charged === undefined ? 0 : charged.revision + 1;
    let isBooked = false;
    for (const strategyId of [...new Set([...before.keys(), ...due.keys()])].sort()) {
      const was = before.get(strategyId) ?? decimal.zero;
      const amount = decimal.subtract(due.get(strategyId) ?? decimal.zero, was);
      if (amount === decimal.zero) continue;
      isBooked = true;
      const held = decimal.format(decimal.abs(short?.quantity ?? decimal.zero));
      const what = `${held} ${symbol} borrowed at ${terms.fee_pct} a year`;
      const id = [fundIdOf(charging), day, symbol, strategyId, ...(revision === 0 ? [] : [`revision ${revision}`])];
      const entry = borrowFeeEntry({
        entryId: entryIdOf(ports.sha256, "borrow", ...id),
        fundId: charging.fundId,
        strategyId,
        symbol,
        currency: terms.currency,
        amount,
        bookedBy: treasuryActor,
        at: charging.at,
        reason: `${day}: ${what}${revision === 0 ? "" : ", after trades that came late"}`,
      });
      await bookEntry(charging.unit, entry);
    }
    if (charged !== undefined && !isBooked) return record;
    const fees = Object.fromEntries([...due].sort().map(([id, fee]) => [id, decimal.format(fee)]));
    const { price, fee_pct, multiplier, currency } = terms;
    return { ...record, charged: { price, fee_pct, multiplier, currency, fees, revision } };
  }

  return {
    async accrue(view, prices) {
      const at = ports.clock.now();
      // A clock that was set back makes nobody wait.
      if (at < nextLookAt && millisecondsBetween(at, nextLookAt) <= lookEveryMs) return;
      let isDone = true;
      for (const { fund_id: fundId, mode, calendar: name } of view.reference.funds) {
        const calendar = view.calendars.get(name);
        if (mode !== "PAPER" || calendar === undefined) continue;
        const isFundDone = await accrueOne(fundId, calendar, view, prices);
        isDone &&= isFundDone;
      }
      // What still waits for a price, or for its turn, is read again with the next value.
      if (isDone) nextLookAt = plusMilliseconds(at, lookEveryMs);
    },
  };
}

const fundIdOf = ({ fundId }: Charging): string => fundId;

/** What is short at the end of that day, in order of symbol. */
async function borrowedOn({ unit, fundId, calendar }: Charging, day: string): Promise<readonly BorrowedSymbol[]> {
  const end = startOfDate(calendar, mustParseDate(plusDays(day, 1)));
  const made = (await unit.ledger.strategyHoldings()).filter((one) => one.fundId === fundId);
  return borrowedAt(made, await unit.ledger.tradedSince(fundId, end));
}

/** Those that are known of that day, and a new one for each symbol that is short and costs something. */
async function recordsOfDay(
  charging: Charging,
  day: string,
  known: readonly BorrowRecord[],
): Promise<readonly BorrowRecord[]> {
  const own = known.filter((one) => one.day === day);
  const shorts = await borrowedOn(charging, day);
  const fresh = shorts
    .filter(({ symbol }) => !own.some((one) => one.symbol === symbol) && costs(charging, symbol, day))
    .map(({ symbol }): BorrowRecord => ({ day, symbol, since: format(charging.at) }));
  return [...own, ...fresh];
}

function costs(charging: Charging, symbol: string, day: string): boolean {
  const { instruments, reference } = charging.view;
  const name = calledNow(charging, symbol, day);
  return instruments.has(name) && reference.borrow.some((one) => one.symbol === name);
}

/** What was short at the end of that day may be called otherwise by now. */
function calledNow({ calendar, actions }: Charging, symbol: string, day: string): string {
  return nameNow(symbol, startOfDate(calendar, mustParseDate(plusDays(day, 1))), actions);
}

/** By what a day is charged; undefined while a price is waited for. */
function termsOf(charging: Charging, { symbol, since, day }: BorrowRecord) {
  const { view, pricesNow, at } = charging;
  const name = calledNow(charging, symbol, day);
  const instrument = view.instruments.get(name);
  const borrow = view.reference.borrow.find((one) => one.symbol === name);
  const price = pricesNow.get(name);
  if (instrument === undefined || borrow === undefined || price === undefined) return undefined;
  const waitedMs = millisecondsBetween(parse(since), at);
  if (ageMsOf(price.at, at) > priceAgeMsMax && waitedMs < priceWaitMs && waitedMs >= 0) return undefined;
  const { multiplier, currency } = instrument;
  const priceThen = inTermsOf(charging, symbol, day, price.price);
  return { price: decimal.format(priceThen), fee_pct: borrow.fee_pct, multiplier, currency };
}

/** What was held at the end of that day is counted in the shares of then, and so is the price: splits since are taken back. */
function inTermsOf(
  { calendar, actions }: Charging,
  symbol: string,
  day: string,
  price: decimal.Decimal,
): decimal.Decimal {
  const end = startOfDate(calendar, mustParseDate(plusDays(day, 1)));
  return scaled(price, quantityRatioSince(symbol, end, actions));
}

const earliest = (one: string, other: string): string => (one < other ? one : other);
const latest = (one: string, other: string): string => (one > other ? one : other);

function mustParseDate(day: string) {
  // A date that cannot be read ends every count instead of beginning an endless one.
  return tryParseDate(day) ?? { year: 9_999, month: 12, day: 31 };
}

function plusDays(day: string, count: number): string {
  return formatDate(civilFromDays(daysFromCivil(mustParseDate(day)) + count));
}
