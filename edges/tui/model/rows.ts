// The rows that a screen has now: its sections, filtered and sorted as the viewer asked, and where the cursor stands among them.
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { ListName } from "../lists.ts";
import { screenNamed } from "../screens/index.ts";
import type { Row, Section } from "../screens/screen.ts";
import { isFresh } from "./link.ts";
import { type ListView, type State, shownData } from "./state.ts";

/** The server is heard and this list is not to be had, or not in time. */
const listOldMs = 10_000;

/** What the screen shows of another time, though the server is heard. */
export function oldLists({ data, now, screen }: Pick<State, "data" | "now" | "screen">): readonly ListName[] {
  return screenNamed(screen).needs.filter((name) => {
    const at = data.held[name]?.at;
    return at !== undefined && millisecondsBetween(at, now) >= listOldMs;
  });
}

/** Whether the figures on this screen may be believed as fresh. */
export function isShownFresh(state: State): boolean {
  return isFresh(state) && oldLists(state).length === 0;
}

export function shownSections(state: State, ascii = false): readonly Section[] {
  const screen = screenNamed(state.screen);
  const view = state.views[state.screen];
  const sections = screen.sections(shownData(state), { now: state.now, fresh: isShownFresh(state), ascii });
  return sections.map((section) => sorted(filtered(section, view.filter), view.sort));
}

function filtered(section: Section, filter: string): Section {
  if (filter === "") return section;
  const wanted = filter.toLowerCase();
  const rows = section.rows.filter(({ cells }) =>
    cells
      .map(({ text }) => text)
      .join(" ")
      .toLowerCase()
      .includes(wanted),
  );
  return { ...section, rows, none: section.rows.length === 0 ? section.none : `Nothing here matches "${filter}".` };
}

function sorted(section: Section, sort: string | undefined): Section {
  const at = section.heads.findIndex(({ head }) => head === sort);
  if (sort === undefined || at === -1) return section;
  return { ...section, rows: [...section.rows].sort((one, other) => compared(one.sort[at], other.sort[at])) };
}

/** Sizes from the largest, names from the first. */
function compared(one: string | number | undefined, other: string | number | undefined): number {
  if (typeof one === "number" && typeof other === "number") return other - one;
  return String(one ?? "").localeCompare(String(other ?? ""), "en");
}

export function allRows(sections: readonly Section[]): readonly Row[] {
  return sections.flatMap(({ rows }) => rows);
}

/** By the row's own id; where that is gone, the place at which it stood. */
export function cursorIndex(rows: readonly Row[], { cursor, index }: ListView): number {
  const found = cursor === undefined ? -1 : rows.findIndex(({ id }) => id === cursor);
  return found === -1 ? Math.max(0, Math.min(index, rows.length - 1)) : found;
}

export function currentRow(state: State): Row | undefined {
  const rows = allRows(shownSections(state));
  return rows[cursorIndex(rows, state.views[state.screen])];
}

/** What a table may be sorted by on this screen: the heads of its first section that has rows. */
export function sortHeads(state: State): readonly string[] {
  const sections = screenNamed(state.screen).sections(shownData(state), { now: state.now, fresh: true, ascii: true });
  const filled = sections.find(({ rows, title }) => rows.length > 0 && (title !== "" || sections.length === 1));
  return (filled ?? sections[0])?.heads.map(({ head }) => head).filter((head) => head !== "") ?? [];
}
