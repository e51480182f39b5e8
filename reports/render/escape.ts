// Text as a page shows it: nothing in it is markup, and what cannot be seen is spelled out.
const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text: string): string {
  return spelledOut(text).replace(/[&<>"']/g, (mark) => marks[mark] ?? mark);
}

/** Control and formatting characters, and halves of characters that lost their other half. */
export function spelledOut(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, spelled);
}

const spelled = (mark: string): string => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
