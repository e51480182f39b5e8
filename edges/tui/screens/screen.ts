// What a screen is: a key, a name, the lists it needs, and one pure function from them to sections of rows. Sections are data: the same rows are drawn,
// sorted, filtered and searched for the cursor in one way for every screen.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Data, ListName } from "../lists.ts";
import type { ScreenName } from "../model/state.ts";
import type { Target } from "../model/target.ts";
import { type Span, span } from "../view/text.ts";

export interface Screen {
  readonly key: string;
  readonly name: ScreenName;
  readonly title: string;
  readonly sentence: string;
  readonly needs: readonly ListName[];
  /** What ctl would be asked for the whole screen. */
  readonly command: string;
  sections(data: Data, view: Viewing): readonly Section[];
}

export interface Viewing {
  readonly now: Instant;
  /** Whether figures may be shown as fresh. */
  readonly fresh: boolean;
  readonly ascii: boolean;
}

export interface Row {
  readonly id: string;
  readonly cells: readonly Span[];
  readonly sort: readonly (string | number)[];
  readonly target?: Target;
  /** What ctl would be asked for this row. */
  readonly command?: string;
}

export interface Head {
  readonly head: string;
  readonly right: boolean;
  /** The smaller, the longer it stays; 0 is never left out. */
  readonly rank: number;
  /** At most so wide in a narrow terminal. */
  readonly widthMax?: number;
  /** Stands there only while some row has something in it, whatever its rank. */
  readonly ifAny?: true;
}

export interface Section {
  readonly title: string;
  readonly heads: readonly Head[];
  readonly rows: readonly Row[];
  readonly none: string;
}

export interface Column<Item> {
  readonly head: string;
  readonly rank: number;
  readonly right?: true;
  readonly widthMax?: number;
  readonly ifAny?: true;
  of(item: Item): string | Span;
  /** What it is sorted by; what is shown otherwise. */
  by?(item: Item): string | number;
}

interface Listed<Item> {
  readonly title?: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly none: string;
  id(item: Item): string;
  target?(item: Item): Target;
  command?(item: Item): string;
}

export function section<Item>(list: Listed<Item>): Section {
  const { columns, items } = list;
  return {
    title: list.title ?? "",
    heads: columns.map(({ head, rank, right, widthMax, ifAny }) => ({
      head,
      rank,
      right: right === true,
      ...(widthMax === undefined ? {} : { widthMax }),
      ...(ifAny === undefined ? {} : { ifAny }),
    })),
    none: list.none,
    rows: items.map((item) => {
      const cells = columns.map((column) => asSpan(column.of(item)));
      return {
        id: list.id(item),
        cells,
        sort: columns.map((column, at) => column.by?.(item) ?? cells[at]?.text ?? ""),
        ...(list.target === undefined ? {} : { target: list.target(item) }),
        ...(list.command === undefined ? {} : { command: list.command(item) }),
      };
    }),
  };
}

function asSpan(cell: string | Span): Span {
  return typeof cell === "string" ? span(cell) : cell;
}

/** While a list was never read there is nothing to say about what is in it. */
export function noneOf(data: Data, name: ListName, none: string): string {
  const failure = data.failures[name];
  if (data.held[name] !== undefined) return none;
  return failure === undefined ? "Loading." : `Not known: ${failure}`;
}

/** Whether paper and money stand side by side, so that each row must say which it is. */
export function isMixed(data: Data): boolean {
  return new Set(data.held.funds?.value.map(({ mode }) => mode)).size > 1;
}

export function modeOf(data: Data, fundId: string): string {
  return data.held.funds?.value.find(({ fund_id }) => fund_id === fundId)?.mode ?? "?";
}
