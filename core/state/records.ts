// What the engine knows, as records that are changed in place: one per symbol, per fund, per strategy and per line (a symbol in a fund).
// Everything is found by its id in one step, and every record has the same shape from birth, so that a check costs the same with ten
// funds and with ten thousand.

import type { Decimal } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Envelope } from "../envelope/envelope.ts";
import type { Amount } from "../money/amount.ts";
import type { Exact, Notional } from "../money/exact.ts";
import { type CellArena, createCellArena } from "./cell-arena.ts";
import { createFundState, type FundState } from "./fund-state.ts";
import { createIdMap, type IdMap } from "./id-table.ts";
import { createInstantRing, type InstantRing } from "./instant-ring.ts";
import type { StrategyPositions } from "./strategy-positions.ts";
import type { InstrumentFacts, Losses, NavLimits } from "./view.ts";

/** A symbol, whoever holds it. Moments are instants, NaN when there is nothing. */
export interface SymbolBook {
  readonly symbol: string;
  /** A number that no other symbol of these books ever has. */
  readonly place: number;
  /** Where it stands in the columns; free again when the symbol leaves. */
  readonly slot: number;
  facts: InstrumentFacts | undefined;
  /** As LIVE funds see it: never from the simulated market. */
  readonly live: SymbolPrices;
  /** As PAPER funds see it: from the simulated market as soon as that has said one, before from anybody. */
  readonly paper: SymbolPrices;
  /** How far its price may move at once, as a fraction; undefined where the platform's own bound counts. */
  jumpMax: Decimal | undefined;
  borrowAvailable: Amount | undefined;
  borrowFee: Amount | undefined;
  borrowAt: number;
  /** Of an option, and undefined of anything else. */
  option: OptionBook | undefined;
  /** The options on it. */
  derived: readonly SymbolBook[];
}

export interface SymbolPrices {
  price: Amount | undefined;
  bid: Amount | undefined;
  ask: Amount | undefined;
  /** The highest of the three. */
  market: Amount | undefined;
  /** The highest and the lowest that it may be, while nobody vouches for the price (core/engine/vouching/price-ranges.ts); undefined while it is the price. */
  highest: Amount | undefined;
  lowest: Amount | undefined;
  markedAt: number;
  /** The feed that said so; empty without a price. */
  source: string;
  /** Of an option, from its newest mark that had them. */
  delta: Amount | undefined;
  stressedUp: Amount | undefined;
  stressedDown: Amount | undefined;
  deltaAt: number;
}

/** What an option's exposure is counted by, beside its prices. */
interface OptionBook {
  /** Undefined when it names none, or one in another currency: then it cannot be counted. */
  readonly underlying: SymbolBook | undefined;
  /** The first moment at which it has ended; NaN when nobody said. */
  readonly endsAt: number;
  readonly isCall: boolean;
}

/** A fund is its fund state and what does not fit there. Every number that a check reads stands in the fund state: in a record it would be an object of its own. */
export interface FundBook extends FundState {
  readonly id: string;
  known: boolean;
  /** Whether it may see prices of the simulated market; a fund whose mode is not known may not. */
  isPaper: boolean;
  currency: string;
  envelope: Envelope | undefined;
  /** A NAV that is not plain; the plain one stands in the fund state. */
  wideNav: Decimal | undefined;
  /** The most that it may be while nobody vouches for it; shown, and nothing is judged by it. */
  navMost: Amount | undefined;
  navAt: number;
  /** The envelope's limits at this NAV, if one of them is not plain. */
  wideLimits: NavLimits | undefined;
  /** Gross of the sectors that plain numbers cannot keep, of those that somebody asked about since prices moved; undefined while there are none. */
  wideSectors: Map<number, Exact> | undefined;
  /** What symbols are worth in its currency; undefined until somebody asks. */
  table: ValueTable | undefined;
  /** Whether a line may be without a value. */
  unpriced: boolean;
  /** Whether a line may be an option; such a fund is added up anew after every change. */
  mayHaveOptions: boolean;
  /** By underlying; undefined while no line is an option. Up to date when the sums are. */
  options: OptionSums | undefined;
  openOrders: number;
  readonly pace: InstantRing;
  /** By slot, what fills that nobody vouches for add to the pending quantities (core/exposure/doubts.ts); undefined while there are none. */
  doubts: Map<number, { readonly buys: Amount; readonly sells: Amount }> | undefined;
}

