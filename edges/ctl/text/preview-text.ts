// What a dry run would make of limits and headroom, below the list of what would change.
import { type Preview, type PreviewRow, previewNotes, previewRows } from "../../words/preview-words.ts";
import type { Answer, Context } from "../verbs/verb.ts";
import { type Column, isForPeople, listing } from "./listing.ts";
import { clean } from "./text.ts";

const columns: readonly Column<PreviewRow>[] = [
  { name: "fund_id", key: true, of: (one) => one.fund_id },
  { name: "of", key: true, head: "limit or headroom", of: (one) => one.of },
  { name: "before", key: true, text: true, of: (one) => one.before },
  { name: "after", key: true, text: true, of: (one) => one.after },
];

export async function withPreview(
  context: Context,
  answer: Answer,
  preview: Preview | undefined,
  missing: string | undefined,
): Promise<Answer> {
  const notes = previewNotes(preview, missing);
  if (!isForPeople(context) || notes.length === 0) return answer;
  const rows = preview === undefined ? [] : previewRows(preview);
  const shown = rows.length === 0 ? [] : [(await listing(context, { columns, rows, none: "" })).text];
  const lead = "As if no halt, block or missing price stood:";
  return { ...answer, text: [answer.text, [lead, ...notes.map(clean)].join("\n"), ...shown].join("\n\n") };
}
