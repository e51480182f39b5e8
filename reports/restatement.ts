// What two documents that answer the same question say differently: figures, lines that must tie, and rows of tables. When each was made is no difference.
import type { Block, ReportDocument, Table } from "./document.ts";

/** Of very many the first; the last then says how many more. */
const changesMax = 40;
const textLengthMax = 120;

export function changesBetween(before: ReportDocument, after: ReportDocument): readonly string[] {
  const changes = [...figureChanges(before, after), ...lineChanges(before, after), ...tableChanges(before, after)];
  if (changes.length <= changesMax) return changes;
  return [...changes.slice(0, changesMax), `${changes.length - changesMax} more differences.`];
}

function figureChanges(before: ReportDocument, after: ReportDocument): readonly string[] {
  const known = new Map(before.metrics.map(({ id, value }) => [id, value]));
  return after.metrics.flatMap(({ id, value }) => {
    const was = known.get(id);
    return was === value || was === undefined ? [] : [`${id} was ${shown(was)} and is ${shown(value)}.`];
  });
}

function lineChanges(before: ReportDocument, after: ReportDocument): readonly string[] {
  const known = new Map(before.reconciliation.map(({ name, difference }) => [name, difference]));
  return after.reconciliation.flatMap(({ name, difference }) => {
    const was = known.get(name);
    return was === difference || was === undefined
      ? []
      : [`${shown(name)}: the difference was ${was} and is ${difference}.`];
  });
}

function tableChanges(before: ReportDocument, after: ReportDocument): readonly string[] {
  const known = new Map(tablesOf(before).map((table) => [table.id, table]));
  return tablesOf(after).flatMap((table) => {
    const was = known.get(table.id);
    if (was === undefined) return [];
    const [gone, come] = [rowsOnlyIn(was, table), rowsOnlyIn(table, was)];
    return gone + come === 0 ? [] : [`${table.id}: ${come} rows are new or other, ${gone} of before are not there.`];
  });
}

const tablesOf = ({ sections }: ReportDocument): readonly Table[] =>
  sections.flatMap(({ blocks }) => blocks).filter((block: Block) => block.kind === "table");

/** Rows count as often as they are there. */
function rowsOnlyIn({ rows }: Table, other: Table): number {
  const there = new Map<string, number>();
  for (const row of other.rows) there.set(JSON.stringify(row), (there.get(JSON.stringify(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const key = JSON.stringify(row);
    const left = there.get(key) ?? 0;
    there.set(key, left - 1);
    return left <= 0;
  }).length;
}

const shown = (value: string | number | null): string =>
  value === null
    ? "undefined"
    : String(value)
        .replace(/\p{Cc}/gu, " ")
        .slice(0, textLengthMax);
