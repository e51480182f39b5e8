// What the engine knows, as records that are changed in place: one per symbol, per fund, per strategy and per line (a symbol in a fund).
// Everything is found by its id in one step, and every record has the same shape from birth, so that a check costs the same with ten
// funds and with ten thousand.
import type { Amount } from "./amount.ts";
import type { Envelope } from "./envelope.ts";
import type { Exact } from "./exact.ts";
import { createFundSheet } from "./fund-sheet.ts";
import { createIdMap, type IdMap } from "./id-table.ts";
import { createInstantRing, type InstantRing } from "./instant-ring.ts";
import type { NavLimits } from "./nav-limits.ts";
import type { InstrumentFacts } from "./view.ts";

/** A symbol, whoever holds it. Moments are instants, NaN when there is nothing. */
export interface SymbolBook {
  readonly symbol: string;
  /** A number that no other symbol of these books ever has. */
  readonly place: number;
  /** Where it stands in the columns; free again when the symbol leaves. */
  readonly slot: number;
  facts: InstrumentFacts | undefined;
  price: Amount | undefined;
  bid: Amount | undefined;
  ask: Amount | undefined;
  /** The highest of the three. */
  market: Amount | undefined;
  markedAt: number;
  borrowAvailable: Amount | undefined;
  borrowFee: Amount | undefined;
  borrowAt: number;
}

/** A symbol in a fund: what is held, and what open orders may still do to it; of those that plain numbers cannot keep. */
export interface WideLine {
  readonly position: Amount;
  readonly pendingBuy: Amount;
  readonly pendingSell: Amount;
}

/** A fund's sums, lines and sectors as plain numbers; fund-sheet.ts says where each stands. */
export interface FundSheet {
  cells: Float64Array;
  /** Lines that there is room for, a power of two, and lines that there are. */
  capacity: number;
  count: number;
  /** Lines of which something is pending. */
  pendingCount: number;
  /** Lines whose quantities have digits behind the point, or are not plain. */
  fineCount: number;
  /** Sectors that there is room for. */
  sectorCount: number;
  /** By slot, and by place in the head. */
  readonly wideLines: Map<number, WideLine>;
  readonly wideSums: Map<number, Exact>;
}

export interface FundBook {
  readonly id: string;
  known: boolean;
  currency: string;
  envelope: Envelope | undefined;
  nav: Amount | undefined;
  navAt: number;
  /** When the oldest price in it was true: so old is the NAV. */
  navPricedAt: number;
  /** Until when it is known from where on its losses are counted; for ever where nobody counts them. */
  lossesUntil: number;
  /** Whether a loss above its limit waits for its confirmation. */
  lossPending: boolean;
  /** The envelope's limits at this NAV, or at the one before. */
  limits: NavLimits | undefined;
  readonly sheet: FundSheet;
  /** The finest place that its sums needed so far. */
  sumPlace: number;
  /** Gross of the sectors that plain numbers cannot keep, of those that somebody asked about since prices moved. */
  readonly wideSectors: Map<number, Exact>;
  /** What symbols are worth in its currency; undefined until somebody asks. */
  table: ValueTable | undefined;
  /** Whether a line may be without a value. */
  unpriced: boolean;
  /** The oldest exchange rate in the sums. */
  oldestFxAt: number;
  /** The change of prices up to which the sums are right. */
  changesSeen: number;
  /** No priced line has an older mark than this; it may be older than all of them. */
  oldestMarkAt: number;
  openOrders: number;
  readonly pace: InstantRing;
}

export interface StrategyBook {
  readonly id: string;
  /** Undefined when no fund has it any more. */
  fund: FundBook | undefined;
  readonly pace: InstantRing;
  /** Approvals of new risk, by symbol, side and quantity; those that were approved longest ago come first. */
  readonly repeats: Map<bigint, Repeats>;
  /** When the throttle tripped; NaN while it has not. */
  trippedAt: number;
}

/** Equal approvals. */
export interface Repeats {
  readonly symbol: string;
  readonly side: string;
  readonly quantity: Amount;
  /** As the envelope had it at the last of them. */
  windowMicroseconds: number;
  readonly ring: InstantRing;
}

export interface FxQuote {
  readonly rate: Amount;
  readonly at: number;
}

/** What one unit of each symbol is worth in one currency, by slot. */
export interface ValueTable {
  readonly currency: string;
  values: (Amount | undefined)[];
  rates: (Amount | undefined)[];
  /** When the rate was true; infinity for what needs none, NaN for what has none. */
  fxAt: Float64Array;
  /** The value's digits and their place, as plain numbers have them; NaN without a value, infinity for one that is not plain. */
  digits: Float64Array;
  places: Uint8Array;
  /** How many values stand at each place, and how many need an exchange rate. */
  readonly placeCounts: Int32Array;
  ratedCount: number;
}

