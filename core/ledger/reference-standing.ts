// What stands against a change of reference data. Whatever is held, open, owed or halted needs the fund, the strategy, the instrument and the rate
// that it was begun with: a change that would take one of them away, or make another thing of it, is refused with the list of what needs it.
//
// Invariants (reference-standing.test.ts names them):
//  1. A change that takes nothing away is never refused, whatever stands.
//  2. Nothing that stands loses its fund, strategy, instrument, underlying or rate, or sees its fund's mode, currency or trading day, or what one
//     unit of its instrument is, become another. A day that becomes another at once would begin to count its losses anew.
//  3. Where nothing stands that needs it, everything may be changed.
import { tradingCalendar, tradingDay } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Instrument } from "../../contracts/src/records/market.ts";
import {
  type CalendarReference,
  calendarDefinition,
  type FundReference,
  type ReferenceContents,
} from "../../contracts/src/records/reference.ts";

/** One thing that needs reference data; what it does not name it does not need. */
export interface Standing {
  /** As people read it, for example "order o-1 of alpha". */
  readonly what: string;
  readonly fundId?: string;
  readonly strategyId?: string;
  readonly symbol?: string;
  /** Money in this currency, which needs its rate into the fund's and the fund's currency as it is, and nothing else. */
  readonly cash?: string;
}

/** Something that the change would take away, and whether something needs it. */
interface Taking {
  readonly sentence: string;
  readonly isNeededBy: (standing: Standing) => boolean;
}

type Contents = Pick<ReferenceContents, "instruments" | "funds" | "fx" | "calendars">;

/** More of them are counted, not named. */
const namedMax = 10;
const sentencesMax = 20;

/** Whether anything need be asked at all. */
export function takesAway(before: Contents, after: Contents, at: Instant): boolean {
  return takings(before, after, at).length > 0;
}

/** One sentence for each thing that is taken away under something; none when the change may be made. */
export function standingAgainst(
  before: Contents,
  after: Contents,
  facts: readonly Standing[],
  at: Instant,
): readonly string[] {
  const sentences: string[] = [];
  for (const { sentence, isNeededBy } of takings(before, after, at)) {
    const needing = facts.filter(isNeededBy).map(({ what }) => what);
    if (needing.length > 0) sentences.push(`${sentence}: ${named(needing)}.`);
  }
  if (sentences.length <= sentencesMax) return sentences;
  return [...sentences.slice(0, sentencesMax), `There are ${sentences.length - sentencesMax} more of these.`];
}

function named(needing: readonly string[]): string {
  const all = [...new Set(needing)];
  const shown = all.slice(0, namedMax).join(", ");
  return all.length <= namedMax ? shown : `${shown} and ${all.length - namedMax} more`;
}

function takings(before: Contents, after: Contents, at: Instant): readonly Taking[] {
  return [
    ...ofInstruments(before, after),
    ...ofFunds(before, after),
    ...ofCalendars(before, after, at),
    ...ofRates(before, after),
  ];
}

/** What one unit of an instrument is; tick, lot, sector, name and sessions may change under a position. */
const unitFields = ["multiplier", "currency", "asset_class", "underlying", "expiry", "strike", "right"] as const;

function ofInstruments(before: Contents, after: Contents): readonly Taking[] {
  const left = new Map(after.instruments.map((one) => [one.symbol, one]));
  const optionsOn = new Map<string, Set<string>>();
  for (const { symbol, underlying } of before.instruments) {
    if (underlying !== undefined) optionsOn.set(underlying, (optionsOn.get(underlying) ?? new Set()).add(symbol));
  }
  return before.instruments.flatMap((was): readonly Taking[] => {
    const is = left.get(was.symbol);
    const isNeededBy = ({ symbol }: Standing): boolean => symbol === was.symbol;
    if (is !== undefined) {
      const changed = unitFields.filter((field) => !isSame(was, is, field));
      if (changed.length === 0) return [];
      return [{ sentence: `instruments: ${changed.join(", ")} of ${was.symbol} would change under`, isNeededBy }];
    }
    const options = optionsOn.get(was.symbol);
    return [
      {
        sentence: `instruments: ${was.symbol} would go away under`,
        isNeededBy: (one) => isNeededBy(one) || (one.symbol !== undefined && options?.has(one.symbol) === true),
      },
    ];
  });
}

