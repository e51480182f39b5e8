// All state of a desk is in its address: which fund, which range, what is filtered and how a table is sorted. Pure reading and writing of it. Anybody can make
// an address, so what stands where an id or a symbol belongs and cannot be one is left out before anything is asked with it.
import { isWithin, rangeOf } from "./range.ts";

export interface DeskSearch {
  readonly fund?: string;
  readonly from?: string;
  readonly to?: string;
  readonly q?: string;
  /** "limit-use.share.desc": of the panel, by the column, which way. */
  readonly sort?: string;
  /** What a panel shows in detail, such as an order. */
  readonly show?: string;
  readonly symbol?: string;
  /** Panels whose chart is shown as a table, separated by commas. */
  readonly tables?: string;
  /** The moment that is looked at, RFC 3339. */
  readonly at?: string;
  /** Which figure a grid shows. */
  readonly mode?: string;
  readonly strategy?: string;
  readonly status?: string;
  /** What a bar of a chart covers. */
  readonly interval?: string;
  /** Seconds of the past that pass in one of now. */
  readonly speed?: string;
}

const keys = [
  "fund",
  "from",
  "to",
  "q",
  "sort",
  "show",
  "symbol",
  "tables",
  "at",
  "mode",
  "strategy",
  "status",
  "interval",
  "speed",
] as const;
const lengthMax = 200;

type Key = (typeof keys)[number];

/** What goes along from desk to desk: of what, and of when. */
const carriedKeys = ["fund", "from", "to", "symbol", "at"] as const;

const id = /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$/;
const patterns: { readonly [Named in Key]?: RegExp } = {
  fund: id,
  // Parts of an event's name are written as addresses write them.
  show: /^[A-Za-z0-9][A-Za-z0-9._:@/%-]{0,199}$/,
  symbol: /^[A-Z0-9][A-Z0-9 ._:/-]{0,63}$/,
  at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/,
  mode: /^[a-z]{1,20}$/,
  strategy: id,
  status: /^[A-Z]{1,20}$/,
  interval: /^(1m|5m|15m|30m|1h|4h|1d|1w)$/,
  speed: /^(1|10|60|600|3600)$/,
};

/** What is no text, too long, or cannot be what it stands for is left out. */
export function readSearch(given: Readonly<Record<string, unknown>>): DeskSearch {
  const found: Record<string, string> = {};
  for (const key of keys) {
    const text = textOf(given[key]);
    if (text !== undefined && text.length <= lengthMax && patterns[key]?.test(text) !== false) found[key] = text;
  }
  return found;
}

/** The part of an address that every link between desks keeps. */
export function carried(search: DeskSearch): DeskSearch {
  return Object.fromEntries(carriedKeys.flatMap((key) => (search[key] === undefined ? [] : [[key, search[key]]])));
}

/** What a row is about. */
export interface Happening {
  readonly fund: string | undefined;
  readonly at: string | undefined;
  readonly symbol?: string | undefined;
}

/**
 * The address of /replay at that moment; undefined of what has no fund or no time. A range in which the moment does not lie would end the replay before it, and
 * goes.
 */
export function replayOf(search: DeskSearch, { fund, at, symbol }: Happening, nowMs: number): DeskSearch | undefined {
  if (fund === undefined || fund === "" || at === undefined || at === "") return undefined;
  const { from, to, ...rest } = carried(search);
  const range = isWithin(at, rangeOf({ from, to }, nowMs)) ? { from, to } : {};
  return readSearch({ ...rest, ...range, fund, at, ...(symbol === undefined || symbol === "" ? {} : { symbol }) });
}

/** What was left out because it cannot be what it stands for. */
export function refusedIn(given: Readonly<Record<string, unknown>>): readonly string[] {
  const read = readSearch(given);
  return keys.filter(
    (key) => patterns[key] !== undefined && textOf(given[key]) !== undefined && read[key] === undefined,
  );
}

function textOf(value: unknown): string | undefined {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text !== "" ? text : undefined;
}

export interface Sorting {
  readonly column: string;
  readonly down: boolean;
}

export function sortingOf(sort: string | undefined, panel: string): Sorting | undefined {
  const [name, column, way] = (sort ?? "").split(".");
  if (name !== panel || column === undefined || column === "") return undefined;
  return { column, down: way === "desc" };
}

/** The next of: downwards, upwards, as the server ordered it. */
export function nextSort(sort: string | undefined, panel: string, column: string): string | undefined {
  const now = sortingOf(sort, panel);
  if (now?.column !== column) return `${panel}.${column}.desc`;
  return now.down ? `${panel}.${column}.asc` : undefined;
}
