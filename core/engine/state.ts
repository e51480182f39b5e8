// The engine's state and what it is told from outside: reference data, envelopes, valuations, marks and halts. Each takes the newest of
// its kind; what is older than what is known changes nothing, so that late messages do no harm.

import { type Decimal, parse } from "../../contracts/src/decimal.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Instrument, Mark } from "../../contracts/src/records/market.ts";
import { type FxRate, type ReferenceContents, valuerOf } from "../../contracts/src/records/reference.ts";
import { createBlockBook } from "../blocks/block-book.ts";
import { createConditionBook, setConditions } from "../blocks/condition-book.ts";
import { createRestrictionBook } from "../blocks/restriction-book.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { createSharedParts, type SharedParts, shareParts } from "../envelope/shared-envelope.ts";
import type { CarriedValue } from "../exposure/carried-value.ts";
import { forgetPrices } from "../exposure/hear-mark.ts";
import { forgetLimits, setNavOf } from "../exposure/nav-limits.ts";
import { noteEveryChange } from "../exposure/value-tables.ts";
import type { Ratio } from "../ledger/corporate-actions.ts";
import { amountOf, parseAmount } from "../money/amount.ts";
import { endOfDate } from "../options/option-expiry.ts";
import type { HandOver } from "../orders/order-owner.ts";
import { createOrderBook } from "../orders/reservations.ts";
import { isAhead } from "../state/dated.ts";
import { emptyView } from "../state/empty-view.ts";
import * as fundStates from "../state/fund-state.ts";
import { headOf, setHead, slotsOf } from "../state/fund-state.ts";
import type { InputAges } from "../state/input-ages.ts";
import { createNoteBook, type NoteBook } from "../state/notes.ts";
import {
  type Books,
  createBooks,
  forgetSymbol,
  fundBookOf,
  marksOf,
  pricesOf,
  type StrategyBook,
  strategyBookOf,
  symbolBookOf,
} from "../state/records.ts";
import type { StandingCondition } from "../state/standing-condition.ts";
import type { FundView, InstrumentFacts } from "../state/view.ts";
import { type AskerHasher, createAskerHasher } from "./fast/asker-hash.ts";
import { createOrderHasher, type OrderHasher } from "./fast/order-hash.ts";
import { createSeenKeys, type SeenKeys } from "./fast/seen-keys.ts";
import { createViewPacker, type ViewPacker } from "./fast/view-bytes.ts";
import { createHaltBook, type Found, nothingFound, type ViewSource } from "./fill-view.ts";
import {
  createPriceBook,
  forgetWatches,
  type PriceBook,
  passRanges,
  restatePrices,
  takeMark,
} from "./vouching/price-ranges.ts";
import { createRateBook, hearRates, passRates, type RateBook, setRateRanges } from "./vouching/rate-ranges.ts";

export interface EngineOptions {
  /** BLAKE3 as a string of 32 characters with a byte in each. */
  blake3(content: string): string;
  /** Microseconds from an arbitrary beginning; for the figures only. */
  stopwatch(): number;
  readonly ages: InputAges;
  /** How long a key counts as seen. */
  readonly keyWindowMs: number;
  /** How long an approval may be used. */
  readonly approvalValidMs: number;
  readonly openOrdersPerFundMax: number;
  /** How much of a fund a value from outside may have that nothing explains. */
  readonly valueUnexplainedMax: Decimal;
  /** How far a price may move at once, as a fraction; undefined where any price is believed, as in replays. */
  readonly priceJumpMax?: Decimal | undefined;
}

export interface EngineState extends ViewSource {
  readonly options: EngineOptions;
  readonly hasher: OrderHasher;
  readonly ofAsker: AskerHasher;
  readonly keys: SeenKeys;
  readonly notes: NoteBook;
  /** The one view that is filled again for every check. */
  readonly view: FundView;
  /** What the order that was looked at last names. */
  readonly found: Found;
  readonly packer: ViewPacker;
  readonly sharedParts: SharedParts;
  /** Symbols in which nothing is decided because of a corporate action. */
  readonly heldSymbols: Set<string>;
  /** By fund: what values from outside are judged by. */
  readonly values: Map<string, CarriedValue>;
  /** What admins handed from one source to another, in the order in which it was done. */
  handOvers: readonly HandOver[];
  /** Whether the prices are believed. */
  readonly prices: PriceBook;
  readonly rates: RateBook;
  /** The moment of the newest decision; decisions never go back in time. */
  lastAt: instant.Instant;
  /** What the clock showed when it was last heard of: it may be set back, the moment of a decision never is. */
  clockAt: instant.Instant;
  /** Counts decisions. */
  sequence: number;
  /** When the last gate of the check in hand ended, by the stopwatch; NaN before the first. */
  gateEndedUs: number;
}

