// Keys outside a dialog: which screen, which row, what is filtered, sorted, frozen and opened. None of them changes anything on the server.

import { wrapped } from "../../words/wrapped.ts";
import type { KeyEvent, NamedKey } from "../keys.ts";
import { screenNamed, screens } from "../screens/index.ts";
import { type Step as Done, just } from "./events.ts";
import { openDialog } from "./open-dialog.ts";
import { allRows, currentRow, cursorIndex, shownSections, sortHeads } from "./rows.ts";
import type { Detail, ListView, State } from "./state.ts";
import type { Target } from "./target.ts";

/** Rows of the frame that are no rows of the table. */
const framing = 7;
const filterLengthMax = 60;

export function browseKey(state: State, input: Exclude<KeyEvent, { kind: "paste" }>): Done {
  if (input.kind === "letter") return letter(state, input.letter);
  if (state.help) return just(input.key === "escape" || input.key === "enter" ? { ...state, help: false } : state);
  if (state.detail !== undefined) return inDetail(state, state.detail, input.key);
  if (input.key === "enter") return opened(state);
  if (input.key === "escape") return just(backed(state));
  return just(moved(state, input.key));
}

function letter(state: State, typed: string): Done {
  const screen = screens.find(({ key }) => key === typed);
  if (screen !== undefined) {
    return just({ ...state, screen: screen.name, detail: undefined, help: false });
  }
  switch (typed) {
    case "q":
      return just({ ...state, leaving: 0 });
    case "?":
      return just({ ...state, help: !state.help });
    case "/":
      return just({ ...state, help: false, detail: undefined, typing: state.views[state.screen].filter });
    case "s":
      return just(resorted(state));
    case " ":
      return just({ ...state, frozen: state.frozen === undefined ? state.data : undefined });
    case "y":
      return copied(state);
    case "u":
      return just(unlockKey(state));
    case "H":
    case "R":
    case "c":
    case "C":
    case "F":
      return just(actKey(state, typed));
    default:
      return just({ ...state, message: { text: `${typed} is no key; ? lists them.`, tone: "plain" } });
  }
}

/** Acting is inside the halt menu alone, so that a slip on another screen opens nothing. */
function actKey(state: State, typed: "H" | "R" | "c" | "C" | "F"): State {
  if (state.screen !== "halts") {
    return { ...state, message: { text: `${typed} acts in the halt menu only: press h first.`, tone: "plain" } };
  }
  return openDialog({ ...state, help: false, detail: undefined }, typed);
}

function unlockKey(state: State): State {
  if (state.unlocked === undefined) return openDialog({ ...state, help: false }, "u");
  return { ...state, unlocked: undefined, message: { text: "Locked: READ-ONLY.", tone: "plain" } };
}

export function typingKey(state: State, typed: string, input: KeyEvent): State {
  if (input.kind === "letter") return { ...state, typing: `${typed}${input.letter}`.slice(0, filterLengthMax) };
  if (input.kind === "paste") return { ...state, typing: `${typed}${input.text}`.slice(0, filterLengthMax) };
  switch (input.key) {
    case "backspace":
      return { ...state, typing: [...typed].slice(0, -1).join("") };
    case "enter":
      return withView({ ...state, typing: undefined }, { filter: typed.trim() });
    case "escape":
      return { ...state, typing: undefined };
    default:
      return state;
  }
}

function withView(state: State, change: Partial<ListView>): State {
  const view = { ...state.views[state.screen], ...change };
  return { ...state, views: { ...state.views, [state.screen]: view } };
}

/** Esc takes back the last thing: the filter, the order, the frozen picture. */
function backed(state: State): State {
  const view = state.views[state.screen];
  if (view.filter !== "") return withView(state, { filter: "" });
  if (view.sort !== undefined) return withView(state, { sort: undefined });
  return { ...state, frozen: undefined };
}

function resorted(state: State): State {
  const heads = sortHeads(state);
  const { sort } = state.views[state.screen];
  const at = sort === undefined ? -1 : heads.indexOf(sort);
  return withView(state, { sort: heads[at + 1] });
}

function moved(state: State, key: NamedKey): State {
  const rows = allRows(shownSections(state));
  const at = cursorIndex(rows, state.views[state.screen]);
  const next = Math.max(0, Math.min(rows.length - 1, stepped(at, key, rows.length, pageOf(state))));
  return withView(state, { cursor: rows[next]?.id, index: next });
}

function pageOf({ size }: State): number {
  return Math.max(1, size.rows - framing);
}

function stepped(at: number, key: NamedKey, count: number, page: number): number {
  const steps: Partial<Record<NamedKey, number>> = {
    up: at - 1,
    down: at + 1,
    pageUp: at - page,
    pageDown: at + page,
    home: 0,
    end: count - 1,
  };
  return steps[key] ?? at;
}

function inDetail(state: State, detail: Detail, key: NamedKey): Done {
  if (key === "escape" || key === "left") return just({ ...state, detail: undefined });
  if (key === "enter") return readAgain(state, detail);
  // Counted as they are drawn: a long line is several.
  const count = (detail.lines ?? []).flatMap((line) => wrapped(line, state.size.columns)).length;
  const top = Math.max(0, Math.min(count - pageOf(state), stepped(detail.top, key, count, pageOf(state))));
  return just({ ...state, detail: { ...detail, top } });
}

/** What stands there stays until the answer comes. */
function readAgain(state: State, detail: Detail): Done {
  const asked = state.asked + 1;
  return {
    state: { ...state, asked, detail: { ...detail, asked } },
    effects: [{ kind: "load detail", asked, target: detail.target }],
  };
}

function opened(state: State): Done {
  const row = currentRow(state);
  if (row?.target === undefined) return just(state);
  const asked = state.asked + 1;
  const { title, command } = titleOf(row.target);
  const detail: Detail = { asked, target: row.target, title, command, lines: undefined, at: undefined, top: 0 };
  return { state: { ...state, asked, detail }, effects: [{ kind: "load detail", asked, target: row.target }] };
}

function titleOf(target: Target): Pick<Detail, "title" | "command"> {
  switch (target.kind) {
    case "order":
      return { title: `ORDER ${target.orderId}`, command: `ctl why ${target.orderId}` };
    case "position":
      return {
        title: `POSITION ${target.symbol} of ${target.strategyId}`,
        command: `ctl riskengine headroom --fund-id ${target.fundId} --symbol ${target.symbol}`,
      };
    case "fund":
      return { title: `FUND ${target.fundId}`, command: `ctl riskengine envelope show --fund-id ${target.fundId}` };
    case "halt":
      return { title: `HALT ${target.scope || "firm"}`, command: "ctl riskengine halts list" };
  }
}

function copied(state: State): Done {
  const command = state.detail?.command ?? currentRow(state)?.command ?? screenNamed(state.screen).command;
  const named = state.profile === "default" ? command : command.replace(/^ctl /, `ctl --profile ${state.profile} `);
  return {
    state: { ...state, message: { text: named, tone: "good" } },
    effects: [{ kind: "copy", text: named }],
  };
}
