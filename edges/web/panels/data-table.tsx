// A table of a panel: heads that sort, figures to the right, a cell that changed underlined for a second. Long ones draw only the rows that are seen.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useChangeSearch, useDeskSearch } from "../frame/use-search.ts";
import { filteredRows, type SortValue, sortedRows } from "../model/rows.ts";
import { nextSort, sortingOf } from "../model/search.ts";
import { useCutColumns } from "./cut-columns.ts";
import { Quoted, Theirs } from "./theirs.tsx";

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  /** In the head, once: not in every cell. */
  readonly unit?: string;
  readonly number?: boolean;
  by(row: Row): SortValue;
  /** What is shown; the value that it is sorted by when absent. */
  cell?(row: Row): ReactNode;
  /** The server's own text of a figure that is shown rounded or in words. */
  exact?(row: Row): string | undefined;
}

interface DataTableProps<Row> {
  readonly panel: string;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  id(row: Row): string;
  rowClass?(row: Row): string | undefined;
  /** By which a row is known to programs that read the page. */
  rowName?(row: Row): string;
}

/** From this many rows on only those in sight are drawn. */
const drawnMax = 60;
const rowHeight = 24;
/** What fits without scrolling. */
const seenMax = 12;

export function DataTable<Row>({ panel, caption, columns, rows, id, rowClass, rowName }: DataTableProps<Row>) {
  const { q, sort } = useDeskSearch();
  const shown = sortedRows(filteredRows(rows, columns, q), columns, sortingOf(sort, panel));
  const filtered = shown.length < rows.length;
  const isPrinting = usePrinting();
  const isLong = shown.length > drawnMax && !isPrinting;
  return (
    <>
      {filtered && (
        <p className="note">
          {shown.length} of {rows.length} rows match <Quoted text={q} />.
        </p>
      )}
      <Scrolling isLong={isLong} count={shown.length} label={caption}>
        {({ from, to, before, after, cut }) => (
          <table aria-rowcount={shown.length + 1} data-cut={cut}>
            <caption className="unseen">{caption}</caption>
            <Heads panel={panel} columns={columns} />
            <tbody>
              {before > 0 && <Gap height={before} span={columns.length} />}
              {shown.slice(from, to).map((row, index) => (
                <tr
                  key={id(row)}
                  className={rowClass?.(row)}
                  data-testid={rowName?.(row)}
                  aria-rowindex={from + index + 2}
                >
                  {columns.map((column) => (
                    <Cell key={column.id} column={column} row={row} wraps={!isLong} />
                  ))}
                </tr>
              ))}
              {after > 0 && <Gap height={after} span={columns.length} />}
            </tbody>
          </table>
        )}
      </Scrolling>
      {shown.length > seenMax && !isPrinting && <p className="note">{shown.length} rows; the table scrolls.</p>}
    </>
  );
}

const printing = "print";

/** Paper does not scroll: every row is printed. */
function usePrinting(): boolean {
  return useSyncExternalStore(
    (listen) => {
      const media = window.matchMedia(printing);
      media.addEventListener("change", listen);
      return () => media.removeEventListener("change", listen);
    },
    () => window.matchMedia(printing).matches,
  );
}

function Gap({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row that only takes up room; nothing in it can be focused.
    <tr aria-hidden="true">
      <td colSpan={span} style={{ height, padding: 0 }} />
    </tr>
  );
}

interface Window {
  /** Rows that are drawn, and the room of those that are not. */
  readonly from: number;
  readonly to: number;
  readonly before: number;
  readonly after: number;
  readonly cut: string | undefined;
}

type Draw = (seen: Window) => ReactNode;

function Scrolling({
  isLong,
  count,
  label,
  children,
}: {
  readonly isLong: boolean;
  readonly count: number;
  readonly label: string;
  readonly children: Draw;
}) {
  const place = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: isLong ? count : 0,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const from = isLong ? (first?.index ?? 0) : 0;
  const to = isLong ? (last?.index ?? 30) + 1 : count;
  const before = isLong ? (first?.start ?? 0) : 0;
  const after = isLong ? Math.max(0, virtual.getTotalSize() - (last?.end ?? 0)) : 0;
  const cut = useCutColumns(place);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a place that scrolls must be reachable by keyboard. */}
      <section className="scroll" ref={place} tabIndex={0} aria-label={label}>
        {children({ from, to, before, after, cut })}
      </section>
      {cut !== undefined && <p className="note sideways">More columns: the table scrolls sideways.</p>}
    </>
  );
}

function Heads<Row>({ panel, columns }: Pick<DataTableProps<Row>, "panel" | "columns">) {
  const { sort } = useDeskSearch();
  const change = useChangeSearch();
  const sorting = sortingOf(sort, panel);
  return (
    <thead>
      <tr>
        {columns.map(({ id, head, unit, number }) => {
          const isSorted = sorting?.column === id;
          const way = !isSorted ? "none" : sorting.down ? "descending" : "ascending";
          return (
            <th key={id} scope="col" className={number ? "number" : undefined} aria-sort={way}>
              <button type="button" onClick={() => change({ sort: nextSort(sort, panel, id) })}>
                {head}
                {unit !== undefined && <span className="unit"> {unit}</span>}
                <span aria-hidden="true">{way === "none" ? "" : way === "descending" ? " ↓" : " ↑"}</span>
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** A sentence: it is read whole where the height of rows is free. */
const sentenceLength = 48;

interface CellProps<Row> {
  readonly column: Column<Row>;
  readonly row: Row;
  readonly wraps: boolean;
}

function Cell<Row>({ column, row, wraps }: CellProps<Row>) {
  const value = column.by(row);
  const isChanged = useChanged(value);
  const isSentence = wraps && typeof value === "string" && value.length > sentenceLength;
  const classes = [column.number && "number", isChanged && "changed", isSentence && "sentence"].filter(Boolean);
  const content = column.cell?.(row) ?? value ?? "";
  const isTheirs = typeof content === "string" && column.number !== true;
  return (
    <td className={classes.join(" ") || undefined} data-value={column.exact?.(row)}>
      {isTheirs ? <Theirs text={content} /> : content}
    </td>
  );
}

const changedMs = 1_000;

/** True for a second after the value moved, never at the first sight of it. */
function useChanged(value: SortValue): boolean {
  const before = useRef(value);
  const [isChanged, setChanged] = useState(false);
  useEffect(() => {
    if (before.current === value) return undefined;
    before.current = value;
    setChanged(true);
    const timer = setTimeout(() => setChanged(false), changedMs);
    return () => clearTimeout(timer);
  }, [value]);
  return isChanged;
}
