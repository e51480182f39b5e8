// The keys of the desks as data and one pure function: what a key press means, given what was pressed before. Nothing acts while somebody types.
import { desks } from "../desk-list.ts";

export type KeyMeaning =
  | { readonly kind: "desk"; readonly path: string }
  | { readonly kind: "filter" | "help" | "palette" | "copy" | "chart" | "await" | "nothing" };

interface KeyPress {
  readonly key: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly alt: boolean;
  /** In a field, or while a dialog is open. */
  readonly isTyping: boolean;
}

export function meaningOf(press: KeyPress, isAfterG: boolean): KeyMeaning {
  if ((press.ctrl || press.meta) && press.key.toLowerCase() === "k") return { kind: "palette" };
  if (press.isTyping || press.ctrl || press.meta || press.alt) return { kind: "nothing" };
  if (isAfterG) {
    const desk = desks.find(({ key }) => key === press.key);
    return desk === undefined ? { kind: "nothing" } : { kind: "desk", path: desk.path };
  }
  const single: Readonly<Record<string, KeyMeaning["kind"]>> = {
    g: "await",
    "/": "filter",
    "?": "help",
    y: "copy",
    t: "chart",
  };
  const kind = single[press.key];
  return kind === undefined || kind === "desk" ? { kind: "nothing" } : { kind };
}

export const keyHelp: readonly (readonly [string, string])[] = [
  ...desks.map(({ key, title, question }) => [`g ${key}`, `${title}: ${question}`] as const),
  ["/", "Filter every table of this desk"],
  ["t", "Show a chart as its table, and back"],
  ["Space", "Replay: play and pause"],
  ["→ ←", "Replay: the next event, the event before"],
  ["y", "Copy the ctl command that shows the same"],
  ["Ctrl K", "Find a desk, a fund or an action"],
  ["?", "This help"],
  ["Esc", "Close what is open"],
];
