// Whatever came from elsewhere is cleaned of what could move a cursor, colour a screen or turn the reading direction, because a name or an error message is
// data and never an instruction to what shows it.

/** Control characters (C0, DEL, C1), direction overrides and line separators. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
export const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a whole escape sequence goes, not only its first character
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;

export function clean(text: string): string {
  return text.replace(escapes, "").replace(unsafe, " ");
}

/** Labels on the left, cleaned values on the right. */
export function pairs(rows: readonly (readonly [string, string | undefined])[]): string {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== undefined);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${clean(value)}`).join("\n");
}
