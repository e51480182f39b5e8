// What a key means to the clock of a replay: nothing in a field, and nothing where the key has a meaning of its own.

export type ReplayKey = "play" | "step" | "back";

interface Pressed {
  readonly key: string;
  /** With another key held, or answered by somebody else. */
  readonly isChord: boolean;
  /** In a field, or while a dialog is open. */
  readonly isField: boolean;
  /** On a button or a link, which Space presses. */
  readonly isPressed: boolean;
  /** A table that has the focus scrolls by these keys. */
  readonly scrolls: { readonly sideways: boolean; readonly down: boolean };
}

export function replayKey({ key, isChord, isField, isPressed, scrolls }: Pressed): ReplayKey | undefined {
  if (isChord || isField) return undefined;
  if (key === " ") return isPressed || scrolls.down ? undefined : "play";
  if (scrolls.sideways) return undefined;
  if (key === "ArrowRight") return "step";
  return key === "ArrowLeft" ? "back" : undefined;
}
