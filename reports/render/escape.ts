// Text as HTML shows it: nothing in it is markup, and control characters are spelled out.
const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, spelled).replace(/[&<>"']/g, (mark) => marks[mark] ?? mark);
}

const spelled = (mark: string): string => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
