// Which funds, and which symbols of each, a change of reference data or of an envelope touches: those that hold something of it first, then those that may trade it.
import type { ReferenceContents, ReferenceKind } from "../../../contracts/src/records/reference.ts";
import { type KindWord, referenceWords } from "../../../contracts/src/records/reference-fields.ts";
import { canonicalText } from "../../../contracts/src/text/canonical-text.ts";
import { noRow, rowOf } from "../../state/fund-state.ts";
import type { FundBook } from "../../state/records.ts";
import { symbolsToAsk } from "../blocks.ts";
import type { EngineState } from "../state.ts";

export interface TouchedFund {
  readonly fundId: string;
  readonly symbols: readonly string[];
  /** Whether there are more symbols. */
  readonly more: boolean;
}

export interface Touched {
  readonly funds: readonly TouchedFund[];
  readonly more: boolean;
}

interface ReferenceStep {
  readonly kind: ReferenceKind;
  readonly before: ReferenceContents;
  readonly after: ReferenceContents;
}

const fundsMax = 20;
const symbolsMax = 10;

export function touchedBy(state: EngineState, { kind, before, after }: ReferenceStep): Touched {
  const keys = changedKeys(referenceWords[kind], before[kind], after[kind]);
  if (kind === "funds") return cut([...keys].map((fundId) => wholeFund(state, fundId)));
  if (kind === "fx")
    return cut(fundsWhere(state, ({ currency }) => [...keys].some((key) => key.split("/").includes(currency))));
  if (kind === "calendars") {
    const ids = new Set(after.funds.filter(({ calendar }) => keys.has(calendar)).map(({ fund_id: id }) => id));
    return cut(fundsWhere(state, ({ id }) => ids.has(id)));
  }
  return cut(fundsTrading(state, symbolsOf(kind, keys, after)));
}

/** Of an envelope. */
export function wholeFund(state: EngineState, fundId: string): TouchedFund {
  const found = symbolsToAsk(state, fundId, symbolsMax + 1);
  return { fundId, symbols: found.slice(0, symbolsMax), more: found.length > symbolsMax };
}

type AnyRecord = Readonly<Record<string, unknown>>;

function changedKeys(
  { key }: KindWord,
  before: readonly AnyRecord[],
  after: readonly AnyRecord[],
): ReadonlySet<string> {
  const byKey = (records: readonly AnyRecord[]) =>
    new Map(records.map((one) => [key.map((field) => String(one[field])).join("/"), canonicalText(one)]));
  const [was, is] = [byKey(before), byKey(after)];
  return new Set([...was.keys(), ...is.keys()].filter((name) => was.get(name) !== is.get(name)).sort());
}

/** With the options on them: they follow their underlying's sector and restriction. */
function symbolsOf(
  kind: ReferenceKind,
  keys: ReadonlySet<string>,
  { instruments }: ReferenceContents,
): ReadonlySet<string> {
  const named =
    kind === "venues"
      ? instruments.filter(({ venue }) => venue !== undefined && keys.has(venue)).map(({ symbol }) => symbol)
      : [...keys];
  const found = new Set(named);
  for (const { symbol, underlying } of instruments) {
    if (underlying !== undefined && found.has(underlying)) found.add(symbol);
  }
  return found;
}

function fundsWhere(state: EngineState, isMeant: (fund: FundBook) => boolean): readonly TouchedFund[] {
  return [...state.books.funds.values()]
    .filter((fund) => fund.known && isMeant(fund))
    .map(({ id }) => wholeFund(state, id));
}

function fundsTrading(state: EngineState, symbols: ReadonlySet<string>): readonly TouchedFund[] {
  const { books } = state;
  const found = [...books.funds.values()].flatMap((fund) => {
    const own = [...symbols].filter((symbol) => isHeld(state, fund, symbol));
    const others = [...symbols].filter((symbol) => !own.includes(symbol) && mayTrade(state, fund, symbol));
    const all = [...own, ...others];
    if (all.length === 0) return [];
    const touched = { fundId: fund.id, symbols: all.slice(0, symbolsMax), more: all.length > symbolsMax };
    return [{ touched, held: own.length }];
  });
  return found.sort((one, other) => other.held - one.held).map(({ touched }) => touched);
}

function isHeld({ books }: EngineState, fund: FundBook, symbol: string): boolean {
  const book = books.symbols.get(symbol);
  return book !== undefined && rowOf(fund, book.slot) !== noRow;
}

/** What is new may be anybody's. */
function mayTrade({ books }: EngineState, { known, envelope }: FundBook, symbol: string): boolean {
  if (!known || envelope === undefined) return false;
  const facts = books.symbols.get(symbol)?.facts;
  return facts === undefined || envelope.allowedAssetClasses.has(facts.assetClass);
}

function cut(funds: readonly TouchedFund[]): Touched {
  return { funds: funds.slice(0, fundsMax), more: funds.length > fundsMax };
}
