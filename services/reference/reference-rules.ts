// What reference data must be beyond the form of each record: nothing twice, nothing that names what is not there. Pure, and reported
// completely, so that whoever sets a document sees every mistake at once.

import { tradingCalendar } from "../../contracts/src/calendar.ts";
import { messageOf } from "../../contracts/src/fault.ts";
import { readingJson } from "../../contracts/src/parse-json.ts";
import { isOwnSource } from "../../contracts/src/platform-services.ts";
import { paperSource } from "../../contracts/src/records/market.ts";
import {
  calendarDefinition,
  ownValuer,
  type ReferenceContents,
  type ReferenceKind,
  referenceContents,
  referenceCountMax,
} from "../../contracts/src/records/reference.ts";
import { newNameComplaint } from "../../contracts/src/text/new-name.ts";

/** More than this is not read by anybody. */
const mistakesMax = 20;

type ReadContent =
  | { readonly ok: true; readonly content: ReferenceContents[ReferenceKind] }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** So many records are a few milliseconds for their schema. */
const recordsAtOnce = 200;

/** The content of a document in the form of its kind, or what is wrong with it. */
export function* readingContent(kind: ReferenceKind, json: string): Generator<void, ReadContent> {
  let parsed: unknown;
  try {
    parsed = yield* readingJson(json);
  } catch (thrown) {
    return { ok: false, mistakes: [`content_json is not JSON: ${messageOf(thrown)}.`] };
  }
  const schema = referenceContents[kind];
  const records: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  // What is no list is said by the schema, which then has nothing to go through.
  const whole = Array.isArray(parsed) ? undefined : schema.safeParse(parsed);
  const mistakes = whole?.error?.issues.map(({ message }) => `${kind}: ${message}.`) ?? [];
  const countMax = referenceCountMax[kind];
  if (records.length > countMax) mistakes.push(`${kind}: expected at most ${countMax} records.`);
  const content: unknown[] = [];
  for (let at = 0; at < records.length && mistakes.length === 0; at += recordsAtOnce) {
    yield;
    const checked = schema.safeParse(records.slice(at, at + recordsAtOnce));
    if (checked.success) content.push(...checked.data);
    else mistakes.push(...checked.error.issues.map(({ path, message }) => `${placeOf(kind, path, at)}: ${message}.`));
  }
  if (mistakes.length > 0) return { ok: false, mistakes: mistakes.slice(0, mistakesMax) };
  // Every record passed the schema of its kind.
  return { ok: true, content: content as ReferenceContents[ReferenceKind] };
}

/** Where it stands in the whole document. */
function placeOf(kind: ReferenceKind, [index, ...path]: readonly PropertyKey[], before: number): string {
  return [kind, before + Number(index), ...path].join(".");
}

type Rule = (contents: ReferenceContents) => readonly string[];

const rules: readonly Rule[] = [
  nothingTwice,
  oneNamespace,
  calendarsMakeSense,
  calendarsExist,
  ratesHaveTwoSides,
  symbolsAreNoCurrencies,
  optionsAreComplete,
  valuersCanValue,
  pricersCanPrice,
];

export function referenceMistakes(contents: ReferenceContents): readonly string[] {
  return rules.flatMap((rule) => rule(contents)).slice(0, mistakesMax);
}

/** Of a fund or a strategy that is not there yet. */
export function newNameMistakes(before: ReferenceContents, after: ReferenceContents): readonly string[] {
  const known = new Set(namesIn(before));
  return namesIn(after).flatMap((name) => {
    const complaint = known.has(name) ? undefined : newNameComplaint(name);
    return complaint === undefined ? [] : [`funds: ${complaint}`];
  });
}

const namesIn = ({ funds }: ReferenceContents): readonly string[] =>
  funds.flatMap(({ fund_id, strategies }) => [fund_id, ...strategies]);

function repeated(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const name of names) (seen.has(name) ? again : seen).add(name);
  return [...again];
}

