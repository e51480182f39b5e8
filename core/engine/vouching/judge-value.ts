// Whether a fund's value is one that somebody vouches for, and which of its ends counts while nobody does (decision 0085).
//
// Invariants (judge-value.test.ts names them):
//  1. A fund's first value is vouched for, and so is one that a person accepted. A value from outside is explained when it lies within
//     `risk.value_unexplained_max` of what the last such value has become by the engine's own positions, fills and prices, and when no more money came or
//     went than by then. Steps below that bound add up: they are measured from one value for a day.
//  2. A value of our own treasury is made of its ledger, in which every posting is judged: fills one by one, flows with the second factor. It is vouched for
//     while nothing in it is open.
//  3. While a fill is open, or a price is not believed yet, any value between the ends of what is open is explained, and none is vouched for: limits and losses
//     take the lower end.
//  4. A value that is not explained tightens at once and loosens nothing.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { RiskBlock } from "../../../contracts/src/records/block.ts";
import type { JudgedNav, NavUpdated } from "../../../contracts/src/records/fund.ts";
import { blocksOf } from "../../blocks/block-book.ts";
import {
  carriedNow,
  carryFill,
  carryFrom,
  madeBy,
  movedBy,
  type ValuedFill,
  type VouchedValue,
} from "../../exposure/carried-value.ts";
import { amountOf, oneUnit } from "../../money/amount.ts";
import { product } from "../../money/exact.ts";
import type { FundBook } from "../../state/records.ts";
import { money, percent } from "../../state/wording.ts";
import { type EngineState, setNav } from "../state.ts";
import { beginsAnew, keptValue, rememberValue, vouchedOf } from "./keep-value.ts";
import { openPricesOf } from "./price-ranges.ts";
import { valueBeforeRates } from "./rate-ranges.ts";

export interface JudgedValue {
  /** VOUCHED may become a baseline; EXPLAINED waits for what is open; UNEXPLAINED waits for a person. */
  readonly standing: "VOUCHED" | "EXPLAINED" | "UNEXPLAINED";
  /** What limits are judged by: never more than the value itself. */
  readonly counts: Decimal;
  /** What losses are judged by: the lower end, without flows that nobody vouches for. */
  readonly lost: Decimal;
  /** While a price is not believed yet: the other end, by which a loss has to be one, too, before it halts. */
  readonly best?: Decimal;
  /** Between which the truth lies, as far as the engine can tell. */
  readonly low: Decimal;
  readonly high: Decimal;
  /** What is judged by; undefined where there is none. */
  readonly last: VouchedValue | undefined;
  /** Of one that is not explained. Goes on after "is worth V by S, ". */
  readonly why: string;
}

export interface Values {
  /** Than the one that counts. */
  isNewer(nav: NavUpdated): boolean;
  /** `isOwn` where our treasury made it. */
  judge(nav: NavUpdated, isOwn: boolean): JudgedValue;
  /** It counts from now on, as it was judged. */
  take(nav: NavUpdated, judged: JudgedValue, isOwn: boolean): void;
  /** As it is to be kept, before it is taken. */
  kept(nav: NavUpdated, judged: JudgedValue, isOwn: boolean): JudgedNav;
  /** The one that was kept last, before a restart or an upgrade. */
  remember(nav: JudgedNav): void;
  shown(nav: NavUpdated, judged: JudgedValue): ShownValue;
  isAsShown(nav: NavUpdated, shown: ShownValue): boolean;
}

/** What a person accepts, with what it was judged by. */
type ShownValue = NonNullable<RiskBlock["value"]>;

