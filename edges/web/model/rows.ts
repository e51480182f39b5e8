// Rows of a table: filtered by what somebody types and sorted by one column. Amounts are compared as exact decimals, never as binary numbers.
import * as decimal from "../../../contracts/src/decimal.ts";
import type { Sorting } from "./search.ts";

export type SortValue = string | number | undefined;

interface SortColumn<Row> {
  readonly id: string;
  /** What it is sorted and filtered by; a decimal in text is compared as a decimal. */
  by(row: Row): SortValue;
}

function compareValues(one: SortValue, other: SortValue): number {
  // What is not known stands last, whichever way.
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? 1 : -1;
  if (typeof one === "number" && typeof other === "number") return one - other;
  const [a, b] = [decimal.tryParse(String(one)), decimal.tryParse(String(other))];
  if (a !== undefined && b !== undefined) return decimal.compare(a, b);
  return String(one).localeCompare(String(other), "en");
}

export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly SortColumn<Row>[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const column = columns.find(({ id }) => id === sorting?.column);
  if (column === undefined || sorting === undefined) return rows;
  const known = rows.filter((row) => column.by(row) !== undefined);
  const unknown = rows.filter((row) => column.by(row) === undefined);
  const sorted = [...known].sort((one, other) => compareValues(column.by(one), column.by(other)));
  return [...(sorting.down ? sorted.reverse() : sorted), ...unknown];
}

/** Every word that is typed stands somewhere in the row. */
export function filteredRows<Row>(
  rows: readonly Row[],
  columns: readonly SortColumn<Row>[],
  typed: string | undefined,
): readonly Row[] {
  const words = (typed ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = columns
      .map((column) => String(column.by(row) ?? ""))
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