function nothingTwice(contents: ReferenceContents): readonly string[] {
  const { instruments, borrow, restricted, fx, calendars, venues } = contents;
  const said = (kind: ReferenceKind, names: readonly string[]): readonly string[] =>
    repeated(names).map((name) => `${kind}: ${name} is there twice.`);
  return [
    ...said(
      "instruments",
      instruments.map(({ symbol }) => symbol),
    ),
    ...said(
      "borrow",
      borrow.map(({ symbol }) => symbol),
    ),
    ...said(
      "restricted",
      restricted.map(({ symbol }) => symbol),
    ),
    ...said(
      "fx",
      fx.map(({ base, quote }) => `${base}/${quote}`),
    ),
    ...said(
      "calendars",
      calendars.map(({ name }) => name),
    ),
    ...said(
      "venues",
      venues.map(({ venue }) => venue),
    ),
  ];
}

/** A halt of "alpha" must never be a question of which alpha. */
function oneNamespace(contents: ReferenceContents): readonly string[] {
  return repeated(namesIn(contents)).map(
    (name) => `funds: ${name} is there twice; funds and strategies share one namespace.`,
  );
}

function calendarsMakeSense({ calendars }: ReferenceContents): readonly string[] {
  return calendars.flatMap((calendar) => {
    try {
      tradingCalendar(calendarDefinition(calendar));
      return [];
    } catch (thrown) {
      // Sessions that end before they begin, and zones that nobody knows.
      if (thrown instanceof RangeError) return [`calendars: ${calendar.name}: ${thrown.message}.`];
      throw thrown;
    }
  });
}

function calendarsExist({ instruments, funds, calendars }: ReferenceContents): readonly string[] {
  const known = new Set(calendars.map(({ name }) => name));
  const missing = (kind: ReferenceKind, name: string, calendar: string): readonly string[] =>
    known.has(calendar) ? [] : [`${kind}: ${name} follows the calendar ${calendar}, which is not there.`];
  return [
    ...instruments.flatMap(({ symbol, calendar }) => missing("instruments", symbol, calendar)),
    ...funds.flatMap(({ fund_id, calendar }) => missing("funds", fund_id, calendar)),
  ];
}

function ratesHaveTwoSides({ fx }: ReferenceContents): readonly string[] {
  return fx.filter(({ base, quote }) => base === quote).map(({ base }) => `fx: ${base} has a rate into itself.`);
}

/** Cash is held under its currency's name. */
function symbolsAreNoCurrencies({ instruments, funds, fx }: ReferenceContents): readonly string[] {
  const currencies = new Set([
    ...instruments.map(({ currency }) => currency),
    ...funds.map(({ currency }) => currency),
    ...fx.flatMap(({ base, quote }) => [base, quote]),
  ]);
  return instruments
    .filter(({ symbol }) => currencies.has(symbol))
    .map(({ symbol }) => `instruments: ${symbol} is a currency and cannot be an instrument's symbol.`);
}

function optionsAreComplete({ instruments }: ReferenceContents): readonly string[] {
  return instruments
    .filter(({ asset_class }) => asset_class === "OPTION")
    .filter(({ underlying, expiry, strike, right }) => [underlying, expiry, strike, right].includes(undefined))
    .map(({ symbol }) => `instruments: the option ${symbol} lacks its underlying, expiry, strike or right.`);
}

/** A source of values may have no token yet; of ours only treasury values anything, and PAPER funds alone. */
function valuersCanValue({ funds }: ReferenceContents): readonly string[] {
  return funds.flatMap(({ fund_id: id, mode, valued_by: valuer = "" }) => {
    if (!isOwnSource(valuer)) return [];
    if (valuer !== ownValuer) return [`funds: ${id} names ${valuer} in valued_by, which values no fund.`];
    if (mode === "PAPER") return [];
    return [
      `funds: ${id} is LIVE, and our treasury values PAPER funds alone: name the source of its values in valued_by.`,
    ];
  });
}

/** What the simulated market says counts for PAPER funds alone, whoever is named, and our services price nothing. */
function pricersCanPrice({ instruments, venues }: ReferenceContents): readonly string[] {
  const lists = [
    ...instruments.map(({ symbol, priced_by: named }) => ({ what: `instruments: ${symbol}`, named })),
    ...venues.map(({ venue, priced_by: named }) => ({ what: `venues: ${venue}`, named })),
  ];
  return lists.flatMap(({ what, named = [] }) =>
    named
      .filter((name) => name === paperSource || isOwnSource(name))
      .map((name) => `${what} names ${name} in priced_by, which is no feed from outside.`),
  );
}
