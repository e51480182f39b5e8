// A QR code for a terminal, two rows of it in one line of text. Where colour is wanted it is black on white whatever the terminal's own
// colours are; without colour it is drawn for a dark terminal, which most scanners read on a light one too.
import type { encode } from "uqr";

/** From the fixed part of the 256 colours, which themes leave alone. */
const blackOnWhite = "\u001b[38;5;16;48;5;231m";
const plain = "\u001b[0m";

type Code = Pick<ReturnType<typeof encode>, "data" | "size">;

export function qrLines({ data, size }: Code, coloured: boolean): string {
  const isDark = (row: number, column: number): boolean => data[row]?.[column] === true;
  const lines = Array.from({ length: Math.ceil(size / 2) }, (_none, line) =>
    Array.from({ length: size }, (_empty, column) =>
      glyph(isDark(line * 2, column) === coloured, isDark(line * 2 + 1, column) === coloured),
    ).join(""),
  );
  return lines.map((line) => (coloured ? `${blackOnWhite}${line}${plain}` : line)).join("\n");
}

/** What is drawn is ink: the dark modules on white paint, the light ones on a dark terminal. */
function glyph(isUpperInk: boolean, isLowerInk: boolean): string {
  if (isUpperInk) return isLowerInk ? "█" : "▀";
  return isLowerInk ? "▄" : " ";
}