/** What a fund's options add up to, each with its underlying. */
interface OptionSums {
  /** By the underlying's slot. */
  readonly groups: ReadonlyMap<number, OptionGroup>;
  /** What all of them could lose in the stress together. */
  readonly stress: Exact;
  /** No delta in the sums is older than this; it may be older than all of them. */
  oldestDeltaAt: number;
}

/** An underlying: its own line and those of the options on it, in the worst case of each. */
export interface OptionGroup {
  readonly gross: Notional;
  /** In the stress. */
  readonly losses: Losses;
  /** Units of the underlying that have to be delivered if every written call is assigned. */
  readonly owed: Amount;
}

export interface StrategyBook {
  readonly id: string;
  /** Undefined when no fund has it any more. */
  fund: FundBook | undefined;
  readonly pace: InstantRing;
  /** Approvals of new risk, by symbol, side and quantity; those that were approved longest ago come first. */
  readonly repeats: Map<bigint, Repeats>;
  /** When the throttle tripped; undefined while it has not. */
  trippedAt: Instant | undefined;
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

interface FxQuote {
  readonly rate: Amount;
  /** The ends, while nobody vouches for the rate (core/engine/vouching/rate-ranges.ts). */
  highest?: Amount | undefined;
  lowest?: Amount | undefined;
  readonly at: number;
}

/** What one unit of each symbol is worth in one currency to funds that see the same prices, by slot. */
export interface ValueTable {
  readonly currency: string;
  readonly isPaper: boolean;
  values: (Amount | undefined)[];
  /** Of options: what one adds to net exposure, with its delta's sign. */
  nets: (Amount | undefined)[];
  rates: (Amount | undefined)[];
  /** When the rate was true; infinity for what needs none, NaN for what has none. */
  fxAt: Float64Array;
  /** No rate in it is older than this. */
  oldestFxAt: number;
  /** The value's digits and their place, as plain numbers have them; NaN without a value, infinity for one that is not plain. */
  digits: Float64Array;
  places: Uint8Array;
  /** By place, all digits at that place; of the places that some fund's sums have. */
  scaled: (Float64Array | undefined)[];
}

export interface Books {
  readonly arena: CellArena;
  /** For the paces alone: beside the fund states, which grow and leave, they would lie far from each other. */
  readonly rings: CellArena;
  readonly symbols: IdMap<SymbolBook>;
  readonly funds: Map<string, FundBook>;
  readonly strategies: IdMap<StrategyBook>;
  /** What lies with which broker. */
  readonly brokers: BrokerHoldings;
  readonly strategyPositions: StrategyPositions;
  /** By base, then by quote. */
  readonly fx: Map<string, Map<string, FxQuote>>;
  /** By currency and by which prices are seen; there is one for every such pair that some fund has. */
  readonly tables: Map<string, ValueTable>;
  /** By slot. */
  readonly bySlot: (SymbolBook | undefined)[];
  readonly freeSlots: number[];
  /** By slot, when the price was true that LIVE funds see, and that PAPER funds see. */
  liveMarkedAt: Float64Array;
  paperMarkedAt: Float64Array;
  /** By slot, the number of the symbol's sector; 0 is none. */
  sectorAt: Int32Array;
  readonly sectorNumbers: Map<string, number>;
  /** Room to add a fund up in: gross and net both ways, and by sector. Nothing in it outlives one addition. */
  readonly adding: { readonly sums: Float64Array; sectors: Float64Array };
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
    arena: createCellArena(),
    rings: createCellArena(),
    symbols: createIdMap(),
    funds: new Map(),
    strategies: createIdMap(),
    brokers: new Map(),
    strategyPositions: new Map(),
    fx: new Map(),
    tables: new Map(),
    bySlot: [],
    freeSlots: [],
    liveMarkedAt: new Float64Array(slotsFirst).fill(Number.NaN),
    paperMarkedAt: new Float64Array(slotsFirst).fill(Number.NaN),
    sectorAt: new Int32Array(slotsFirst),
    sectorNumbers: new Map(),
    adding: { sums: new Float64Array(3), sectors: new Float64Array(64) },
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
    live: noPrices(),
    paper: noPrices(),
    jumpMax: undefined,
    borrowAvailable: undefined,
    borrowFee: undefined,
    borrowAt: Number.NaN,
    option: undefined,
    derived: [],
  };
}

