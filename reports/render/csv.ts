// The main table of a document as CSV (RFC 4180). Text that a spreadsheet would run as a formula is made text, and what cannot be seen is marked.
import { clean } from "../../contracts/src/text/clean.ts";
import type { Cell, ReportDocument, Table } from "../document.ts";

function mainTable(document: ReportDocument): Table | undefined {
  const tables = document.sections.flatMap(({ blocks }) => blocks).filter((block) => block.kind === "table");
  return tables.find(({ main }) => main) ?? tables[0];
}

export function renderCsv(document: ReportDocument): string {
  const table = mainTable(document);
  if (table === undefined) return "";
  const lines = [table.columns.map(({ id }) => quoted(id)), ...table.rows.map((row) => row.map(csvCell))];
  return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
}

const number = /^-?\d+(\.\d+)?$/;

function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = clean(cell);
  return quoted(/^[=+\-@]/.test(text) && !number.test(text) ? `'${text}` : text);
}

function quoted(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
