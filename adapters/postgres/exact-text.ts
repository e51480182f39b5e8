// Texts that must come back exactly as they were, whatever is in them, in a column of PostgreSQL's text: it has no zero character, and half a
// surrogate pair cannot be encoded. Both are written as a delete character and four hex digits, and so is the delete character itself;
// every other text is kept as it is, so people find it as they know it.

/** What nearly all texts are made of, and quicker to see. */
const ordinary = /^[ -~]*$/;
const special = /[\0\u007f\p{Surrogate}]/gu;
const written = /\u007f([0-9a-f]{4})/g;

export function columnOfText(text: string): string {
  if (ordinary.test(text)) return text;
  return text.replace(special, (found) => `\u007f${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function textOfColumn(column: string): string {
  if (!column.includes("\u007f")) return column;
  return column.replace(written, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
