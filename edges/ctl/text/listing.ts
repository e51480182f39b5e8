// How every list is shown: as a table for people, as CSV for spreadsheets, as JSON for programs, from one description of its columns. The options
// are the same everywhere, and `--json` is short for `--format json`.
import type { Answer, Context, VerbOption } from "../verbs/verb.ts";
import { type DrawnColumn, type Fitted, fit, shortened } from "./fit.ts";
import { age, clean, moment, table } from "./text.ts";

export const formatOption: VerbOption = {
  name: "format",
  value: "FORMAT",
  sentence: "Answer as a table (the usual), as csv or as json; --json is short for the last.",
  values: ["json", "csv", "table"],
  closed: true,
};

export const wideOption: VerbOption = {
  name: "wide",
  sentence: "A table with every column, whole ids and full times, however wide it gets.",
};

export const watchOption: VerbOption = {
  name: "watch",
  value: "SECONDS",
  preset: "2",
  sentence: "Ask again every so many seconds (2 when none is given) until Ctrl-C; one line each time with --json.",
};

/** Of every list that changes nothing. */
export const listOptions: readonly VerbOption[] = [formatOption, wideOption, watchOption];

/** Of what changes something and answers with a list. */
export const outcomeOptions: readonly VerbOption[] = [formatOption, wideOption];

type Cell = string | number | boolean | undefined;

export interface Column<Row> {
  /** The field's name: the head of the column in CSV, and in capitals in a table. */
  readonly name: string;
  /** The head in a table, where that says it better. */
  readonly head?: string;
  of(row: Row): Cell;
  /** For people, when they read it otherwise than programs do. */
  shown?(row: Row): string;
  /** An instant: a table says how long ago, and --wide when. A text stands where there is none. */
  readonly time?: true | string;
  /** Too much for a table; CSV has it. */
  readonly onlyCsv?: true;
  /** Made for people of what other fields say; programs have those. */
  readonly onlyTable?: true;
  /** Set to the right in a table, so that sizes can be compared at a glance. */
  readonly number?: true;
  /** Made by the platform: on a terminal as many characters as tell it apart. */
  readonly id?: true;
  /** PAPER or LIVE, halted, stale: seen even when every row says the same. */
  readonly always?: true;
  /** Names its row: seen even when every row says the same. */
  readonly key?: true;
  /** Free text: wraps where the table would be too wide. */
  readonly text?: true;
  /** The highest goes first where the table is too wide. */
  readonly minor?: number;
}

interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** What a table's reader is told when there is nothing. */
  readonly none: string;
  /** What --json prints, when it is more than the rows. */
  readonly data?: unknown;
  /** What stands above the table. */
  readonly lead?: string;
  readonly next?: readonly string[];
  /** What a danger verb hit is named in full. */
  readonly wholeIds?: true;
}

export async function listing<Row>(context: Context, list: Listing<Row>): Promise<Answer> {
  const { rows, next } = list;
  const data = list.data ?? rows;
  // Drawing a long table takes longer than all the rest, and nobody would see it.
  if (context.json) return { data, text: "" };
  if (context.option("format") === "csv") {
    const columns = list.columns.filter(({ onlyTable }) => onlyTable !== true);
    return { data, text: csv(columns, rows) };
  }
  const body = rows.length === 0 ? list.none : await tableText(context, list);
  const lead = list.lead === undefined ? "" : `${list.lead}\n\n`;
  return { data, text: `${lead}${body}`, isList: true, ...(next === undefined ? {} : { next }) };
}

async function tableText<Row>(context: Context, list: Listing<Row>): Promise<string> {
  const drawn = list.columns
    .filter(({ onlyCsv }) => onlyCsv !== true)
    .map((column) => drawnColumn(context, column, list));
  const fitted: Fitted = context.switched("wide")
    ? { columns: drawn, widths: [], constant: [], dropped: [] }
    : fit(drawn, context.terminal.size?.columns);
  if (fitted.dropped.length > 0) {
    const names = fitted.dropped.map((head) => head.toLowerCase()).join(", ");
    context.terminal.say(`No room for: ${names}. --wide shows every column.`);
  }
  const { columns, widths } = fitted;
  const cells = list.rows.map((_row, at) => columns.map((column) => column.cells[at] ?? ""));
  const heads = columns.map(({ head }) => head);
  const right = columns.map((column) => column.right);
  return `${constantText(fitted)}${await table(heads, cells, right, widths)}`;
}

function constantText({ constant }: Fitted): string {
  if (constant.length === 0) return "";
  return `Every row: ${constant.map(([head, cell]) => `${head.toLowerCase()} ${cell}`).join(", ")}\n\n`;
}

function drawnColumn<Row>(context: Context, column: Column<Row>, { rows, wholeIds }: Listing<Row>): DrawnColumn {
  const written = rows.map((row) => clean(cellText(context, column, row)));
  const isShort = column.id === true && wholeIds !== true && !context.switched("wide");
  return {
    head: (column.head ?? column.name.replace(/_id$/, "").replaceAll("_", " ")).toUpperCase(),
    cells: isShort && context.terminal.size !== undefined ? shortened(written) : written,
    right: column.number === true,
    always: column.always === true,
    key: column.key === true || column.id === true,
    wraps: column.text === true,
    minor: column.minor ?? 0,
  };
}

function cellText<Row>(context: Context, column: Column<Row>, row: Row): string {
  if (column.time === undefined) return column.shown?.(row) ?? text(column.of(row));
  const at = text(column.of(row));
  if (at === "") return column.time === true ? "" : column.time;
  return context.switched("wide") ? moment(at, context.clock.now()) : age(at, context.clock.now());
}

/** Whether programs read the answer, so that talk beside it helps nobody. */
export function isForPeople(context: Context): boolean {
  return !context.json && context.option("format") !== "csv";
}

/** RFC 4180 with line feeds, which every reader of it takes and every tool of a shell needs. */
function csv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
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
