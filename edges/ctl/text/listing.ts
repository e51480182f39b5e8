// How every list is shown: as a table for people, as CSV for spreadsheets, as JSON for programs, from one description of its columns. The option
// is the same everywhere, and `--json` is short for `--format json`.
import type { Answer, Context, VerbOption } from "../verbs/verb.ts";
import { clean, table } from "./text.ts";

export const formatOption: VerbOption = {
  name: "format",
  value: "FORMAT",
  sentence: "Answer as a table (the usual), as csv or as json; --json is short for the last.",
  values: ["json", "csv", "table"],
  closed: true,
};

type Cell = string | number | boolean | undefined;

export interface Column<Row> {
  /** The field's name: the head of the column in CSV, and in capitals in a table. */
  readonly name: string;
  /** The head in a table, where that says it better. */
  readonly head?: string;
  of(row: Row): Cell;
  /** For people, when they read it otherwise than programs do. */
  shown?(row: Row): string;
  /** Too much for a table; CSV has it. */
  readonly onlyCsv?: true;
  /** Set to the right in a table, so that sizes can be compared at a glance. */
  readonly number?: true;
}

export interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** What a table's reader is notified when there is nothing. */
  readonly none: string;
  /** What --json prints, when it is more than the rows. */
  readonly data?: unknown;
  /** What stands above the table. */
  readonly lead?: string;
  readonly next?: readonly string[];
}

export async function listing<Row>(context: Context, list: Listing<Row>): Promise<Answer> {
  const { columns, rows, next } = list;
  const data = list.data ?? rows;
  // Drawing a long table takes longer than all the rest, and nobody would see it.
  if (context.json) return { data, text: "" };
  if (context.option("format") === "csv") return { data, text: csv(columns, rows) };
  const seen = columns.filter(({ onlyCsv }) => onlyCsv !== true);
  const head = seen.map(({ name, head }) => (head ?? name.replaceAll("_", " ")).toUpperCase());
  const cells = rows.map((row) => seen.map((column) => column.shown?.(row) ?? text(column.of(row))));
  const body = rows.length === 0 ? list.none : await table(head, cells, rightOf(seen));
  const lead = list.lead === undefined ? "" : `${list.lead}\n\n`;
  return { data, text: `${lead}${body}`, ...(next === undefined ? {} : { next }) };
}

function rightOf<Row>(columns: readonly Column<Row>[]): readonly boolean[] {
  return columns.map(({ number: isNumber }) => isNumber === true);
}

/** Whether programs read the answer, so that talk beside it helps nobody. */
export function isForPeople(context: Context): boolean {
  return !context.json && context.option("format") !== "csv";
}

/** RFC 4180 with line feeds, which every reader of it takes and every tool of a shell needs. */
export function csv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map((column) => cellOf(column.of(row)))),
  ];
  return lines.map((line) => line.map(quoted).join(",")).join("\n");
}

const number = /^-?[0-9]+(\.[0-9]+)?$/;

/** Text that a spreadsheet would run as a formula is disarmed; a number, a short position's minus included, stays a number. */
function cellOf(cell: Cell): string {
  const written = clean(text(cell));
  return /^[=+\-@]/.test(written) && !number.test(written) ? `'${written}` : written;
}

function quoted(cell: string): string {
  return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function text(cell: Cell): string {
  return cell === undefined ? "" : String(cell);
}
