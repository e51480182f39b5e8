// How wide text is on a terminal, and how it is broken into lines there.
import stringWidth from "string-width";

export const simple = /^[\u0020-\u007e]*$/;

export function widthOf(text: string): number {
  return simple.test(text) ? text.length : stringWidth(text);
}

export const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Broken between words, what follows a little farther in; a word that is wider than a line is broken where it must be. */
export function wrapped(text: string, width: number, further = "  "): readonly string[] {
  if (widthOf(text) <= width) return [text];
  const indent = /^ */.exec(text)?.[0] ?? "";
  const [first = "", ...words] = text.slice(indent.length).split(" ");
  const lines: string[] = [];
  let line = `${indent}${first}`;
  for (const word of words) {
    const longer = `${line} ${word}`;
    if (widthOf(longer) <= width) line = longer;
    else {
      lines.push(line);
      line = `${indent}${further}${word}`;
    }
  }
  return [...lines, line].flatMap((each) => broken(each, width));
}

function broken(text: string, width: number): readonly string[] {
  if (widthOf(text) <= width) return [text];
  const pieces: string[] = [];
  let piece = "";
  for (const { segment } of graphemes.segment(text)) {
    if (widthOf(piece + segment) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += segment;
  }
  return [...pieces, piece];
}