export function createEngineState(options: EngineOptions): EngineState {
  return {
    options,
    books: createBooks(),
    orders: createOrderBook(),
    halts: createHaltBook(),
    conditions: createConditionBook(),
    blockBook: createBlockBook(),
    heldSymbols: new Set(),
    values: new Map(),
    prices: createPriceBook(),
    rates: createRateBook(),
    waitingExits: new Map(),
    restrictions: createRestrictionBook(),
    ages: options.ages,
    openOrdersPerFundMax: options.openOrdersPerFundMax,
    hasher: createOrderHasher(options.blake3),
    ofAsker: createAskerHasher(options.blake3),
    handOvers: [],
    keys: createSeenKeys(options.keyWindowMs),
    notes: createNoteBook(),
    view: emptyView(options.ages),
    found: nothingFound(),
    packer: createViewPacker(),
    sharedParts: createSharedParts(),
    lastAt: instant.fromMicroseconds(0),
    clockAt: instant.fromMicroseconds(0),
    sequence: 0,
    gateEndedUs: Number.NaN,
  };
}

/** Replaces all reference data. What a fund holds stays, also of what is no longer named. */
export function setReference(state: EngineState, contents: ReferenceContents): void {
  const { books, conditions } = state;
  const restrictions = new Map(contents.restricted.map(({ symbol, reason }) => [symbol, reason]));
  const instruments = new Map(contents.instruments.map((instrument) => [instrument.symbol, instrument]));
  for (const symbol of instruments.keys()) symbolBookOf(books, symbol);
  for (const book of books.symbols.values()) {
    const instrument = instruments.get(book.symbol);
    book.facts = instrument === undefined ? undefined : factsOf(instrument, instruments, restrictions);
    books.sectorAt[book.slot] = book.facts === undefined ? 0 : sectorNumber(books, book.facts.sector);
    book.derived = [];
    book.jumpMax = instrument?.price_jump_max === undefined ? undefined : parse(instrument.price_jump_max);
    book.borrowAvailable = undefined;
    book.borrowFee = undefined;
    book.borrowAt = Number.NaN;
  }
  for (const borrow of contents.borrow) {
    const book = books.symbols.get(borrow.symbol);
    if (book === undefined) continue;
    book.borrowAvailable = parseAmount(borrow.available_quantity);
    book.borrowFee = parseAmount(borrow.fee_pct);
    book.borrowAt = instant.parse(borrow.as_of);
  }
  setOptions(books, instruments);
  setFunds(books, contents.funds);
  setConditions(conditions, books, "valuers", valuersMissing(contents.funds));
  hearRates(state, contents.fx);
  setFx(books, contents.fx);
  setRateRanges(state);
  forgetUnused(books, new Set(instruments.keys()));
  forgetWatches(state);
  noteEveryChange(books);
}

function sectorNumber({ sectorNumbers }: Books, sector: string): number {
  const known = sectorNumbers.get(sector);
  if (known !== undefined) return known;
  sectorNumbers.set(sector, sectorNumbers.size + 1);
  return sectorNumbers.size;
}

/** An option's sector and restriction are its underlying's, beside a restriction of its own. */
function factsOf(
  instrument: Instrument,
  instruments: ReadonlyMap<string, Instrument>,
  restrictions: ReadonlyMap<string, string>,
): InstrumentFacts {
  const underlying = instrument.asset_class === "OPTION" ? (instrument.underlying ?? "") : "";
  return {
    symbol: instrument.symbol,
    assetClass: instrument.asset_class,
    currency: instrument.currency,
    tickSize: parseAmount(instrument.tick_size),
    lotSize: parseAmount(instrument.lot_size),
    multiplier: parseAmount(instrument.multiplier),
    sector: instruments.get(underlying)?.sector ?? instrument.sector,
    restriction: restrictions.get(instrument.symbol) ?? restrictions.get(underlying),
  };
}