export function valuesOf(state: EngineState): Values {
  return {
    isNewer: ({ fund_id: fundId, as_of: asOf }) =>
      !(parse(asOf) <= (state.books.funds.get(fundId)?.navAt ?? Number.NaN)),
    judge: (nav, isOwn) => judgeValue(state, nav, isOwn),
    take(nav, judged, isOwn) {
      takeValue(state, nav, judged, isOwn);
      const { standing, counts, high } = judged;
      const most = standing === "VOUCHED" ? undefined : decimal.max(decimal.parse(nav.nav), high);
      setNav(state, nav, counts, most);
    },
    kept: (nav, judged, isOwn) => keptValue(state, nav, judged, isOwn),
    remember(nav) {
      const [counts, most] = rememberValue(state, nav);
      setNav(state, nav, counts, most);
    },
    shown: shownValue,
    isAsShown: (nav, shown) => isAsShown(state, nav, shown),
  };
}

/** A fill is about to move the books, or what takes one back. */
export function noteFill({ values, books }: EngineState, fill: ValuedFill & { readonly fund_id: string }): void {
  const carried = values.get(fill.fund_id);
  if (carried !== undefined) carryFill(carried, books, fill);
}

function judgeValue(state: EngineState, nav: NavUpdated, isOwn: boolean): JudgedValue {
  const value = decimal.parse(nav.nav);
  const flows = decimal.parse(nav.net_flows ?? "0");
  const fund = state.books.funds.get(nav.fund_id);
  const carried = state.values.get(nav.fund_id);
  const carriedTo =
    fund === undefined || isOwn || carried === undefined ? value : carriedNow(state.books, fund, carried);
  const open = openEnds(state, fund, carriedTo);
  const vouched = { standing: "VOUCHED", counts: value, lost: value, low: value, high: value, why: "" } as const;
  if (fund === undefined || (isOwn && !open.isOpen)) return { ...vouched, last: carried };
  if (isOwn || carried === undefined) {
    const low = minus(value, open.down);
    const high = plus(value, open.up);
    const standing = open.isOpen ? "EXPLAINED" : "VOUCHED";
    return { standing, counts: low, lost: low, ...bestOf(open, high), low, high, last: carried, why: "" };
  }
  const moved = minus(flows, carried.netFlows);
  const should = carriedTo;
  const [low, high] = [minus(should, open.down), plus(should, open.up)];
  const bound = boundOf(state, should);
  const why = whyNot({ value, moved, low, high, bound }, fund.currency, state);
  const counts = decimal.min(value, low);
  if (why !== "") {
    return {
      standing: "UNEXPLAINED",
      counts,
      lost: decimal.min(minus(value, moved), low),
      low,
      high,
      last: carried,
      why,
    };
  }
  if (!open.isOpen) return { ...vouched, last: carried };
  return { standing: "EXPLAINED", counts, lost: counts, ...bestOf(open, high), low, high, last: carried, why };
}

const bestOf = ({ hasPrice }: OpenEnds, high: Decimal): { readonly best?: Decimal } => (hasPrice ? { best: high } : {});

/** The value counts from now on. */
function takeValue(state: EngineState, nav: NavUpdated, { standing }: JudgedValue, isOwn: boolean): void {
  const { books, values, clockAt } = state;
  const fund = books.funds.get(nav.fund_id);
  if (fund === undefined) return;
  if (isOwn) {
    values.delete(nav.fund_id);
    return;
  }
  if (!beginsAnew(state, nav.fund_id, standing)) return;
  // Of what the engine has no price of only the first value says one: nobody could hold a later one against anything.
  const said = values.has(nav.fund_id) ? undefined : nav.prices;
  values.set(nav.fund_id, carryFrom(books, fund, vouchedOf(nav), clockAt, said));
}

/** A person vouches for what was shown. */
export function acceptValue({ books, values, clockAt }: EngineState, fundId: string, shown: ShownValue): void {
  const fund = books.funds.get(fundId);
  if (fund === undefined) return;
  const accepted = { nav: decimal.parse(shown.nav), netFlows: decimal.parse(shown.net_flows) };
  values.set(fundId, carryFrom(books, fund, accepted, clockAt));
}

