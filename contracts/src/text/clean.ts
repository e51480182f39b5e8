// Text that somebody else wrote, as people are shown it: on pages, terminals, paper, in mail and in chat. What it says is data and never an instruction to what
// shows it, so a character that nobody can see, or that turns, colours or moves what stands around it, is shown as a mark that names it.
//
//  1. Cleaned text has no character of \p{Cc} and \p{Cf} but U+200C and U+200D, which are letters' business in Persian and hold emoji together.
//  2. Cleaning twice is cleaning once. Everything else stays as it was written.

/** Controls, formats, line and paragraph separators, and halves of characters that lost their other half. */
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function clean(text: string): string {
  return replaceUnseen(text, codePoint);
}

/** The same characters in another form, for what is no page: JSON has escapes for them. */
export function replaceUnseen(text: string, as: (character: string) => string): string {
  return text.replace(unseen, as);
}

/** ⟨U+202E⟩. */
function codePoint(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
