// What limits and headroom of funds would be under other reference data or another envelope, beside what they are, for a dry run. The engine's own state is left
// alone: both are asked of copies, made from the books of these funds. Both are told as if no halt, block or missing price stood: those say when an
// order passes, and a dry run is about how much.
//
// Invariants (preview.test.ts names them):
//  1. What is, is what the use of limits says; a change of nothing would change nothing, to the last character.
//  2. What would be is what the engine says once the change is made.
//  3. No halt, no condition and no age changes a room; a limit, the restricted list, a rate and the borrow do.
//  4. The engine goes on as if nobody had asked.
import type {
  LimitUse,
  PreviewedFund,
  PreviewedHeadroom,
  PreviewedLimit,
} from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import type { ReferenceContents } from "../../../contracts/src/records/reference.ts";
import type { Envelope } from "../../envelope/envelope.ts";
import { unpricedSymbols } from "../../exposure/exposure.ts";
import { navOf, setNavOf } from "../../exposure/nav-limits.ts";
import { noteEveryChange } from "../../exposure/value-tables.ts";
import { isIdentical } from "../../money/amount.ts";
import * as fundStates from "../../state/fund-state.ts";
import { headOf, setHead, slotsOf } from "../../state/fund-state.ts";
import { fundBookOf, marksOf } from "../../state/records.ts";
import { roomAsIf } from "../headroom.ts";
import { exposureUse, inOrder, unusedLimits } from "../limit-use.ts";
import { restoreSnapshot, takeSnapshot } from "../snapshot.ts";
import { createEngineState, type EngineState, setEnvelope, setReference } from "../state.ts";
import type { TouchedFund } from "./touched.ts";

export interface Proposal {
  /** All of the reference data, as it would be. */
  readonly contents: ReferenceContents;
  /** Of one fund; the others keep theirs. */
  readonly envelope: Envelope | undefined;
}

/** The same funds before and after, as they stood at one moment: prices go on moving while they are asked. */
export interface Previewed {
  readonly before: EngineState;
  readonly after: EngineState;
}

export function previewed(
  state: EngineState,
  fundIds: readonly string[],
  now: ReferenceContents,
  proposal: Proposal,
): Previewed {
  return {
    before: copiedState(state, fundIds, { contents: now, envelope: undefined }),
    after: copiedState(state, fundIds, proposal),
  };
}

const limitsMax = 200;
const unpricedMax = 100;
/** Symbols of a fund whose limits are counted. */
const heldMax = 300;
const sides = ["BUY", "SELL"] as const;

/** The books of these funds under these terms. */
function copiedState(state: EngineState, fundIds: readonly string[], { contents, envelope }: Proposal): EngineState {
  const meant: ReadonlySet<string | undefined> = new Set(fundIds);
  const copy = createEngineState({ ...state.options, priceJumpMax: undefined });
  restoreSnapshot(
    copy,
    takeSnapshot(state, (fundId) => meant.has(fundId)),
  );
  setReference(copy, contents);
  copyPrices(state, copy);
  copyRates(state, copy);
  noteEveryChange(copy.books);
  for (const fundId of fundIds) {
    const own = state.books.funds.get(fundId)?.envelope;
    const next = envelope?.fundId === fundId ? envelope : own;
    if (next !== undefined) setEnvelope(copy, next);
    copyValue(state, copy, fundId);
  }
  return copy;
}

function copyPrices({ books }: EngineState, { books: into }: EngineState): void {
  for (const book of books.symbols.values()) {
    const own = into.symbols.get(book.symbol);
    if (own === undefined) continue;
    Object.assign(own.live, book.live);
    Object.assign(own.paper, book.paper);
    for (const isPaper of [false, true]) {
      marksOf(into, { isPaper })[own.slot] = marksOf(books, { isPaper })[book.slot] ?? Number.NaN;
    }
  }
  into.newestMarkAt = books.newestMarkAt;
}

