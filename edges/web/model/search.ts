// All state of a desk is in its address: which fund, which range, what is filtered and how a table is sorted. Pure reading and writing of it.

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
}

const keys = ["fund", "from", "to", "q", "sort", "show", "symbol", "tables"] as const;
const lengthMax = 200;

/** What is no text, or too long, is left out. */
export function readSearch(given: Readonly<Record<string, unknown>>): DeskSearch {
  const found: Record<string, string> = {};
  for (const key of keys) {
    const value = given[key];
    const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    if (typeof text === "string" && text !== "" && text.length <= lengthMax) found[key] = text;
  }
  return found;
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
