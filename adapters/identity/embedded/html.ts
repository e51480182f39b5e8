// Markup that cannot be broken out of: whatever is put into a template is cleaned of what nobody sees and escaped, unless it is markup from another template.
import { clean } from "../../../contracts/src/text/clean.ts";

export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[] | undefined;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return clean(text).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

function markupOf(part: Part): string {
  if (part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "markup" in part ? part.markup : part.map((one) => one.markup).join("");
}

export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: texts.map((text, index) => text + markupOf(parts[index])).join("") };
}