/** A rate that stays, and is not believed yet, keeps its ends. */
function copyRates({ books }: EngineState, { books: into }: EngineState): void {
  for (const [base, quotes] of books.fx) {
    for (const [quote, { rate, highest, lowest }] of quotes) {
      const own = into.fx.get(base)?.get(quote);
      if (own !== undefined && isIdentical(own.rate, rate)) Object.assign(own, { highest, lowest });
    }
  }
}

/** A value in another currency than the fund would have is none. */
function copyValue({ books }: EngineState, { books: into }: EngineState, fundId: string): void {
  const from = books.funds.get(fundId);
  const to = fundBookOf(into, fundId);
  if (from === undefined || from.currency !== to.currency) return;
  setNavOf(to, navOf(from));
  to.navMost = from.navMost;
  to.navAt = from.navAt;
  setHead(to, fundStates.navPricedAt, headOf(from, fundStates.navPricedAt));
}

/** All of one fund but its headroom, which is asked symbol by symbol: it takes longer than a check may wait. */
export function previewFund({ before, after }: Previewed, touched: TouchedFund, at: Instant): PreviewedFund {
  const { fundId, symbols } = touched;
  const held = [...new Set([...heldBy(before, fundId, symbols), ...heldBy(after, fundId, symbols)])];
  const counted = held.slice(0, heldMax);
  const [was, is] = [usesOf(before, fundId, counted, at), usesOf(after, fundId, counted, at)];
  const names = [...new Set([...was.keys(), ...is.keys()])];
  const limits = names.map((name): PreviewedLimit => ({ before: was.get(name), after: is.get(name) }));
  const inOrderOfChange = [...limits.filter(isChanged), ...limits.filter((one) => !isChanged(one))];
  const unpriced = unpricedOf(after, fundId);
  return {
    fund_id: fundId,
    limits: inOrderOfChange.slice(0, limitsMax),
    headroom: [],
    unpriced: unpriced.slice(0, unpricedMax),
    more: touched.more || held.length > heldMax || limits.length > limitsMax || unpriced.length > unpricedMax,
  };
}

/** Those that are asked about first, then one of every sector, so that what is left out is a position at most. */
function heldBy({ books }: EngineState, fundId: string, asked: readonly string[]): readonly string[] {
  const fund = books.funds.get(fundId);
  const held = (fund === undefined ? [] : slotsOf(fund)).flatMap((slot) => books.bySlot[slot] ?? []);
  const ofSectors = new Map(held.map(({ symbol, facts }) => [facts?.sector ?? "", symbol]));
  const all = held.map(({ symbol }) => symbol);
  return [...asked.filter((symbol) => all.includes(symbol)), ...ofSectors.values(), ...all];
}

/** By limit and scope; what has no price is named apart. */
function usesOf(
  state: EngineState,
  fundId: string,
  held: readonly string[],
  at: Instant,
): ReadonlyMap<string, LimitUse> {
  const own = exposureUse(state, fundId, held, at).filter(({ reason }) => reason !== "MARK_MISSING");
  const rows = inOrder([...unusedLimits(state, fundId, at), ...own]);
  return new Map(rows.map((row) => [`${row.limit}\n${row.scope}`, row]));
}

function unpricedOf({ books }: EngineState, fundId: string): readonly string[] {
  const fund = books.funds.get(fundId);
  return fund === undefined ? [] : unpricedSymbols(books, fund);
}

function isChanged({ before, after }: PreviewedLimit): boolean {
  return before?.used !== after?.used || before?.allowed !== after?.allowed || before?.reason !== after?.reason;
}

/** Both ways. */
export function previewRooms(
  { before, after }: Previewed,
  fundId: string,
  symbol: string,
  at: Instant,
): readonly PreviewedHeadroom[] {
  return sides.map((side) => {
    const asked = { fundId, symbol, side };
    return { symbol, side, before: roomAsIf(before, asked, at), after: roomAsIf(after, asked, at) };
  });
}