/** As a block shows it. */
function shownValue(nav: NavUpdated, { last }: JudgedValue): ShownValue {
  const { nav: vouched, netFlows } = last ?? vouchedOf(nav);
  return {
    nav: nav.nav,
    net_flows: nav.net_flows ?? "0",
    as_of: nav.as_of,
    vouched_nav: decimal.format(vouched),
    vouched_net_flows: decimal.format(netFlows),
  };
}

/** Whether the value that waits is still the one that its block shows: half the bound away it is another one. */
function isAsShown(state: EngineState, nav: NavUpdated, shown: ShownValue): boolean {
  if (decimal.parse(nav.net_flows ?? "0") !== decimal.parse(shown.net_flows)) return false;
  const value = decimal.parse(shown.nav);
  return decimal.abs(minus(decimal.parse(nav.nav), value)) * 2n <= boundOf(state, value);
}

interface OpenEnds {
  /** By how much the fund may be worth less, and more. */
  down: Decimal;
  up: Decimal;
  isOpen: boolean;
  /** Whether the price of something that it holds, or a rate of its currency, is a range. */
  hasPrice: boolean;
}

/** What open fills may turn out to have made of that value, and what prices and rates that are not believed yet would make of what is held. */
function openEnds(state: EngineState, fund: FundBook | undefined, value: Decimal): OpenEnds {
  const { blockBook, books } = state;
  const ends: OpenEnds = { down: decimal.zero, up: decimal.zero, isOpen: false, hasPrice: false };
  if (fund === undefined) return ends;
  for (const { book, range } of openPricesOf(state, fund)) {
    ends.hasPrice = true;
    const moved = [range.low, range.high].map((price) => movedBy(books, fund, book, amountOf(price)));
    ends.down = minus(ends.down, moved.reduce(decimal.min, decimal.zero));
    ends.up = plus(ends.up, moved.reduce(decimal.max, decimal.zero));
  }
  for (const before of valueBeforeRates(state, fund)) {
    ends.hasPrice = true;
    ends.down = decimal.max(ends.down, minus(value, before));
    ends.up = decimal.max(ends.up, minus(before, value));
  }
  ends.isOpen = ends.hasPrice;
  if (!blockBook.byFund.has(fund.id)) return ends;
  for (const { fill, symbol } of blocksOf(blockBook, fund.id)) {
    if (fill?.side === undefined || fill.quantity === undefined || symbol === undefined) continue;
    ends.isOpen = true;
    const { side, quantity, price, fee } = fill;
    const made = madeBy(books, fund, { symbol, side, quantity, price, fee });
    if (made > 0n) ends.down = plus(ends.down, made);
    else ends.up = minus(ends.up, made);
  }
  return ends;
}

interface Compared {
  readonly value: Decimal;
  readonly moved: Decimal;
  readonly low: Decimal;
  readonly high: Decimal;
  readonly bound: Decimal;
}

function whyNot({ value, moved, low, high, bound }: Compared, currency: string, state: EngineState): string {
  const shown = (amount: Decimal): string => money(product(amountOf(amount), oneUnit), currency);
  if (moved !== 0n) {
    return `of which ${shown(moved)} came or went as flows since the last value that somebody vouched for`;
  }
  if (value >= minus(low, bound) && value <= plus(high, bound)) return "";
  const range = low === high ? shown(low) : `${shown(low)} to ${shown(high)}`;
  return `and by the last value that somebody vouched for, with our own positions, fills and prices since, it is ${range}: more than ${percent(amountOf(state.options.valueUnexplainedMax))} of it is not explained`;
}

const boundOf = ({ options }: EngineState, of: Decimal): Decimal =>
  ((decimal.abs(of) * options.valueUnexplainedMax) / decimal.one) as Decimal;

/** Unlike decimal's own they refuse nothing: what is too large is not explained, and no reason to stop. */
const plus = (left: Decimal, right: Decimal): Decimal => (left + right) as Decimal;
const minus = (left: Decimal, right: Decimal): Decimal => (left - right) as Decimal;
