// The books of a period, day by day, from facts alone: what every day opened with, earned, paid and closed with, each part computed from fills, prices and
// the ledger, none of them as the rest. What does not tie is a difference, and stays one.
//
//  1. realised + unrealised of a day is the change of the positions' value less what the day's trades cost.
//  2. A fill that treasury had not booked when it valued the day (the newest ones, within seconds) counts from the next value on.
import * as decimal from "../../contracts/src/decimal.ts";
import { parse } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import type { ReconciliationLine } from "../document.ts";
import type { NavFact, ReportFacts } from "../facts.ts";
import { compareText, daysBetween } from "../metrics/dates.ts";
import { type ClosedLot, isLongTerm, type LotMethod, matchLots } from "../metrics/lots.ts";
import { ReportRefused } from "../shape.ts";
import { tradeDates } from "../trade-dates.ts";
import { cashAccounts, ledgerCashOf, notYetBooked } from "./late-fills.ts";
import { ledgerTies } from "./ledger-ties.ts";
import { type DayPair, worstDay, worstPair } from "./tie-out.ts";

type Decimal = decimal.Decimal;

export interface BookLine {
  readonly symbol: string;
  readonly quantity: Decimal;
  /** Null where no price is known: then it counts as zero, and the day does not tie. */
  readonly price: Decimal | null;
  readonly pricedAt: string;
  readonly source: "valuation" | "market close";
  readonly value: Decimal;
}

export interface BookDay {
  readonly day: string;
  readonly asOf: string;
  readonly opening: Decimal;
  readonly realised: Decimal;
  readonly unrealised: Decimal;
  readonly income: Decimal;
  readonly fees: Decimal;
  readonly flows: Decimal;
  readonly closing: Decimal;
  /** closing - (opening + realised + unrealised + income - fees + flows). */
  readonly difference: Decimal;
  readonly cash: Decimal;
  readonly positionsValue: Decimal;
  readonly lines: readonly BookLine[];
  /** What was held at the value before. */
  readonly openLines: readonly BookLine[];
  /** What this value has in it and the one before had not. */
  readonly fills: readonly Fill[];
  /** Fees of the day's fills, and what borrowing cost; together they are `fees`. */
  readonly fillFees: Decimal;
  readonly borrowFees: Decimal;
  /** Income less what borrowing cost, of what the ledger books with a symbol. */
  readonly incomeBySymbol: ReadonlyMap<string, Decimal>;
}

export interface TradedLot extends ClosedLot {
  readonly symbol: string;
  readonly strategyId: string;
  /** Trade dates, in the market's own zone. */
  readonly openedOn: string;
  readonly closedOn: string;
}

export interface Books {
  readonly days: readonly BookDay[];
  /** Every lot that was closed since the fund began, by closing time. */
  readonly closed: readonly TradedLot[];
  readonly reconciliation: readonly ReconciliationLine[];
  readonly periodFills: readonly Fill[];
}

const sum = (values: readonly Decimal[]): Decimal => values.reduce(decimal.add, decimal.zero);
const times = (left: Decimal, right: Decimal): Decimal => decimal.multiply(left, right, "half-even");

export const directionOf = (side: Fill["side"]): 1 | -1 => (side === "BUY" || side === "BUY_TO_COVER" ? 1 : -1);

