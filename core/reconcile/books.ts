// Holds everybody's books against each other, pure: given what each of them said at one moment, it names what does not agree. Sums over what was read
// before are carried along, so that a look costs what is new; whoever calls adds everything up anew before a difference is believed.
//
// What must agree (books.test.ts and adapters/postgres/queries/books-queries.test.ts name them):
//  1. positions: a position is the sum of its trades, for every strategy in every symbol.
//  2. ledger: every entry sums to zero in every currency; balances and holdings are the sums of what was booked.
//  3. holdings: treasury holds what order management holds, but for trades that it has not booked yet.
//  4. value: a fund's newest value is its cash plus its positions, recomputed from the ledger and its prices (book-values.ts).
//  5. exposure: the risk engine holds what order management holds, but for trades that are on their way; whatever may still trade is reserved, and
//     nothing is reserved for what cannot (book-reservations.ts).
// A trade that has been on its way for too long is a difference as well: which ones these are is the caller's to say.

import type { Decimal } from "../../contracts/src/decimal.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type {
  BelievedApproval,
  BelievedLine,
  BooksLook,
  BooksMarks,
  BooksSince,
  LiveOrder,
  MissingFill,
  Summed,
} from "../../contracts/src/records/books.ts";
import type { BookDifference } from "./book-difference.ts";
import { overReserved, unsentTooLong } from "./book-reservations.ts";
import { compareValues, type ValuesCompared } from "./book-values.ts";

export const bookChecks = {
  positions: "Every position is the sum of its trades.",
  ledger: "Every entry of the ledger sums to zero, and balances and holdings are the sums of what was booked.",
  holdings: "Treasury holds what order management holds.",
  value: "Every fund's newest value is the ledger's cash plus the ledger's positions at the value's prices.",
  exposure:
    "The risk engine holds what order management holds, and reserves what it has in the market and nothing else.",
} as const;
export type BookCheckName = keyof typeof bookChecks;

export interface BookResult {
  readonly compared: number;
  readonly differences: readonly BookDifference[];
  /** What could not be compared, and why: a sentence each. */
  readonly notCompared?: readonly string[];
}

type BookResults = Readonly<Record<BookCheckName, BookResult>>;

/** Sums over everything up to the marks. */
export interface BookTotals {
  readonly marks: BooksMarks;
  readonly sums: Readonly<Record<SummedBook, Sums>>;
}

type SummedBook = Exclude<keyof BooksSince, "rowCount">;
type Sums = ReadonlyMap<string, Decimal>;

export interface Comparison extends ValuesCompared {
  /** Everything up to this look. */
  readonly totals: BookTotals;
  /** What the engine said before this look; undefined when it did not answer. */
  readonly believed: readonly BelievedLine[] | undefined;
  /** What it said to have reserved, order by order; undefined when it did not answer. */
  readonly approvals: readonly BelievedApproval[] | undefined;
  /** Orders for which more has been reserved than may trade for longer than that takes to be heard. */
  readonly overReserved: ReadonlySet<string>;
  /** The orders that the look before this one found. */
  readonly liveBefore: readonly LiveOrder[];
  /** Trades that are on their way for too long. */
  readonly late: ReadonlySet<string>;
}

const books: readonly SummedBook[] = ["fills", "entries", "foreignEntries", "postings", "journal", "foreignJournal"];

export const noTotals: BookTotals = {
  marks: { fills: {}, entries: 0, journal: 0 },
  sums: {
    fills: new Map(),
    entries: new Map(),
    foreignEntries: new Map(),
    postings: new Map(),
    journal: new Map(),
    foreignJournal: new Map(),
  },
};

/** The totals up to that look, which read what came after these. */
export function addLook(before: BookTotals, { marks, since }: BooksLook): BookTotals {
  const added = books.map((book) => [book, plus(before.sums[book], since[book])] as const);
  return { marks, sums: Object.fromEntries(added) as Record<SummedBook, Sums> };
}

/** Whether nothing is on its way: then the totals may be carried along. */
export function isQuiet({ unbooked, unheard }: BooksLook): boolean {
  return unbooked.length === 0 && unheard.length === 0;
}

export function compareBooks(comparison: Comparison): BookResults {
  return {
    positions: comparePositions(comparison),
    ledger: compareLedger(comparison),
    holdings: compareHoldings(comparison),
    value: compareValues(comparison),
    exposure: compareExposure(comparison),
  };
}

function comparePositions({ totals, look }: Comparison): BookResult {
  return agreement("position", "its trades say", sumsOf(look.positions), totals.sums.fills);
}

