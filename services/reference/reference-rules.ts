// What reference data must be beyond the form of each record: nothing twice, nothing that names what is not there. Pure, and reported
// completely, so that whoever sets a document sees every mistake at once.

import { tradingCalendar } from "../../contracts/src/calendar.ts";
import { messageOf } from "../../contracts/src/fault.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { isOwnSource } from "../../contracts/src/platform-services.ts";
import { paperSource } from "../../contracts/src/records/market.ts";
import {
  calendarDefinition,
  ownValuer,
  type ReferenceContents,
  type ReferenceKind,
  referenceContents,
} from "../../contracts/src/records/reference.ts";
import { newNameComplaint } from "../../contracts/src/text/new-name.ts";

/** More than this is not read by anybody. */
const mistakesMax = 20;

type ReadContent =
  | { readonly ok: true; readonly content: ReferenceContents[ReferenceKind] }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** The content of a document in the form of its kind, or what is wrong with it. */
export function readContent(kind: ReferenceKind, json: string): ReadContent {
  let parsed: unknown;
  try {
    parsed = parseJson(json);
  } catch (thrown) {
    return { ok: false, mistakes: [`content_json is not JSON: ${messageOf(thrown)}.`] };
  }
  const checked = referenceContents[kind].safeParse(parsed);
  if (checked.success) return { ok: true, content: checked.data };
  const mistakes = checked.error.issues.map(({ path, message }) => `${[kind, ...path].join(".")}: ${message}.`);
  return { ok: false, mistakes: mistakes.slice(0, mistakesMax) };
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
