// Everything that the terminal desk knows at one moment. The screen is a pure function of it, and it changes in one place (reduce.ts).
import type { Instant } from "../../../contracts/src/instant.ts";
import { type Data, emptyData } from "../lists.ts";
import type { Dialog } from "./dialog.ts";
import type { Target } from "./target.ts";

export type ScreenName = "positions" | "orders" | "funds" | "risk" | "halts";

export interface State {
  readonly now: Instant;
  /** The actor, as the server says it. */
  readonly who: string;
  readonly profile: string;
  readonly size: { readonly columns: number; readonly rows: number };
  readonly data: Data;
  readonly link: Link;
  readonly screen: ScreenName;
  /** Per screen, so that coming back finds everything as it was left. */
  readonly views: Readonly<Record<ScreenName, ListView>>;
  /** What is shown instead of the newest data while the screen is frozen. */
  readonly frozen: Data | undefined;
  readonly detail: Detail | undefined;
  readonly help: boolean;
  readonly dialog: Dialog | undefined;
  /** The filter while it is being typed. */
  readonly typing: string | undefined;
  readonly unlocked: { readonly until: Instant; readonly reason: string } | undefined;
  readonly message: Message | undefined;
  /** Why nobody is logged in any more. */
  readonly loginOver: string | undefined;
  readonly leaving: number | undefined;
  /** Counts what was asked for, so that a late answer finds nobody who waits for it. */
  readonly asked: number;
}

export interface ListView {
  /** The row's own id, because rows move. */
  readonly cursor: string | undefined;
  /** Where it stood, for when it is gone. */
  readonly index: number;
  readonly filter: string;
  /** The head of a column; undefined is the screen's own order. */
  readonly sort: string | undefined;
}

interface Link {
  readonly mode: "stream" | "polling";
  /** When the server last said something, be it that nothing happened. */
  readonly heardAt: Instant | undefined;
  /** Since when every try failed, and why. */
  readonly failingSince: Instant | undefined;
  readonly failure: string | undefined;
}

export interface Detail {
  readonly asked: number;
  readonly target: Target;
  readonly title: string;
  readonly command: string;
  /** Undefined while it is loading. */
  readonly lines: readonly string[] | undefined;
  readonly at: Instant | undefined;
  readonly top: number;
}

interface Message {
  readonly text: string;
  readonly tone: "plain" | "good" | "bad";
}

const freshView: ListView = { cursor: undefined, index: 0, filter: "", sort: undefined };

interface Beginning {
  readonly now: Instant;
  readonly who: string;
  readonly profile: string;
  readonly size: State["size"];
}

export function initialState({ now, who, profile, size }: Beginning): State {
  return {
    now,
    who,
    profile,
    size,
    data: emptyData,
    link: { mode: "polling", heardAt: undefined, failingSince: undefined, failure: undefined },
    screen: "positions",
    views: { positions: freshView, orders: freshView, funds: freshView, risk: freshView, halts: freshView },
    frozen: undefined,
    detail: undefined,
    help: false,
    dialog: undefined,
    typing: undefined,
    unlocked: undefined,
    message: undefined,
    loginOver: undefined,
    leaving: undefined,
    asked: 0,
  };
}

/** What the screen shows: the newest, or what stood there when it was frozen. */
export function shownData({ frozen, data }: State): Data {
  return frozen ?? data;
}
