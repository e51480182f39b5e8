// Which characters the texts of an order may be made of, as a table that is asked once per character: about texts by themselves, and about
// texts while their bytes are written.

/** Which characters may stand first in a text, and which after that, as bits per ASCII code. */
export const idFirst = 1;
export const idRest = 2;
export const symbolFirst = 4;
export const symbolRest = 8;
export const currencyFirst = 16;
export const currencyRest = 32;
/** Characters of one line: no control characters and no line breaks, so that it cannot break a log line or a terminal. */
export const inLine = 64;
export const inAscii = 128;

/** The kinds of each ASCII code. */
export const characterKinds = new Uint8Array(128);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  const capital = character >= "A" && character <= "Z";
  const digit = character >= "0" && character <= "9";
  const letter = capital || (character >= "a" && character <= "z");
  characterKinds[code] =
    (letter || digit ? idFirst : 0) |
    (letter || digit || "._:@/-".includes(character) ? idRest : 0) |
    (capital || digit ? symbolFirst : 0) |
    (capital || digit || " ._:/-".includes(character) ? symbolRest : 0) |
    (capital ? currencyFirst : 0) |
    (capital || digit ? currencyRest : 0) |
    (code >= 0x20 && code < 0x7f ? inLine : 0) |
    inAscii;
}

export function isMadeOf(text: string, first: number, rest: number): boolean {
  if (((characterKinds[text.charCodeAt(0)] ?? 0) & first) === 0) return false;
  for (let index = 1; index < text.length; index += 1) {
    if (((characterKinds[text.charCodeAt(index)] ?? 0) & rest) === 0) return false;
  }
  return true;
}

/** The same of characters beyond ASCII too. */
export function isOneLine(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f) || code === 0x2028 || code === 0x2029) return false;
  }
  return true;
}

/**
 * Writes an ASCII text's bytes to that place and answers the kinds that every one of its characters is of; 0 for what is no ASCII text. It
 * is judged while it is written: reading a text's characters costs more than all that is done with them.
 */
export function writeText(into: Uint8Array, place: number, text: unknown): number {
  if (typeof text !== "string") return 0;
  let codes = 0;
  let kinds = 0xff;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    codes |= code;
    kinds &= characterKinds[code & 0x7f] ?? 0;
    into[place + index] = code;
  }
  return codes > 0x7f ? 0 : kinds;
}

/** The kinds of an ASCII byte. */
export function kindsOf(byte: number | undefined): number {
  return characterKinds[byte ?? 0] ?? 0;
}