/** "1" and "1.0" are one number. */
function isSame(was: Instrument, is: Instrument, field: (typeof unitFields)[number]): boolean {
  const [before, after] = [was[field], is[field]];
  if (before === undefined || after === undefined || (field !== "multiplier" && field !== "strike"))
    return before === after;
  return decimal.parse(before) === decimal.parse(after);
}

function ofFunds(before: Contents, after: Contents): readonly Taking[] {
  const left = new Map(after.funds.map((fund) => [fund.fund_id, fund]));
  return before.funds.flatMap((was): readonly Taking[] => {
    const { fund_id: fundId } = was;
    const is = left.get(fundId);
    const isOfFund = (one: Standing): boolean => one.fundId === fundId && one.cash === undefined;
    const strategies = goneStrategies(was, is);
    if (is === undefined)
      return [{ sentence: `funds: ${fundId} would go away under`, isNeededBy: isOfFund }, ...strategies];
    const changed: Taking[] = (["mode", "calendar"] as const)
      .filter((field) => was[field] !== is[field])
      .map((field) => ({ sentence: `funds: the ${field} of ${fundId} would change under`, isNeededBy: isOfFund }));
    if (was.currency !== is.currency) {
      const sentence = `funds: the currency of ${fundId} would change under`;
      changed.push({ sentence, isNeededBy: (one) => one.fundId === fundId });
    }
    return [...changed, ...strategies];
  });
}

/** A strategy that is another fund's now is gone as well: what it holds is held by this one. */
function goneStrategies(was: FundReference, is: FundReference | undefined): readonly Taking[] {
  const left = new Set(is?.strategies);
  return was.strategies
    .filter((strategyId) => !left.has(strategyId))
    .map((strategyId) => ({
      sentence: `funds: the strategy ${strategyId} of ${was.fund_id} would go away under`,
      isNeededBy: (one) => one.strategyId === strategyId,
    }));
}

/** Where a fund's trading day begins and ends; hours, and holidays that do not move today, are kept up to date under whatever is held. */
function ofCalendars(before: Contents, after: Contents, at: Instant): readonly Taking[] {
  const left = new Map(after.calendars.map((calendar) => [calendar.name, calendar]));
  const moved = new Map(
    before.calendars.flatMap((was) => {
      const is = left.get(was.name);
      const how = is === undefined ? undefined : movedBy(was, is, at);
      return how === undefined ? [] : [[was.name, how] as const];
    }),
  );
  return before.funds.flatMap(({ fund_id: fundId, calendar }): readonly Taking[] => {
    const how = moved.get(calendar);
    if (how === undefined) return [];
    const sentence = `calendars: ${how} of ${calendar}, by which ${fundId} counts its days, would change under`;
    return [{ sentence, isNeededBy: (one) => one.fundId === fundId && one.cash === undefined }];
  });
}

function movedBy(was: CalendarReference, is: CalendarReference, at: Instant): string | undefined {
  if (was.zone !== is.zone) return "the zone";
  const [before, after] = [was, is].map((calendar) => tradingDay(tradingCalendar(calendarDefinition(calendar)), at));
  return before === after ? undefined : `the present trading day (${before}, then ${after})`;
}

function ofRates(before: Contents, after: Contents): readonly Taking[] {
  const pairOf = (one: string, other: string): string => [one, other].sort().join("/");
  const left = new Set(after.fx.map(({ base, quote }) => pairOf(base, quote)));
  const gone = new Set(before.fx.map(({ base, quote }) => pairOf(base, quote)).filter((pair) => !left.has(pair)));
  if (gone.size === 0) return [];
  const funds = new Map(before.funds.map((fund) => [fund.fund_id, fund.currency]));
  const currencies = new Map(before.instruments.map(({ symbol, currency }) => [symbol, currency]));
  return [...gone].map((pair) => ({
    sentence: `fx: the rate ${pair} would go away under`,
    isNeededBy: ({ fundId, symbol, cash }) => {
      const own = funds.get(fundId ?? "");
      const other = cash ?? currencies.get(symbol ?? "");
      return own !== undefined && other !== undefined && pairOf(own, other) === pair;
    },
  }));
}
