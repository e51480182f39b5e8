// What arrives from the keyboard as events of the model: letters one by one, named keys, and pastes as a whole, because a paste is never a key. A fast
// typist's letters arrive in one piece and are taken apart; a bracketed paste arrives between two marks.
import type { Key } from "ink";

export type NamedKey =
  | "up"
  | "down"
  | "left"
  | "right"
  | "pageUp"
  | "pageDown"
  | "home"
  | "end"
  | "enter"
  | "escape"
  | "backspace"
  | "tab"
  | "interrupt"
  | "suspend";

export type KeyEvent =
  | { readonly kind: "letter"; readonly letter: string }
  | { readonly kind: "key"; readonly key: NamedKey }
  | { readonly kind: "paste"; readonly text: string };

const pasteBegins = "[200~";
const pasteEnds = "[201~";
/** A key that nobody knows, without its first character. */
const unknownSequence = /^\[[0-9;<>?]*[A-Za-z~]$/;
/** More is no text that a field takes. */
const pasteLengthMax = 10_000;

type InkKey = Pick<
  Key,
  | "upArrow"
  | "downArrow"
  | "leftArrow"
  | "rightArrow"
  | "pageUp"
  | "pageDown"
  | "return"
  | "escape"
  | "ctrl"
  | "tab"
  | "backspace"
  | "delete"
  | "meta"
> & { readonly home?: boolean; readonly end?: boolean };

export interface KeyDecoder {
  decode(input: string, key: InkKey): readonly KeyEvent[];
}

export function createKeyDecoder(): KeyDecoder {
  let pasted: string | undefined;
  return {
    decode(input, key) {
      if (input === pasteBegins) {
        pasted = "";
        return [];
      }
      if (input === pasteEnds) {
        const text = pasted ?? "";
        pasted = undefined;
        return [{ kind: "paste", text }];
      }
      if (pasted !== undefined) {
        // Inside a paste nothing is a key, an Enter or an Escape included.
        pasted = (pasted + (key.return ? "\n" : input)).slice(0, pasteLengthMax);
        return [];
      }
      // Esc and the next key, read in one piece, look like Alt with that key, which is none of ours: Esc was pressed, and must not be lost.
      const escaped: readonly KeyEvent[] = key.meta && !key.escape ? [{ kind: "key", key: "escape" }] : [];
      const named = namedKey(input, key);
      if (named !== undefined) return [...escaped, { kind: "key", key: named }];
      // With Ctrl it is another key than the letter alone, and none of ours.
      if (key.ctrl || unknownSequence.test(input)) return escaped;
      return [...escaped, ...[...input].flatMap(letterEvent)];
    },
  };
}

function namedKey(input: string, key: InkKey): NamedKey | undefined {
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.leftArrow) return "left";
  if (key.rightArrow) return "right";
  if (key.pageUp) return "pageUp";
  if (key.pageDown) return "pageDown";
  if (key.home === true) return "home";
  if (key.end === true) return "end";
  if (key.return) return "enter";
  if (key.backspace || key.delete) return "backspace";
  if (key.tab) return "tab";
  if (key.ctrl && input === "c") return "interrupt";
  if (key.ctrl && input === "z") return "suspend";
  if (key.escape) return "escape";
  return undefined;
}

const controlKeys: Readonly<Record<string, NamedKey>> = {
  "\r": "enter",
  "\n": "enter",
  "\u007f": "backspace",
  "\b": "backspace",
  "\t": "tab",
  "\u0003": "interrupt",
  "\u001a": "suspend",
  "\u001b": "escape",
};

function letterEvent(letter: string): readonly KeyEvent[] {
  const control = controlKeys[letter];
  if (control !== undefined) return [{ kind: "key", key: control }];
  return letter < " " ? [] : [{ kind: "letter", letter }];
}