/** Whose worth follows whose. What was known of an option's delta stays, as its price does. */
function setOptions(books: Books, instruments: ReadonlyMap<string, Instrument>): void {
  for (const book of books.symbols.values()) {
    const instrument = instruments.get(book.symbol);
    if (instrument?.asset_class !== "OPTION") {
      book.option = undefined;
      continue;
    }
    const listed = instruments.get(instrument.underlying ?? "");
    const underlying = listed?.currency === instrument.currency ? books.symbols.get(listed.symbol) : undefined;
    const endsAt = endOfDate(instrument.expiry ?? "") ?? Number.NaN;
    book.option = { underlying, endsAt, isCall: instrument.right === "CALL" };
    if (underlying !== undefined) underlying.derived = [...underlying.derived, book];
  }
  for (const fund of books.funds.values()) {
    fund.mayHaveOptions = slotsOf(fund).some((slot) => books.bySlot[slot]?.option !== undefined);
    fund.options = undefined;
  }
}

function setFunds(books: Books, funds: ReferenceContents["funds"]): void {
  for (const fund of books.funds.values()) {
    fund.known = false;
    fund.isPaper = false;
  }
  for (const strategy of books.strategies.values()) strategy.fund = undefined;
  for (const reference of funds) {
    const fund = fundBookOf(books, reference.fund_id);
    fund.known = true;
    fund.isPaper = reference.mode === "PAPER";
    if (fund.currency !== reference.currency) {
      // A value in another currency is no value.
      if (fund.currency !== "") setNavOf(fund, undefined);
      fund.currency = reference.currency;
    }
    for (const strategyId of reference.strategies) strategyBookOf(books, strategyId).fund = fund;
  }
}

/** A LIVE fund without a source of its values. */
function valuersMissing(funds: ReferenceContents["funds"]): readonly StandingCondition[] {
  const unvalued = funds.filter((fund) => valuerOf(fund) === undefined);
  return unvalued.map(({ fund_id: fundId }) => ({ code: "VALUER_MISSING", reason: "", fundId }));
}

function setFx(books: Books, rates: readonly FxRate[]): void {
  books.fx.clear();
  for (const { base, quote, rate, as_of } of rates) {
    let quotes = books.fx.get(base);
    if (quotes === undefined) {
      quotes = new Map();
      books.fx.set(base, quotes);
    }
    quotes.set(quote, { rate: parseAmount(rate), at: instant.parse(as_of) });
  }
}

/** What is neither known nor held leaves, so that years of changing reference data do not pile up. */
function forgetUnused(books: Books, instruments: ReadonlySet<string>): void {
  const held = new Set<number>();
  for (const fund of books.funds.values()) for (const slot of slotsOf(fund)) held.add(slot);
  for (const book of books.symbols.values()) {
    if (!instruments.has(book.symbol) && !held.has(book.slot)) forgetSymbol(books, book);
  }
}

export function setEnvelope({ books, sharedParts }: EngineState, envelope: Envelope): void {
  const fund = fundBookOf(books, envelope.fundId);
  if (fund.envelope !== undefined && fund.envelope.version > envelope.version) return;
  fund.envelope = shareParts(sharedParts, envelope);
  forgetLimits(fund);
}

/** Where nobody vouches for all of it, `counts` does, and it may be `most`. */
export function setNav({ books }: EngineState, nav: NavUpdated, counts?: Decimal, most?: Decimal): void {
  const fund = fundBookOf(books, nav.fund_id);
  const at = instant.parse(nav.as_of);
  if (at < fund.navAt) return;
  // A value in another currency than the fund's is no value, and neither is the one before it any more.
  const isOwn = fund.currency === "" || fund.currency === nav.currency;
  const value = counts === undefined ? parseAmount(nav.nav) : amountOf(counts);
  setNavOf(fund, isOwn ? value : undefined);
  if (isOwn && most !== undefined && counts !== undefined && most > counts) fund.navMost = amountOf(most);
  fund.navAt = at;
  // A value that was computed just now from old prices is an old one.
  setHead(fund, fundStates.navPricedAt, instant.minusMilliseconds(at, nav.oldest_price_age_ms ?? 0));
}

/** Marks of symbols that nobody knows or holds are not kept, and neither are those of symbols whose terms are about to change. */
export function setMark(state: EngineState, mark: Mark): void {
  if (!state.heldSymbols.has(mark.symbol)) takeMark(state, mark);
}

