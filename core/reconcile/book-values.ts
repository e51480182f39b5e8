// Whether a fund's newest value is true, pure: recomputed from what the ledger held at that moment and the prices that were kept with the value.
//
//  1. The value is its cash plus its positions, and the positions are quantity x multiplier x price x rate, to the last decimal.
//  2. Quantities and cash together are the ledger's as of the value: as they are now, or before the entries that were booked since.
//     What was due of dividends at that moment and not paid is cash of the value and in no entry yet.
//  3. An old value is no value of now: it is not compared, and that is said.
import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, millisecondsBetween, minusMilliseconds } from "../../contracts/src/instant.ts";
import type { BooksLook, DueAmount, LedgerMark, NewestEntry, StoredNav } from "../../contracts/src/records/books.ts";

/** Values come once a second; one that is older than this says nothing about now. */
export const valueAgeMsMax = 10_000;
/** What was in the ledger this long before the value must be in the value. */
const surelyBookedMs = 1_000;

export interface ValuesCompared {
  readonly look: BooksLook;
  /** When the look was made. */
  readonly at: Instant;
  /** How far the ledger was at earlier looks. */
  readonly ledgerBefore: readonly LedgerMark[];
}

interface ValueDifference {
  readonly about: string;
  readonly sentence: string;
}

interface ValuesResult {
  readonly compared: number;
  readonly differences: readonly ValueDifference[];
  readonly notCompared: readonly string[];
}

export function compareValues(given: ValuesCompared): ValuesResult {
  const differences: ValueDifference[] = [];
  const notCompared: string[] = [];
  for (const nav of given.look.navs) {
    const why = whyNotCompared(nav, given.at);
    if (why !== undefined) notCompared.push(why);
    differences.push(...sumDifference(nav));
    if (why === undefined) differences.push(...positionsDifference(nav, given.look), ...ledgerDifference(nav, given));
  }
  return { compared: given.look.navs.length - notCompared.length, differences, notCompared };
}

function whyNotCompared({ fundId, asOf, prices }: StoredNav, at: Instant): string | undefined {
  const ageMs = millisecondsBetween(asOf, at);
  if (ageMs > valueAgeMsMax) return `The newest value of ${fundId} is ${Math.round(ageMs / 1_000)} s old.`;
  return prices === undefined ? `The newest value of ${fundId} has no prices with it.` : undefined;
}

function sumDifference({ fundId, nav, cash, positionsValue }: StoredNav): readonly ValueDifference[] {
  const sum = decimal.add(cash, positionsValue);
  if (sum === nav) return [];
  const parts = `${decimal.format(cash)} + ${decimal.format(positionsValue)} = ${decimal.format(sum)}`;
  return [{ about: fundId, sentence: `${fundId} is valued ${decimal.format(nav)}, its parts are ${parts}.` }];
}

function positionsDifference(nav: StoredNav, { instruments }: BooksLook): readonly ValueDifference[] {
  let worth = decimal.zero;
  for (const { symbol, quantity, price } of nav.prices ?? []) {
    const instrument = instruments.find((one) => one.symbol === symbol);
    // What nobody lists any more has no multiplier; the next value is without it.
    if (instrument === undefined) return [];
    const times = decimal.multiply(quantity, decimal.parse(instrument.multiplier), "half-even");
    const value = decimal.multiply(times, price, "half-even");
    worth = decimal.add(worth, decimal.multiply(value, rateOf(nav, instrument.currency), "half-even"));
  }
  if (worth === nav.positionsValue) return [];
  const figures = `${decimal.format(nav.positionsValue)}, quantities and prices make ${decimal.format(worth)}`;
  return [{ about: `${nav.fundId} positions`, sentence: `${nav.fundId} is valued with positions worth ${figures}.` }];
}

function rateOf({ currency: own, rates }: StoredNav, currency: string): Decimal {
  return currency === own ? decimal.one : (rates.get(currency) ?? decimal.zero);
}

function ledgerDifference(nav: StoredNav, { look, ledgerBefore }: ValuesCompared): readonly ValueDifference[] {
  const money = new Set(
    look.balances.flatMap(({ of: [fund, , currency = ""] }) => (fund === nav.fundId ? [currency] : [])),
  );
  const now = new Map(
    look.holdings.flatMap(({ of: [fund, symbol = ""], amount }) => (fund === nav.fundId ? [[symbol, amount]] : [])),
  );
  const after = ledgerBefore.findLast(({ at }) => at <= minusMilliseconds(nav.asOf, surelyBookedMs))?.entries ?? 0;
  const undone = look.newestEntries.filter(({ fundId, number }) => fundId === nav.fundId && number > after);
  const due = look.due.filter(({ fundId, paidAt }) => fundId === nav.fundId && (paidAt ?? Infinity) > nav.asOf);
  const held = new Map(now);
  if (differs(nav, held, money, due) === undefined) return [];
  for (const entry of undone) {
    undo(held, entry);
    if (differs(nav, held, money, due) === undefined) return [];
  }
  const found = differs(nav, now, money, due);
  return found === undefined ? [] : [found];
}

/** The first thing in which the value is not of these holdings. */
function differs(
  nav: StoredNav,
  held: ReadonlyMap<string, Decimal>,
  money: ReadonlySet<string>,
  due: readonly DueAmount[],
): ValueDifference | undefined {
  const valued = new Map((nav.prices ?? []).map(({ symbol, quantity }) => [symbol, quantity]));
  for (const symbol of new Set([...held.keys(), ...valued.keys()])) {
    if (money.has(symbol)) continue;
    const [has, should] = [valued.get(symbol) ?? decimal.zero, held.get(symbol) ?? decimal.zero];
    if (has === should) continue;
    const figures = `${decimal.format(has)} ${symbol}, the ledger has ${decimal.format(should)}`;
    return { about: `${nav.fundId} ${symbol}`, sentence: `${nav.fundId} is valued with ${figures}.` };
  }
  let cash = decimal.zero;
  for (const currency of money) {
    const amount = held.get(currency) ?? decimal.zero;
    cash = decimal.add(cash, decimal.multiply(amount, rateOf(nav, currency), "half-even"));
  }
  // One by one, as they were valued.
  for (const { currency, amount } of due) {
    cash = decimal.add(cash, decimal.multiply(amount, rateOf(nav, currency), "half-even"));
  }
  if (cash === nav.cash) return undefined;
  const figures = `${decimal.format(nav.cash)}, the ledger has ${decimal.format(cash)}`;
  return { about: `${nav.fundId} cash`, sentence: `${nav.fundId} is valued with cash of ${figures}.` };
}

function undo(held: Map<string, Decimal>, { moves }: NewestEntry): void {
  for (const { symbol, amount } of moves) {
    held.set(symbol, decimal.subtract(held.get(symbol) ?? decimal.zero, amount));
  }
}
