// A document as the data that the PDF's template sets: every figure already in the form in which people read it, every text as text. A PDF has at most
// 1,000 rows; what is left out is counted where it is missing.
import { clean } from "../../contracts/src/text/clean.ts";
import { definitions, type MetricId } from "../definitions.ts";
import { type Block, type Chart, isReconciled, type Metric, type ReportDocument, type Table } from "../document.ts";
import { metricNotes, shownColumn, shownFigure, shownMoment, shownMoney } from "./numbers.ts";
import { standaloneSvg } from "./svg.ts";

export const pdfRowsMax = 1_000;
/** A cell that is longer than a page would be lost below it. */
const cellLengthMax = 1_500;
/** In points: an upright page's and a lying page's lines, less their margins. */
const lineWidths = { upright: 527, lying: 774 };
const sizes = { largest: 8, smallest: 5.6 };
/** Of a letter, in units of its size; between two columns. */
const letterWidth = 0.58;
const columnGap = 7;
/** Longer texts break into lines. */
const textLettersMax = 32;
const wordLettersMax = 24;

interface PdfTable {
  readonly kind: "table";
  readonly title: string;
  readonly size: number;
  readonly lying: boolean;
  /** `share` is how much of the line each needs, against the others. */
  readonly columns: readonly { readonly title: string; readonly number: boolean; readonly share: number }[];
  readonly rows: readonly (readonly string[])[];
  readonly more: string;
}

type PdfBlock =
  | PdfTable
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "chart"; readonly title: string; readonly file: string; readonly alt: string }
  | { readonly kind: "figures"; readonly rows: readonly (readonly string[])[] };

interface PdfPages {
  readonly title: string;
  readonly period: string;
  readonly stamps: { readonly paper: boolean; readonly broken: boolean };
  readonly heading: string;
  readonly footing: string;
  readonly sections: readonly { readonly title: string; readonly blocks: readonly PdfBlock[] }[];
}

interface PdfContent {
  readonly pages: PdfPages;
  /** By the names that the pages have for them. */
  readonly charts: Readonly<Record<string, string>>;
}

export function pdfContent(document: ReportDocument): PdfContent {
  const charts: Record<string, string> = {};
  const rowsPerTable = fairShare(tablesOf(document).map(({ rows }) => rows.length));
  const shown = (block: Block): PdfBlock => {
    switch (block.kind) {
      case "table":
        return tableOf(block, rowsPerTable);
      case "text":
        return { kind: "text", text: clean(block.text) };
      case "metrics":
        return {
          kind: "figures",
          rows: document.metrics
            .filter(({ id }) => block.ids.includes(id))
            .map((each) => figureRow(each, document.currency)),
        };
      case "chart":
        return chartOf(block, charts);
    }
  };
  const broken = !isReconciled(document);
  const lines = document.reconciliation.length;
  const { period, title, currency, as_of } = document;
  return {
    charts,
    pages: {
      title: clean(title),
      period: clean(`${period.start} to ${period.end}, ${currency}, as of ${shownMoment(as_of)}; all times are UTC`),
      stamps: { paper: document.mode === "PAPER", broken },
      heading: clean(`${title}, ${period.start} to ${period.end}`),
      footing: `${broken ? "Does not reconcile" : `Reconciled: ${lines} of ${lines} lines tie`}. Facts ${document.facts_sha256.slice(0, 16)}, audit log up to ${document.audit_sequence ?? "no entry"}.`,
      sections: [
        ...document.sections.map(({ title, blocks }) => ({ title: clean(title), blocks: blocks.map(shown) })),
        ...closing(document, rowsPerTable),
      ],
    },
  };
}

const tablesOf = ({ sections }: ReportDocument): readonly Table[] =>
  sections.flatMap(({ blocks }) => blocks).filter((block) => block.kind === "table");

/** The most rows that each table may have so that all of them together have no more than a PDF may. */
export function fairShare(lengths: readonly number[], most: number = pdfRowsMax): number {
  let left = most;
  const ascending = [...lengths].sort((one, other) => one - other);
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (length > share) return share;
    left -= length;
  }
  return most;
}