/** The days from start to end, whose opening is the value of the day before them. */
export function booksOf(facts: ReportFacts, start: string, end: string, method: LotMethod = "FIFO"): Books {
  const navs = facts.navs.filter(({ day }) => day <= end);
  const firstInside = navs.findIndex(({ day }) => day >= start);
  if (firstInside === -1) {
    const last = facts.navs.at(-1)?.day;
    throw new ReportRefused(
      `${facts.fund.fund_id} has no value from ${start} to ${end}${last === undefined ? "" : `; its last one is of ${last}`}.`,
    );
  }
  const chosen = navs.slice(Math.max(0, firstInside - 1));
  const ledger = facts.ledger.map((entry) => ({ ...entry, atUs: parse(entry.at) as number }));
  const multipliers = new Map(facts.instruments.map((each) => [each.symbol, decimal.parse(each.multiplier)]));
  const sorted = [...facts.fills].sort((one, other) => compareText(one.filled_at, other.filled_at));
  const valued = fillsByValue(facts, chosen, sorted);
  const closed = closedLots(sorted, multipliers, method, tradeDates(facts));
  const realisedAt = new Map<string, Decimal>();
  for (const { closedAt, gross } of closed) {
    realisedAt.set(closedAt, decimal.add(realisedAt.get(closedAt) ?? decimal.zero, gross));
  }
  const days: BookDay[] = [];
  const held = new Map<string, Decimal>();
  const closes = closesByDay(facts);
  let before: NavFact | undefined;
  let linesBefore: readonly BookLine[] = [];
  for (const [index, nav] of chosen.entries()) {
    const fills = valued[index] ?? [];
    for (const fill of fills) {
      held.set(fill.symbol, decimal.add(held.get(fill.symbol) ?? decimal.zero, signedQuantity(fill)));
    }
    const lines = linesOf(closes, nav, held, multipliers);
    if (before !== undefined) {
      days.push(
        bookDay(facts, {
          ledger,
          before,
          nav,
          fills,
          lines,
          openLines: linesBefore,
          realisedAt,
          multipliers,
        }),
      );
    }
    before = nav;
    linesBefore = lines;
  }
  const periodFills = valued.slice(1).flat();
  return {
    days,
    closed,
    periodFills,
    reconciliation: [
      ...reconciled(facts, days, chosen, valued),
      ...ledgerTies(facts, (fill) => costOf(fill, multipliers)),
    ],
  };
}

export const signedQuantity = (fill: Fill): Decimal => {
  const quantity = decimal.parse(fill.quantity);
  return directionOf(fill.side) === 1 ? quantity : decimal.negate(quantity);
};

export const costOf = (fill: Fill, multipliers: ReadonlyMap<string, Decimal>): Decimal =>
  times(times(signedQuantity(fill), multipliers.get(fill.symbol) ?? decimal.one), decimal.parse(fill.price));

/** Which fills each value has in it for the first time. */
function fillsByValue(
  facts: ReportFacts,
  navs: readonly NavFact[],
  sorted: readonly Fill[],
): readonly (readonly Fill[])[] {
  const ledger = ledgerCashOf(facts);
  let next = 0;
  let waiting: readonly Fill[] = [];
  const held = new Map<string, Decimal>();
  return navs.map((nav) => {
    const due: Fill[] = [...waiting];
    const until = parse(nav.as_of);
    for (; next < sorted.length; next += 1) {
      const fill = sorted[next];
      if (fill === undefined || parse(fill.filled_at) > until) break;
      due.push(fill);
    }
    const late = nav.prices === null ? new Set<Fill>() : notYetBooked({ nav, due, held, ledger, signedQuantity });
    waiting = due.filter((fill) => late.has(fill));
    const inside = due.filter((fill) => !late.has(fill));
    for (const fill of inside) {
      held.set(fill.symbol, decimal.add(held.get(fill.symbol) ?? decimal.zero, signedQuantity(fill)));
    }
    return inside;
  });
}

type Closes = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** By symbol, then by day. */
const closesByDay = (facts: ReportFacts): Closes =>
  new Map(
    Object.entries(facts.closes).map(([symbol, row]) => [symbol, new Map(row.map(({ day, close }) => [day, close]))]),
  );

function linesOf(
  closes: Closes,
  nav: NavFact,
  held: ReadonlyMap<string, Decimal>,
  multipliers: ReadonlyMap<string, Decimal>,
): readonly BookLine[] {
  return [...held]
    .filter(([, quantity]) => quantity !== decimal.zero)
    .sort(([one], [other]) => compareText(one, other))
    .map(([symbol, quantity]) => {
      const kept = nav.prices?.[symbol];
      const text = kept?.price ?? closes.get(symbol)?.get(nav.day);
      const price = text === undefined ? null : decimal.parse(text);
      const units = times(quantity, multipliers.get(symbol) ?? decimal.one);
      return {
        symbol,
        quantity,
        price,
        pricedAt: kept?.at ?? nav.day,
        source: kept === undefined ? ("market close" as const) : ("valuation" as const),
        value: price === null ? decimal.zero : times(units, price),
      };
    });
}

