// The whole screen as lines, from the state alone: header, halt line, the screen's name, table, message, keys. It is one row less than the terminal has, because a
// frame as high as the terminal makes the library clear it every time.

import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import { duration } from "../../words/times.ts";
import { widthOf, wrapped } from "../../words/wrapped.ts";
import { alwaysNeeded } from "../lists.ts";
import { isFresh, linkWord } from "../model/link.ts";
import { allRows, cursorIndex, isShownFresh, oldLists, shownSections } from "../model/rows.ts";
import { type State, shownData } from "../model/state.ts";
import { screenNamed } from "../screens/index.ts";
import { attentionOf } from "./attention.ts";
import { dialogLines } from "./dialog-lines.ts";
import { helpLines } from "./help-lines.ts";
import { keysLine } from "./keys-line.ts";
import { tableLines } from "./table.ts";
import { fitLine, type Line, type Look, pad, type Span, shown, span } from "./text.ts";

/** Less shows nothing that could be trusted. */
const columnsMin = 60;
const rowsMin = 15;
const detailOldMs = 3_000;

export function frame(state: State, look: Look): readonly Line[] {
  const { columns, rows } = state.size;
  const height = Math.max(1, rows - 1);
  const lines = columns < columnsMin || rows < rowsMin ? tooSmall(state, look) : full(state, look, height);
  return lines.slice(0, height).map((line) => fitLine(line, columns, look));
}

function tooSmall(state: State, look: Look): readonly Line[] {
  const { columns, rows } = state.size;
  const text = `This terminal is ${columns}x${rows}. ctl tui needs ${columnsMin}x${rowsMin}: make it larger, or press q.`;
  const attention = attentionOf(state);
  return [
    ...wrapped(text, columns).map((line) => [span(line)]),
    ...(attention.kind === "halted" ? [[span(shown(attention.text, look), "inverse")]] : []),
  ];
}

function full(state: State, look: Look, height: number): readonly Line[] {
  const { columns } = state.size;
  const top = [headerLine(state), attentionLine(state, look), titleLine(state)];
  const bottom = [messageLine(state), keysLine(state, columns)];
  const room = height - top.length - bottom.length;
  const body = bodyLines(state, look, room).slice(0, room);
  const empty = Array.from({ length: room - body.length }, (): Line => []);
  return [...top, ...body, ...empty, ...bottom];
}

function headerLine(state: State): Line {
  const word = linkWord(state);
  const mode = modeWord(state);
  const { link, now, unlocked } = state;
  const old = link.heardAt === undefined ? "no data yet" : duration(dataAgeMs(state));
  const locked =
    unlocked === undefined ? "READ-ONLY" : `UNLOCKED ${duration(millisecondsBetween(now, unlocked.until))}`;
  const spans: Span[] = [
    span("Portcullis", "strong"),
    span(mode, mode === "PAPER" ? "plain" : "inverse"),
    span(state.who),
    span(locked, unlocked === undefined ? "plain" : "warn"),
    span(`${word} ${old}`, isFresh(state) ? "good" : "warn"),
    ...(state.frozen === undefined ? [] : [span("FROZEN", "inverse")]),
  ];
  return spans.flatMap((each, at) => (at === 0 ? [each] : [span("  "), each]));
}

function modeWord({ data }: State): string {
  const modes = [...new Set(data.held.funds?.value.map(({ mode }) => mode))].sort();
  return modes.length === 0 ? "MODE NOT KNOWN" : modes.reverse().join(" AND ");
}

/** Of the oldest list on the screen: the figures are no younger than that. */
function dataAgeMs(state: State): number {
  const data = shownData(state);
  const needed = [...alwaysNeeded, ...screenNamed(state.screen).needs];
  const read = needed.flatMap((name) => data.held[name]?.at ?? []);
  const oldest = Math.min(...read, state.link.heardAt ?? state.now);
  return Math.max(0, (state.now - oldest) / 1_000);
}

function attentionLine(state: State, look: Look): Line {
  const { kind, text } = attentionOf(state);
  const safe = shown(text, look);
  if (kind === "halted") return [span(pad(keptEnd(safe, state.size.columns), state.size.columns), "inverse")];
  return [span(keptEnd(safe, state.size.columns), kind === "attention" ? "warn" : "plain")];
}

/** How many more there are is the last word, and is kept when the rest is cut. */
function keptEnd(text: string, width: number): string {
  const more = / \(\+\d+ more\)$/.exec(text)?.[0] ?? "";
  if (widthOf(text) <= width || more === "") return text;
  let head = text.slice(0, text.length - more.length);
  while (head !== "" && widthOf(head) + widthOf(more) + 3 > width) head = head.slice(0, -1);
  return `${head}...${more}`;
}

function titleLine(state: State): Line {
  const screen = screenNamed(state.screen);
  const view = state.views[state.screen];
  const words = [
    ...(view.filter === "" ? [] : [`filter "${view.filter}"`]),
    ...(view.sort === undefined ? [] : [`sorted by ${view.sort}`]),
    ...detailAge(state),
    ...notFresh(state),
  ];
  const detail = state.detail === undefined ? "" : ` > ${state.detail.title}`;
  return [span(screen.title, "strong"), span(detail), span(words.length === 0 ? "" : `  ${words.join(", ")}`, "warn")];
}

/** A detail is read once, and says from when it is. */
function detailAge({ detail, now }: State): readonly string[] {
  if (detail?.at === undefined) return [];
  const ms = millisecondsBetween(detail.at, now);
  return ms < detailOldMs ? [] : [`read ${duration(ms)} ago`];
}

function notFresh(state: State): readonly string[] {
  if (!isFresh(state)) return [`NOT FRESH (${linkWord(state)})`];
  const [first] = oldLists(state);
  if (first === undefined) return [];
  const { data, now } = state;
  const failure = data.failures[first];
  const old = duration(millisecondsBetween(data.held[first]?.at ?? now, now));
  return [`NOT FRESH (${first} of ${old} ago${failure === undefined ? "" : `: ${failure}`})`];
}

function bodyLines(state: State, look: Look, room: number): readonly Line[] {
  if (state.dialog !== undefined) return dialogLines(state.dialog, state.size.columns, room);
  if (state.help) return helpLines();
  if (state.detail !== undefined) return detailLines(state, state.detail, room);
  const sections = shownSections(state, look.ascii);
  return tableLines({
    sections,
    cursor: cursorIndex(allRows(sections), state.views[state.screen]),
    width: state.size.columns,
    height: room,
    look,
    fresh: isShownFresh(state),
  });
}

function detailLines({ size }: State, { lines, top }: NonNullable<State["detail"]>, room: number): readonly Line[] {
  if (lines === undefined) return [[span("Loading.")]];
  const broken = lines.flatMap((line) => wrapped(line, size.columns));
  const from = Math.max(0, Math.min(top, broken.length - room));
  return broken.slice(from, from + room).map((line) => [span(line)]);
}

function messageLine({ message, typing, loginOver, link }: State): Line {
  if (typing !== undefined) return [span(`filter: ${typing}_`, "strong"), span("  Enter takes it, Esc leaves it")];
  if (message !== undefined) return [span(message.text, message.tone)];
  if (loginOver !== undefined) return [span("`ctl auth login`, then start again. q leaves.", "bad")];
  if (link.failure !== undefined) return [span(link.failure, "warn")];
  return [];
}