function tableOf(table: Table, rowsMax: number): PdfTable {
  const kept = table.rows.slice(0, rowsMax);
  const missing = table.rows.length - kept.length;
  const shown = table.columns.map(({ kind }, index) =>
    shownColumn(
      table.rows.map((row) => row[index] ?? null),
      kind,
    ),
  );
  const rows = kept.map((_row, at) => shown.map((column) => cellOf(column[at] ?? "")));
  const columns = table.columns.map(({ title: given, kind }, index) => {
    const [title, number] = [clean(given), kind !== "text" && kind !== "date"];
    const longest = rows.reduce((found, row) => Math.max(found, (row[index] ?? "").length), 0);
    // Headings and texts may break between words.
    const word = Math.max(...title.split(" ").map((each) => each.length));
    return { title, number, share: 1.5 + Math.max(word, number ? longest : Math.min(longest, textLettersMax)) };
  });
  return {
    kind: "table",
    title: clean(table.title),
    ...fitting(columns),
    columns,
    rows,
    more:
      missing === 0
        ? ""
        : `${missing} more rows are in the ${table.main ? "CSV and the JSON" : "JSON"} of this report.`,
  };
}

/** Where a word without an end may break: it would run over its column, and over the page. */
const longWord = new RegExp(`[^\\s-]{${wordLettersMax}}(?=[^\\s-])`, "gu");
const mayBreak = "\u200b";

function cellOf(text: string): string {
  const whole = clean(text).replace(longWord, `$&${mayBreak}`);
  if (whole.length <= cellLengthMax) return whole;
  return `${whole.slice(0, cellLengthMax)} (${whole.length - cellLengthMax} more characters)`;
}

/** As <bdi> on a page: the characters are ours, so they are put around what is cleaned. */
const isolated = (text: string): string => `\u2068${clean(text)}\u2069`;

/** As large as the widest cells allow, on a page that lies on its side where an upright one is too narrow. */
function fitting(columns: PdfTable["columns"]): { readonly size: number; readonly lying: boolean } {
  const letters = columns.reduce((sum, { share }) => sum + share, 0);
  const sizeOn = (line: number): number => (line - columns.length * columnGap) / (letters * letterWidth);
  const upright = sizeOn(lineWidths.upright);
  const lying = upright < sizes.smallest;
  const size = Math.min(sizes.largest, lying ? sizeOn(lineWidths.lying) : upright);
  return { size: Math.max(sizes.smallest, Math.floor(size * 10) / 10), lying };
}

function chartOf(chart: Chart, charts: Record<string, string>): PdfBlock {
  const svg = standaloneSvg(chart);
  const title = clean(chart.title);
  if (svg === "") return { kind: "text", text: `${title}: there is nothing to draw.` };
  const file = `chart-${Object.keys(charts).length}.svg`;
  charts[file] = svg;
  return { kind: "chart", title, file, alt: title };
}

function figureRow(metric: Metric, currency: string): readonly string[] {
  const { name } = definitions[metric.id as MetricId];
  return [name, shownFigure(metric, currency), metric.definition, metricNotes(metric)].map(clean);
}

/** What ties, what was left out, and what was asked for. */
function closing(document: ReportDocument, rowsMax: number): PdfPages["sections"] {
  const { reconciliation, exclusions, data_quality, parameters } = document;
  const table = (title: string, columns: Table["columns"], rows: Table["rows"]): PdfTable =>
    tableOf({ kind: "table", id: title, title, main: false, columns, rows }, Math.max(rowsMax, rows.length));
  const text = (id: string, title: string) => ({ id, title, kind: "text" as const });
  const money = (id: string, title: string) => ({ id, title, kind: "money" as const });
  const ties = reconciliation.map(({ name, left, right, difference }) => {
    const tied = Number(difference) === 0;
    return [name, left, right, tied ? "0" : shownMoney(difference), tied ? "ties" : "DOES NOT TIE"];
  });
  const notes = [
    ...data_quality.map(({ what, detail }) => `${isolated(what)}. ${isolated(detail)}`),
    ...exclusions.map(({ what, why, count }) => `${isolated(what)} (${count}). ${isolated(why)}`),
  ];
  const given = Object.entries(parameters).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : String(value ?? "none"),
  ]);
  const tieColumns = [
    text("name", "What"),
    money("left", "Left"),
    money("right", "Right"),
    money("difference", "Difference"),
    text("result", "Result"),
  ];
  return [
    { title: "Reconciliation", blocks: [table("What must be equal", tieColumns, ties)] },
    {
      title: "Data and exclusions",
      blocks: (notes.length === 0 ? ["Nothing was left out."] : notes).map((text) => ({ kind: "text", text })),
    },
    {
      title: "Parameters",
      blocks: [table("What was asked for", [text("name", "Parameter"), text("value", "Value")], given)],
    },
  ];
}