function closedLots(
  sorted: readonly Fill[],
  multipliers: ReadonlyMap<string, Decimal>,
  method: LotMethod,
  dateOf: (at: string) => string,
): readonly TradedLot[] {
  const groups = new Map<string, Fill[]>();
  for (const fill of sorted) {
    const key = `${fill.strategy_id} ${fill.symbol}`;
    const group = groups.get(key) ?? [];
    group.push(fill);
    groups.set(key, group);
  }
  const closed = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { strategy_id: strategyId, symbol } = first;
    const lots = matchLots(group.map(lotFill), method, multipliers.get(symbol) ?? decimal.one);
    return lots.closed.map((lot): TradedLot => {
      // By trade dates in the market's zone: an evening trade is of the day before its date in UTC.
      const [openedOn, closedOn] = [dateOf(lot.openedAt), dateOf(lot.closedAt)];
      const isLong = lot.direction === "LONG" && isLongTerm(openedOn, closedOn);
      const term = isLong ? ("LONG_TERM" as const) : ("SHORT_TERM" as const);
      return { ...lot, symbol, strategyId, openedOn, closedOn, holdingDays: daysBetween(openedOn, closedOn), term };
    });
  });
  return closed.sort((one, other) => compareText(one.closedAt, other.closedAt));
}

const lotFill = (fill: Fill) => ({
  at: fill.filled_at,
  direction: directionOf(fill.side),
  quantity: decimal.parse(fill.quantity),
  price: decimal.parse(fill.price),
  fee: decimal.parse(fill.fee ?? "0"),
  isSplit: fill.kind === "CORPORATE_ACTION",
});

type BookedEntry = ReportFacts["ledger"][number] & { readonly atUs: number };

interface DayInput {
  readonly ledger: readonly BookedEntry[];
  readonly before: NavFact;
  readonly nav: NavFact;
  readonly fills: readonly Fill[];
  readonly lines: readonly BookLine[];
  readonly openLines: readonly BookLine[];
  /** Gross, by the moment of the closing trade. */
  readonly realisedAt: ReadonlyMap<string, Decimal>;
  readonly multipliers: ReadonlyMap<string, Decimal>;
}

function bookDay(
  facts: ReportFacts,
  { ledger, before, nav, fills, lines, openLines, realisedAt, multipliers }: DayInput,
): BookDay {
  const moments = new Set(fills.map((fill) => fill.filled_at));
  const realised = sum([...moments].map((at) => realisedAt.get(at) ?? decimal.zero));
  const moved = decimal.subtract(sum(lines.map(({ value }) => value)), sum(openLines.map(({ value }) => value)));
  const traded = sum(fills.map((fill) => costOf(fill, multipliers)));
  const unrealised = decimal.subtract(decimal.subtract(moved, traded), realised);
  const [from, to]: readonly number[] = [parse(before.as_of), parse(nav.as_of)];
  const booked = ledger.filter(({ atUs }) => atUs > (from ?? 0) && atUs <= (to ?? 0));
  const posted = (account: string): Decimal =>
    sum(
      booked
        .flatMap(({ postings }) => postings)
        .filter((posting) => posting.account === account && posting.currency === facts.fund.currency)
        .map(({ amount }) => decimal.parse(amount)),
    );
  const income = decimal.negate(posted("dividends"));
  const fillFees = sum(fills.map((fill) => decimal.parse(fill.fee ?? "0")));
  const borrowFees = posted("borrow_fees");
  const fees = decimal.add(fillFees, borrowFees);
  const flows = decimal.subtract(decimal.parse(nav.net_flows), decimal.parse(before.net_flows));
  const [opening, closing] = [decimal.parse(before.nav), decimal.parse(nav.nav)];
  const explained = sum([opening, realised, unrealised, income, decimal.negate(fees), flows]);
  return {
    day: nav.day,
    asOf: nav.as_of,
    opening,
    realised,
    unrealised,
    income,
    fees,
    flows,
    closing,
    difference: decimal.subtract(closing, explained),
    cash: decimal.parse(nav.cash),
    positionsValue: decimal.parse(nav.positions_value),
    lines,
    openLines,
    fills,
    fillFees,
    borrowFees,
    incomeBySymbol: incomeBySymbol(booked, facts.fund.currency),
  };
}