/** Whoever decides by a clock looks whether it was set back since. */
export function noteClock(state: EngineState, now: instant.Instant): void {
  if (isAhead(state.clockAt, now)) clockSetBack(state, now);
  state.clockAt = now;
  passRanges(state);
  passRates(state);
}

/** What a clock that is not trusted any more dated ahead of the new time counts as of now; it ages from here, and the next of its kind replaces it. Decisions
 *  go on at the moment of the last one, by which all of that is too old until the clock has caught up: no new risk on dates that nobody knows. */
function clockSetBack({ books }: EngineState, now: instant.Instant): void {
  books.newestMarkAt = Number.NEGATIVE_INFINITY;
  for (const book of books.symbols.values()) {
    for (const isPaper of [false, true]) {
      const prices = pricesOf(book, { isPaper });
      if (prices.markedAt > now) {
        prices.markedAt = now;
        marksOf(books, { isPaper })[book.slot] = now;
      }
      if (prices.deltaAt > now) prices.deltaAt = now;
      if (prices.markedAt > books.newestMarkAt) books.newestMarkAt = prices.markedAt;
    }
  }
  for (const fund of books.funds.values()) {
    // What is remembered of the oldest mark holds only while marks grow younger.
    setHead(fund, fundStates.oldestMarkAt, Number.NEGATIVE_INFINITY);
    if (fund.navAt > now) fund.navAt = now;
    if (headOf(fund, fundStates.navPricedAt) > now) setHead(fund, fundStates.navPricedAt, now);
  }
}

export interface HaltState {
  /** False while nobody can say whether halts are in force. */
  readonly known: boolean;
  readonly epoch: number;
  readonly active: readonly ActiveHalt[];
}

/** Of several halts of one scope the oldest is named: it is the one that began it. */
export function setHalts({ halts }: EngineState, { known, epoch, active }: HaltState): void {
  halts.known = known;
  halts.epoch = epoch;
  halts.firm = undefined;
  halts.funds.clear();
  halts.strategies.clear();
  for (const halt of [...active].sort((left, right) => left.epoch - right.epoch)) {
    if (halt.severity === "FIRM_HALT") halts.firm ??= halt;
    else if (halt.severity === "FUND_HALT") keepFirst(halts.funds, halt.fund_id, halt);
    else keepFirst(halts.strategies, halt.strategy_id ?? "", halt);
  }
}

function keepFirst(into: Map<string, ActiveHalt>, scope: string, halt: ActiveHalt): void {
  if (!into.has(scope)) into.set(scope, halt);
}

/** A symbol whose terms are about to change by a corporate action. */
export interface HeldSymbol {
  readonly symbol: string;
  /** What it was before, and how many new ones for so many old ones; absent where it only gives its place to another. */
  readonly was?: { readonly symbol: string; readonly ratio: Ratio };
  readonly reason: string;
  readonly since: instant.Instant;
}

/**
 * Replaces all of them. In such a symbol nothing is decided, exits included, and it has no price until the first one after its hold: what is held of
 * it is counted in the old terms or in the new ones, and nobody could say by which a price is to be multiplied.
 */
export function setHeldSymbols(state: EngineState, held: readonly HeldSymbol[]): void {
  const { books, heldSymbols, conditions } = state;
  const newest = [...new Map(held.map((one) => [one.symbol, one])).values()];
  restatePrices(
    state,
    newest.filter(({ symbol }) => !heldSymbols.has(symbol)),
  );
  heldSymbols.clear();
  for (const { symbol } of newest) {
    heldSymbols.add(symbol);
    forgetPrices(books, symbol);
  }
  const standing = newest.map((one) => ({ ...one, code: "CORPORATE_ACTION_UNDER_WAY" }) as const);
  setConditions(conditions, books, "corporate actions", standing);
}

/** Sets or ends what a strategy's throttle denies. */
export function setTripped(state: EngineState, strategy: StrategyBook, at: instant.Instant | undefined): void {
  strategy.trippedAt = at;
  const standing = { code: "THROTTLE_TRIPPED", strategyId: strategy.id, reason: "", since: at } as const;
  setConditions(state.conditions, state.books, `throttle of ${strategy.id}`, at === undefined ? [] : [standing]);
}
