// Sections as lines: as many columns as fit, the least important ones left out first, and a window of rows in which the cursor is always seen.

import { widthOf } from "../../words/wrapped.ts";
import type { Head, Row, Section } from "../screens/screen.ts";
import { cut, type Line, type Look, pad, type Span, shown, span } from "./text.ts";

/** One column less between cells is what a narrow terminal gives first. */
const gaps = [2, 1] as const;
const markWidth = 2;

/** A line of the table, and which row it is, when it is one. */
interface Drawn {
  readonly line: Line;
  readonly row: number | undefined;
}

interface TableView {
  readonly sections: readonly Section[];
  readonly cursor: number;
  readonly width: number;
  readonly height: number;
  readonly look: Look;
  /** Figures that are not fresh are dim. */
  readonly fresh: boolean;
}

export function tableLines(view: TableView): readonly Line[] {
  const { sections, height, cursor } = view;
  const drawn = drawnSections(view);
  // The head of a single table stays; where there are several, each scrolls with its own.
  const pinned = sections.length === 1 ? drawn.filter(({ row }, at) => at === 0 && row === undefined) : [];
  const rest = drawn.slice(pinned.length);
  const room = Math.max(1, height - pinned.length);
  const at = rest.findIndex(({ row }) => row === cursor);
  const top = windowTop(rest.length, room, at, cursor);
  return [...pinned, ...rest.slice(top, top + room)].map(({ line }) => line);
}

/** The first rows show what stands above them, too. */
function windowTop(count: number, room: number, at: number, cursor: number): number {
  if (count <= room || at === -1 || cursor === 0) return 0;
  const middle = at - Math.floor(room / 2);
  return Math.max(0, Math.min(middle, count - room));
}

function drawnSections(view: TableView): readonly Drawn[] {
  const { sections, look } = view;
  let row = 0;
  return sections.flatMap((each, at) => {
    const lines: Drawn[] = [];
    if (at > 0) lines.push({ line: [], row: undefined });
    if (each.title !== "") lines.push({ line: [span(each.title, "strong")], row: undefined });
    if (each.rows.length === 0) {
      const text = shown(each.none, look);
      if (text !== "") lines.push({ line: [span(`${" ".repeat(markWidth)}${text}`)], row: undefined });
      return lines;
    }
    const layout = laidOut(each, view);
    lines.push({ line: headLine(layout), row: undefined });
    for (const one of each.rows) {
      lines.push({ line: rowLine(one, layout, { ...view, isCursor: row === view.cursor }), row });
      row += 1;
    }
    return lines;
  });
}

interface Layout {
  readonly columns: readonly Placed[];
  readonly gap: number;
}

interface Placed {
  readonly at: number;
  readonly head: Head;
  readonly width: number;
}

/** Which columns stand there, how wide each. */
function laidOut({ heads, rows }: Section, { width, look }: TableView): Layout {
  const wanted = heads.map((head, at) => {
    const widest = Math.max(
      widthOf(head.head),
      ...rows.map(({ cells }) => widthOf(shown(cells[at]?.text ?? "", look))),
    );
    return { at, head, width: widest };
  });
  const isEmpty = ({ at, head }: Placed): boolean =>
    (head.rank > 0 || head.ifAny === true) && rows.every(({ cells }) => (cells[at]?.text ?? "") === "");
  const ranked = wanted.filter((one) => !isEmpty(one)).sort((one, other) => one.head.rank - other.head.rank);
  const least = ranked.filter(({ head }) => head.rank === 0);
  const gap = total(least, gaps[0]) <= width ? gaps[0] : gaps[1];
  const kept = [...least];
  for (const one of ranked.slice(least.length)) {
    if (total([...kept, narrowed(one)], gap) <= width) kept.push(one);
  }
  const inOrder = kept.sort((one, other) => one.at - other.at);
  return { columns: shrunk(inOrder, width, gap), gap };
}

function narrowed(one: Placed): Placed {
  return { ...one, width: Math.min(one.width, one.head.widthMax ?? one.width) };
}

function total(columns: readonly Placed[], gap: number): number {
  return markWidth + columns.reduce((sum, { width }) => sum + width, 0) + gap * Math.max(0, columns.length - 1);
}

/** Columns with a bound give way first; then the widest, until everything fits. */
function shrunk(columns: readonly Placed[], width: number, gap: number): readonly Placed[] {
  if (total(columns, gap) <= width) return columns;
  let fitted = columns.map(narrowed);
  while (total(fitted, gap) > width) {
    const most = Math.max(...fitted.map((one) => one.width));
    if (most <= 3) break;
    const widest = fitted.findLastIndex((one) => one.width === most);
    fitted = fitted.map((one, at) => (at === widest ? { ...one, width: one.width - 1 } : one));
  }
  // What the bounds gave back goes to the columns that they cut.
  let spare = width - total(fitted, gap);
  return fitted.map((one, at) => {
    const more = Math.max(0, Math.min(spare, (columns[at]?.width ?? 0) - one.width));
    spare -= more;
    return { ...one, width: one.width + more };
  });
}

function headLine({ columns, gap }: Layout): Line {
  const words = columns.map(({ head, width }) => pad(head.head.slice(0, width), width, head.right ? "left" : "right"));
  return [span(`${" ".repeat(markWidth)}${words.join(" ".repeat(gap))}`.trimEnd(), "dim")];
}

interface RowView extends TableView {
  readonly isCursor: boolean;
}

function rowLine({ cells }: Row, { columns, gap }: Layout, { look, isCursor, fresh }: RowView): Line {
  const mark = span(isCursor ? "> " : "  ", "strong");
  const spans = columns.flatMap(({ at, head, width }, order): Span[] => {
    const { text, tone } = cells[at] ?? span("");
    const fitted = pad(cut(shown(text, look), width, look), width, head.right ? "left" : "right");
    const cell = { text: fitted, tone: fresh ? (isCursor && tone === "plain" ? "strong" : tone) : "dim" } as const;
    return order === 0 ? [cell] : [span(" ".repeat(gap)), cell];
  });
  return [mark, ...spans];
}