export interface Books {
  readonly symbols: IdMap<SymbolBook>;
  readonly funds: Map<string, FundBook>;
  readonly strategies: IdMap<StrategyBook>;
  /** By base, then by quote. */
  readonly fx: Map<string, Map<string, FxQuote>>;
  /** By currency; there is one for every currency that some fund has. */
  readonly tables: Map<string, ValueTable>;
  /** By slot. */
  readonly bySlot: (SymbolBook | undefined)[];
  readonly freeSlots: number[];
  markedAt: Float64Array;
  /** By slot, the number of the symbol's sector; 0 is none. */
  sectorAt: Int32Array;
  readonly sectorNumbers: Map<string, number>;
  /** Counts the changes of what anything is worth. */
  changes: number;
  /** How many symbols there ever were. */
  places: number;
  /** No mark is from later than this. */
  newestMarkAt: number;
}

const slotsFirst = 256;

export function createBooks(): Books {
  return {
    symbols: createIdMap(),
    funds: new Map(),
    strategies: createIdMap(),
    fx: new Map(),
    tables: new Map(),
    bySlot: [],
    freeSlots: [],
    markedAt: new Float64Array(slotsFirst).fill(Number.NaN),
    sectorAt: new Int32Array(slotsFirst),
    sectorNumbers: new Map(),
    changes: 0,
    places: 0,
    newestMarkAt: Number.NEGATIVE_INFINITY,
  };
}

function createSymbolBook(symbol: string, place: number, slot: number): SymbolBook {
  return {
    symbol,
    place,
    slot,
    facts: undefined,
    price: undefined,
    bid: undefined,
    ask: undefined,
    market: undefined,
    markedAt: Number.NaN,
    borrowAvailable: undefined,
    borrowFee: undefined,
    borrowAt: Number.NaN,
  };
}

function createFundBook(id: string): FundBook {
  return {
    id,
    known: false,
    currency: "",
    envelope: undefined,
    nav: undefined,
    navAt: Number.NaN,
    navPricedAt: Number.NaN,
    lossesUntil: Number.POSITIVE_INFINITY,
    lossPending: false,
    limits: undefined,
    sheet: createFundSheet(),
    sumPlace: 0,
    wideSectors: new Map(),
    table: undefined,
    unpriced: false,
    oldestFxAt: Number.POSITIVE_INFINITY,
    changesSeen: -1,
    oldestMarkAt: Number.POSITIVE_INFINITY,
    openOrders: 0,
    pace: createInstantRing(),
  };
}

function createStrategyBook(id: string): StrategyBook {
  return { id, fund: undefined, pace: createInstantRing(), repeats: new Map(), trippedAt: Number.NaN };
}

/** The book of a symbol that must be there: one is made for whoever holds what the reference data does not know. */
export function symbolBookOf(books: Books, symbol: string): SymbolBook {
  const known = books.symbols.get(symbol);
  if (known !== undefined) return known;
  books.places += 1;
  const slot = books.freeSlots.pop() ?? books.bySlot.length;
  const book = createSymbolBook(symbol, books.places, slot);
  books.bySlot[slot] = book;
  if (slot >= books.markedAt.length) {
    books.markedAt = widened(books.markedAt, slot + 1);
    const sectorAt = new Int32Array(books.markedAt.length);
    sectorAt.set(books.sectorAt);
    books.sectorAt = sectorAt;
  }
  books.markedAt[slot] = Number.NaN;
  books.sectorAt[slot] = 0;
  // Whoever had the slot before left its value behind.
  for (const table of books.tables.values()) {
    if (slot < table.digits.length) forgetValue(table, slot);
  }
  books.symbols.set(symbol, book);
  return book;
}

/** Nothing is known any more about what the symbol at that slot is worth. */
export function forgetValue(table: ValueTable, slot: number): void {
  if (!Number.isNaN(table.digits[slot] ?? Number.NaN)) {
    const place = table.places[slot] ?? 0;
    table.placeCounts[place] = (table.placeCounts[place] ?? 0) - 1;
    if (Number.isFinite(table.fxAt[slot])) table.ratedCount -= 1;
  }
  table.values[slot] = undefined;
  table.rates[slot] = undefined;
  table.digits[slot] = Number.NaN;
  table.fxAt[slot] = Number.NaN;
}

/** Only for a symbol that nobody holds. */
export function forgetSymbol(books: Books, book: SymbolBook): void {
  books.symbols.delete(book.symbol);
  books.bySlot[book.slot] = undefined;
  books.freeSlots.push(book.slot);
}

/** A longer copy, with room for as many again. */
export function widened(numbers: Float64Array, lengthMin: number): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(Math.max(lengthMin, numbers.length * 2)).fill(Number.NaN);
  wider.set(numbers);
  return wider;
}

export function fundBookOf(books: Books, fundId: string): FundBook {
  let fund = books.funds.get(fundId);
  if (fund === undefined) {
    fund = createFundBook(fundId);
    books.funds.set(fundId, fund);
  }
  return fund;
}

export function strategyBookOf(books: Books, strategyId: string): StrategyBook {
  let strategy = books.strategies.get(strategyId);
  if (strategy === undefined) {
    strategy = createStrategyBook(strategyId);
    books.strategies.set(strategyId, strategy);
  }
  return strategy;
}