function compareLedger({ totals, look }: Comparison): BookResult {
  const { entries, postings } = totals.sums;
  const accounts = regrouped(postings, ([fund = "", , account = "", currency = ""]) => [fund, account, currency]);
  const cash = regrouped(postings, ([fund = "", , account, currency = ""]) =>
    account === "cash" ? [fund, currency] : undefined,
  );
  const strategyCash = regrouped(postings, ([fund = "", strategy = "", account, currency = ""]) =>
    account === "cash" && strategy !== "" ? [fund, strategy, currency] : undefined,
  );
  const byFund = regrouped(entries, ([fund = "", , symbol = ""]) => [fund, symbol]);
  const results = [
    agreement("balance", "the postings say", sumsOf(look.balances), accounts),
    agreement("holding", "the ledger says", sumsOf(look.holdings), merged(byFund, cash)),
    agreement("strategy's holding", "the ledger says", sumsOf(look.strategyHoldings), merged(entries, strategyCash)),
  ];
  return {
    compared: results.reduce((count, { compared }) => count + compared, 0),
    differences: [
      ...results.flatMap(({ differences }) => differences),
      ...[...look.unbalanced, ...look.unequal].map((sentence) => ({ about: sentence, sentence })),
    ],
  };
}

function compareHoldings({ totals, look, late }: Comparison): BookResult {
  const booked = new Set(look.balances.map(({ of: [fund] }) => fund));
  const money = new Set(look.balances.map(({ of: [fund, , currency] }) => keyOf([fund ?? "", currency ?? ""])));
  const symbolOf = ([fund = "", , symbol = ""]: readonly string[]): readonly string[] | undefined =>
    booked.has(fund) ? [fund, symbol] : undefined;
  const expected = merged(
    regrouped(sumsOf(look.positions), symbolOf),
    regrouped(totals.sums.foreignEntries, symbolOf),
    negated(regrouped(sumsOf(look.unbooked.map(summedFill)), symbolOf)),
  );
  const held = regrouped(sumsOf(look.holdings), (of) => (money.has(keyOf(of)) || !booked.has(of[0]) ? undefined : of));
  const result = agreement("treasury's holding", "order management says", held, expected);
  return { ...result, differences: [...result.differences, ...lateFills("treasury", look.unbooked, late)] };
}

function compareExposure(comparison: Comparison): BookResult {
  const { totals, look, believed, liveBefore, late } = comparison;
  const held = regrouped(sumsOf(look.positions), ([fund = "", , symbol = ""]) => [fund, symbol]);
  const unheard = look.unheard.map(({ fundId, symbol, quantity }) => ({ of: [fundId, symbol], amount: quantity }));
  const expected = merged(held, negated(sumsOf(unheard)), totals.sums.foreignJournal);
  const journal = agreement("the risk engine's record", "order management says", totals.sums.journal, expected);
  const differences = [...journal.differences, ...lateFills("the risk engine", look.unheard, late)];
  if (believed === undefined) return { compared: 0, differences };
  differences.push(...believedDifferences(totals.sums.journal, look.newestJournal, unheard, believed));
  differences.push(...unreserved(look.liveOrders, liveBefore, believed));
  differences.push(...reservedForNothing(comparison));
  return { compared: journal.compared + believed.length, differences };
}

/** The engine spoke before the look, and a trade moves its books before it is in the record: it may be a few trades behind the record or ahead of it. */
function believedDifferences(
  journal: Sums,
  newest: readonly Summed[],
  unheard: readonly Summed[],
  believed: readonly BelievedLine[],
): readonly BookDifference[] {
  const lines = new Map(believed.map((line) => [keyOf([line.fundId, line.symbol]), decimal.parse(line.quantity)]));
  return [...new Set([...journal.keys(), ...lines.keys()])].flatMap((key) => {
    const recorded = journal.get(key) ?? decimal.zero;
    const own = ({ of }: Summed): boolean => keyOf(of) === key;
    const behind = newest
      .filter(own)
      .map(({ amount }) => decimal.negate(amount))
      .reverse();
    const ahead = unheard.filter(own).map(({ amount }) => amount);
    const quantity = lines.get(key) ?? decimal.zero;
    if (isReachable(quantity, recorded, behind) || isReachable(quantity, recorded, ahead)) return [];
    const figures = `${decimal.format(quantity)}, and its record says ${decimal.format(recorded)}`;
    return [{ about: `engine ${key}`, sentence: `The risk engine believes ${nameOf(key)} to be ${figures}.` }];
  });
}