const incomeAccounts: ReadonlySet<string> = new Set(["dividends", "borrow_fees"]);

/** What was earned is a credit, and what it cost a debit. */
function incomeBySymbol(booked: readonly BookedEntry[], currency: string): ReadonlyMap<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const { symbol, postings } of booked) {
    if (symbol === null) continue;
    for (const posting of postings) {
      if (!incomeAccounts.has(posting.account) || posting.currency !== currency) continue;
      sums.set(symbol, decimal.subtract(sums.get(symbol) ?? decimal.zero, decimal.parse(posting.amount)));
    }
  }
  return sums;
}

function reconciled(
  facts: ReportFacts,
  days: readonly BookDay[],
  navs: readonly NavFact[],
  valued: readonly (readonly Fill[])[],
): readonly ReconciliationLine[] {
  return [
    ...worstDay(
      "NAV = cash + positions",
      navs.map(({ day, nav, cash, positions_value }) => ({
        day,
        left: decimal.parse(nav),
        right: decimal.add(decimal.parse(cash), decimal.parse(positions_value)),
      })),
    ),
    ...worstDay(
      "Positions' value = fills x prices",
      days.map(({ day, positionsValue, lines }) => ({
        day,
        left: positionsValue,
        right: sum(lines.map(({ value }) => value)),
      })),
    ),
    ...worstDay("Quantities valued = fills", valuedQuantities(days, navs)),
    ...worstDay(
      "Closing NAV = opening + realised + unrealised + income - fees + flows",
      days.map((day) => ({ day: day.day, left: day.closing, right: decimal.subtract(day.closing, day.difference) })),
    ),
    ...worstDay("Cash = the ledger's cash and dividends due", ledgerCash(facts, navs, valued)),
  ];
}

/** Of every position of the days whose valuation is kept, the one that differs most. */
function valuedQuantities(days: readonly BookDay[], navs: readonly NavFact[]): readonly DayPair[] {
  const kept = new Map(navs.map(({ day, prices }) => [day, prices]));
  return days.flatMap(({ day, lines }): readonly DayPair[] => {
    const prices = kept.get(day) ?? null;
    if (prices === null) return [];
    const traded = new Map(lines.map(({ symbol, quantity }) => [symbol, quantity]));
    const pairs = [...new Set([...traded.keys(), ...Object.keys(prices)])].map((symbol) => ({
      day,
      left: decimal.parse(prices[symbol]?.quantity ?? "0"),
      right: traded.get(symbol) ?? decimal.zero,
    }));
    return worstPair(pairs);
  });
}

/** Of the last day, unless it lies before the ledger's first entry: the seeded history has none. */
function ledgerCash(facts: ReportFacts, navs: readonly NavFact[], valued: readonly (readonly Fill[])[]) {
  const inside = new Set(valued.flat().map((fill) => fill.fill_id));
  const late = new Set(facts.fills.filter((fill) => !inside.has(fill.fill_id)).map((fill) => fill.fill_id));
  const [begun] = facts.ledger.map(({ at }) => parse(at)).sort((one, other) => one - other);
  return navs
    .slice(-1)
    .filter((nav) => begun !== undefined && parse(nav.as_of) >= begun)
    .map((nav) => ({
      day: nav.day,
      left: decimal.parse(nav.cash),
      right: sum(
        facts.ledger
          .filter(({ at, entry_id }) => parse(at) <= parse(nav.as_of) && !late.has(entry_id.replace(/^fill:/, "")))
          .flatMap(({ postings }) => postings)
          .filter(({ account, currency }) => cashAccounts.has(account) && currency === facts.fund.currency)
          .map(({ amount }) => decimal.parse(amount)),
      ),
    }));
}
