// What is kept beside a fund's newest value, so that a restart neither vouches for it nor begins anew what the next one is held against.
//
// Invariants (keep-value.test.ts names them):
//  1. After a restart a value counts as it did before: at its lower end while nobody vouches for it.
//  2. What a value from outside is explained by goes on where it was: from what the last vouched one had become, at the engine's own prices, and for the rest of
//     its day. No price counts that the value itself says.
//  3. The first price after a restart of what a valued fund holds is held against the last that was believed, and so is its value.
//  4. What was kept before any of this was, or before a person accepted a value, is vouched for.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import type { RiskBlock } from "../../../contracts/src/records/block.ts";
import type { JudgedNav, NavUpdated } from "../../../contracts/src/records/fund.ts";
import { blocksOf } from "../../blocks/block-book.ts";
import { carriedNow, carryFrom, type VouchedValue } from "../../exposure/carried-value.ts";
import { watchPrice } from "../../exposure/price-jump.ts";
import { toDecimal } from "../../money/amount.ts";
import { positionAt, rowOf, slotsOf } from "../../state/fund-state.ts";
import { type FundBook, pricesOf } from "../../state/records.ts";
import type { EngineState } from "../state.ts";
import { believedOf } from "./price-ranges.ts";
import { noteValueBefore } from "./rate-ranges.ts";

type Judged = NonNullable<JudgedNav["judged"]>;

/** What is kept of a judgement. */
interface JudgedEnds {
  readonly standing: "VOUCHED" | "EXPLAINED" | "UNEXPLAINED";
  readonly counts: Decimal;
  readonly high: Decimal;
}

/** How long steps below the bound are added up. */
const sameDayMs = 86_400_000;

/** Whether a value that is taken now becomes the one that others are held against. */
export function beginsAnew({ values, clockAt }: EngineState, fundId: string, standing: JudgedEnds["standing"]) {
  const carried = values.get(fundId);
  return standing === "VOUCHED" && (carried === undefined || millisecondsBetween(carried.since, clockAt) >= sameDayMs);
}

/** Before it is taken. */
export function keptValue(state: EngineState, nav: NavUpdated, judged: JudgedEnds, isOwn: boolean): JudgedNav {
  const fund = state.books.funds.get(nav.fund_id);
  if (fund === undefined) return nav;
  const { counts, high, standing } = judged;
  const most = standing === "VOUCHED" ? undefined : decimal.max(decimal.parse(nav.nav), high);
  const carried = isOwn ? undefined : carriedOf(state, fund, nav, standing);
  return {
    ...nav,
    judged: {
      counts: decimal.format(counts),
      ...(most !== undefined && { most: decimal.format(most) }),
      ...(carried !== undefined && { carried }),
      prices: heldAt(state, fund),
    },
  };
}

function carriedOf(
  state: EngineState,
  fund: FundBook,
  nav: NavUpdated,
  standing: JudgedEnds["standing"],
): Judged["carried"] {
  if (beginsAnew(state, nav.fund_id, standing)) {
    return { nav: nav.nav, net_flows: nav.net_flows ?? "0", since: format(state.clockAt) };
  }
  const carried = state.values.get(nav.fund_id);
  if (carried === undefined) return undefined;
  const value = decimal.format(carriedNow(state.books, fund, carried));
  return { nav: value, net_flows: decimal.format(carried.netFlows), since: format(carried.since) };
}

function heldAt(state: EngineState, fund: FundBook): Judged["prices"] {
  const { books } = state;
  const held: [string, Judged["prices"][string]][] = [];
  for (const slot of slotsOf(fund)) {
    const book = books.bySlot[slot];
    const quantity = toDecimal(positionAt(fund, rowOf(fund, slot)));
    const price = book && pricesOf(book, fund).price;
    if (book === undefined || quantity === 0n || price === undefined) continue;
    const exact = toDecimal(price);
    const { low, high } = believedOf(state, book.symbol, fund.isPaper) ?? { low: exact, high: exact };
    const [at, least, most] = [exact, low, high].map(decimal.format) as [string, string, string];
    held.push([book.symbol, { quantity: decimal.format(quantity), price: at, low: least, high: most }]);
  }
  return Object.fromEntries(held);
}

/** The value that was kept last: before a restart, or before an upgrade. Answers what counts of it, and the most that it may be. */
export function rememberValue(state: EngineState, nav: JudgedNav): readonly [Decimal, Decimal] {
  const fund = state.books.funds.get(nav.fund_id);
  const value = decimal.parse(nav.nav);
  if (fund === undefined) return [value, value];
  const { judged } = nav;
  if (judged === undefined || isAccepted(state, nav)) return rememberUnjudged(state, fund, nav);
  const prices = sameAsHeld(state, fund, judged);
  const { carried, counts, most = counts } = judged;
  if (carried !== undefined) {
    const from = { nav: decimal.parse(carried.nav), netFlows: decimal.parse(carried.net_flows) };
    state.values.set(nav.fund_id, carryFrom(state.books, fund, from, parse(carried.since), prices));
  }
  const watches = fund.isPaper ? state.prices.paper : state.prices.live;
  for (const [symbol, { low, high }] of Object.entries(prices)) {
    const last = { low: decimal.parse(low), high: decimal.parse(high) };
    watches.set(symbol, { ...watchPrice(), last });
  }
  noteValueBefore(state, fund, decimal.parse(counts));
  return [decimal.parse(counts), decimal.parse(most)];
}

/** As a block shows it. */
function blockShown({ blockBook }: EngineState, fundId: string): RiskBlock["value"] {
  return blocksOf(blockBook, fundId).find(({ value }) => value !== undefined)?.value;
}

export function vouchedOf({ nav, net_flows: flows = "0" }: NavUpdated): VouchedValue {
  return { nav: decimal.parse(nav), netFlows: decimal.parse(flows) };
}

/** Invariant 4. */
function rememberUnjudged(state: EngineState, fund: FundBook, nav: NavUpdated): readonly [Decimal, Decimal] {
  const { books, values, clockAt } = state;
  const value = decimal.parse(nav.nav);
  const shown = blockShown(state, nav.fund_id);
  if (shown === undefined) {
    values.set(nav.fund_id, carryFrom(books, fund, vouchedOf(nav), clockAt, nav.prices));
    return [value, value];
  }
  const last = { nav: decimal.parse(shown.vouched_nav), netFlows: decimal.parse(shown.vouched_net_flows) };
  values.set(nav.fund_id, carryFrom(books, fund, last, clockAt, nav.prices));
  return [decimal.min(value, last.nav), decimal.max(value, last.nav)];
}

/** Since it was kept. */
function isAccepted({ blockBook }: EngineState, { fund_id: fundId, as_of: asOf }: NavUpdated): boolean {
  const keptAt = parse(asOf);
  return [...blockBook.ended.values()].some(
    ({ cause, fund_id, ended_by: by, at }) =>
      cause === "VALUE_UNEXPLAINED" && fund_id === fundId && by !== "riskengine" && parse(at) >= keptAt,
  );
}

/** Of what is held as it was then: what was traded or split since has no price of then. */
function sameAsHeld({ books }: EngineState, fund: FundBook, { prices }: Judged): Judged["prices"] {
  const isSame = ([symbol, { quantity }]: readonly [string, { readonly quantity: string }]): boolean => {
    const book = books.symbols.get(symbol);
    return (
      book !== undefined && toDecimal(positionAt(fund, rowOf(fund, book.slot))) === (decimal.parse(quantity) as bigint)
    );
  };
  return Object.fromEntries(Object.entries(prices).filter(isSame));
}