/** Of orders that were in the market before the engine spoke and still are, what may trade must be reserved. */
function unreserved(
  now: readonly LiveOrder[],
  before: readonly LiveOrder[],
  believed: readonly BelievedLine[],
): readonly BookDifference[] {
  const known = new Map(before.map((order) => [order.orderId, order.remaining]));
  const live = now.flatMap(({ orderId, fundId, symbol, isBuy, remaining }) => {
    const then = known.get(orderId);
    if (then === undefined) return [];
    return [{ of: [fundId, symbol, isBuy ? "buy" : "sell"], amount: decimal.min(then, remaining) }];
  });
  const reserved = new Map(
    believed.flatMap(({ fundId, symbol, pendingBuy, pendingSell }) => [
      [keyOf([fundId, symbol, "buy"]), decimal.parse(pendingBuy)],
      [keyOf([fundId, symbol, "sell"]), decimal.parse(pendingSell)],
    ]),
  );
  return [...sumsOf(live)].flatMap(([key, remaining]) => {
    const has = reserved.get(key) ?? decimal.zero;
    if (has >= remaining) return [];
    const figures = `${decimal.format(has)} is reserved and ${decimal.format(remaining)} may still trade`;
    return [{ about: `reserved ${key}`, sentence: `Of ${nameOf(key)} ${figures}.` }];
  });
}

function reservedForNothing({ approvals = [], look, overReserved: lasting, at }: Comparison) {
  const over = [...overReserved(approvals, look.knownOrders)].filter(([orderId]) => lasting.has(orderId));
  return [...over.map(([, difference]) => difference), ...unsentTooLong(approvals, at)];
}

/** Whether stepping from there, one move after the other, ever gives that amount. */
function isReachable(amount: Decimal, from: Decimal, moves: readonly Decimal[]): boolean {
  let reached = from;
  if (reached === amount) return true;
  for (const move of moves) {
    reached = decimal.add(reached, move);
    if (reached === amount) return true;
  }
  return false;
}

function lateFills(who: string, missing: readonly MissingFill[], late: ReadonlySet<string>): readonly BookDifference[] {
  return missing
    .filter(({ fillId }) => late.has(fillId))
    .map(({ fillId, fundId, symbol, quantity }) => ({
      about: `${who} ${fillId}`,
      sentence: `The trade ${fillId} (${fundId}, ${decimal.format(quantity)} ${symbol}) has not reached ${who}.`,
    }));
}

function agreement(what: string, others: string, mine: Sums, theirs: Sums): BookResult {
  const keys = new Set([...mine.keys(), ...theirs.keys()]);
  const differences = [...keys].flatMap((key) => {
    const [has, should] = [mine.get(key) ?? decimal.zero, theirs.get(key) ?? decimal.zero];
    if (has === should) return [];
    const figures = `is ${decimal.format(has)}, ${others} ${decimal.format(should)}`;
    return [{ about: `${what} ${key}`, sentence: `${nameOf(key)}: ${what} ${figures}.` }];
  });
  return { compared: keys.size, differences };
}

const keyOf = (of: readonly string[]): string => JSON.stringify(of);
const partsOf = (key: string): readonly string[] => parseJson(key) as readonly string[];
const nameOf = (key: string): string => partsOf(key).join(" ");

function summedFill({ fundId, strategyId, symbol, quantity }: MissingFill): Summed {
  return { of: [fundId, strategyId, symbol], amount: quantity };
}

function sumsOf(rows: readonly Summed[]): Sums {
  return plus(new Map(), rows);
}

function plus(sums: Sums, rows: readonly Summed[]): Sums {
  const added = new Map(sums);
  for (const { of, amount } of rows) {
    const key = keyOf(of);
    added.set(key, decimal.add(added.get(key) ?? decimal.zero, amount));
  }
  return added;
}

function merged(...all: readonly Sums[]): Sums {
  return sumsOf(all.flatMap((sums) => [...sums].map(([key, amount]) => ({ of: partsOf(key), amount }))));
}

function negated(sums: Sums): Sums {
  return new Map([...sums].map(([key, amount]) => [key, decimal.negate(amount)]));
}

/** The same amounts under other names; what has none is left out. */
function regrouped(sums: Sums, name: (of: readonly string[]) => readonly string[] | undefined): Sums {
  return sumsOf(
    [...sums].flatMap(([key, amount]) => {
      const of = name(partsOf(key));
      return of === undefined ? [] : [{ of, amount }];
    }),
  );
}
