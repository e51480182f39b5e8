// `?`: every key and what it does.
import { screens } from "../screens/index.ts";
import { type Line, span } from "./text.ts";

const keys: readonly (readonly [string, string])[] = [
  ["arrows", "a row up or down; PgUp, PgDn, Home, End farther"],
  ["Enter", "detail of the row; Esc goes back"],
  ["/  s", "filter the rows; sort by the next column"],
  ["space", "freeze the picture; the halt line goes on"],
  ["y", "the same as a ctl command, shown and on the clipboard"],
  ["u", "unlock for 5 minutes, with a reason; again locks"],
  ["H", "in the halt menu: halt (no unlocking needed)"],
  ["R  c", "in the halt menu: resume; co-sign another's request"],
  ["C  F", "in the halt menu: cancel every order; flatten paper"],
  ["q", "quit"],
];

export function helpLines(): readonly Line[] {
  const all = [...screens.map(({ key, sentence }) => [key, sentence] as const), ...keys];
  return [
    [span("KEYS", "strong")],
    ...all.map(([key, what]): Line => [span(`  ${key.padEnd(8)}`, "strong"), span(what)]),
  ];
}