export function noPrices(): SymbolPrices {
  return {
    price: undefined,
    bid: undefined,
    ask: undefined,
    market: undefined,
    highest: undefined,
    lowest: undefined,
    markedAt: Number.NaN,
    source: "",
    delta: undefined,
    stressedUp: undefined,
    stressedDown: undefined,
    deltaAt: Number.NaN,
  };
}

/** What the fund may see of the symbol's price. */
export function pricesOf(book: SymbolBook, { isPaper }: { readonly isPaper: boolean }): SymbolPrices {
  return isPaper ? book.paper : book.live;
}

/** When the prices were true that the fund sees, by slot. */
export function marksOf(books: Books, { isPaper }: { readonly isPaper: boolean }): Float64Array {
  return isPaper ? books.paperMarkedAt : books.liveMarkedAt;
}

/** Written out, so that everything stands in the record itself; what a check reads comes first. */
function createFundBook(arena: CellArena, rings: CellArena, id: string): FundBook {
  const fundState = createFundState(arena);
  return {
    cells: fundState.cells,
    words: fundState.words,
    base: fundState.base,
    capacity: fundState.capacity,
    count: fundState.count,
    pendingCount: fundState.pendingCount,
    unevenCount: fundState.unevenCount,
    sectorCount: fundState.sectorCount,
    id,
    envelope: undefined,
    table: undefined,
    pace: createInstantRing(rings),
    currency: "",
    isPaper: false,
    known: false,
    unpriced: false,
    mayHaveOptions: false,
    options: undefined,
    openOrders: 0,
    wideNav: undefined,
    wideLimits: undefined,
    wideSectors: undefined,
    wideLines: fundState.wideLines,
    wideSums: fundState.wideSums,
    navAt: Number.NaN,
    block: fundState.block,
    arena,
    navMost: undefined,
    doubts: undefined,
  };
}

/** Written out as well: what is spread into a record stands outside of it. */
function createStrategyBook(rings: CellArena, id: string): StrategyBook {
  const pace = createInstantRing(rings);
  return {
    fund: undefined,
    id,
    pace,
    trippedAt: undefined,
    repeats: new Map(),
  };
}

/** The book of a symbol that must be there: one is made for whoever holds what the reference data does not know. */
export function symbolBookOf(books: Books, symbol: string): SymbolBook {
  const known = books.symbols.get(symbol);
  if (known !== undefined) return known;
  books.places += 1;
  const slot = books.freeSlots.pop() ?? books.bySlot.length;
  const book = createSymbolBook(symbol, books.places, slot);
  books.bySlot[slot] = book;
  if (slot >= books.liveMarkedAt.length) {
    books.liveMarkedAt = widened(books.liveMarkedAt, slot + 1);
    books.paperMarkedAt = widened(books.paperMarkedAt, slot + 1);
    const sectorAt = new Int32Array(books.liveMarkedAt.length);
    sectorAt.set(books.sectorAt);
    books.sectorAt = sectorAt;
  }
  books.liveMarkedAt[slot] = Number.NaN;
  books.paperMarkedAt[slot] = Number.NaN;
  books.sectorAt[slot] = 0;
  // Whoever had the slot before left its value behind.
  for (const table of books.tables.values()) {
    table.values[slot] = undefined;
    table.nets[slot] = undefined;
    table.rates[slot] = undefined;
    if (slot >= table.digits.length) continue;
    table.digits[slot] = Number.NaN;
    for (const column of table.scaled) if (column !== undefined) column[slot] = Number.NaN;
    table.fxAt[slot] = Number.NaN;
  }
  books.symbols.set(symbol, book);
  return book;
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
    fund = createFundBook(books.arena, books.rings, fundId);
    books.funds.set(fundId, fund);
  }
  return fund;
}

export function strategyBookOf(books: Books, strategyId: string): StrategyBook {
  let strategy = books.strategies.get(strategyId);
  if (strategy === undefined) {
    strategy = createStrategyBook(books.rings, strategyId);
    books.strategies.set(strategyId, strategy);
  }
  return strategy;
}

export type Place = { readonly fund_id: string; readonly symbol: string; readonly broker: string };

/** Negative when short; what is nothing is not kept. */
type BrokerHoldings = Map<string, { readonly place: Place; readonly quantity: Amount }>;
