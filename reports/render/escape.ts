// Text as a page shows it: nothing in it is markup, and what cannot be seen is marked.
import { clean } from "../../contracts/src/text/clean.ts";

const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text: string): string {
  return clean(text).replace(/[&<>"']/g, (mark) => marks[mark] ?? mark);
}

/** What somebody else may have written: its reading direction ends with it. */
export function isolated(text: string): string {
  return `<bdi>${escaped(text)}</bdi>`;
}
