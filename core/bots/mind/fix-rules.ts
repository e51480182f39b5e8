// What the fixer does without a model: it takes the newest diff that somebody with write put into the thread, exactly or not at all.
import type { FileEdit, FixPlan } from "../../../contracts/src/records/bot-plans.ts";
import type { MaterialOf } from "../material.ts";
import { type Hunk, readDiff } from "../patches.ts";

const fence = /^(`{3,}|~{3,})(?:diff|patch)[ \t]*$/;

/** Of this text, the last one that was fenced as a diff and whose fence was closed. */
export function lastDiff(body: string): string | undefined {
  let found: string | undefined;
  let open: { readonly mark: string; readonly lines: string[] } | undefined;
  for (const line of body.split("\n")) {
    const mark = fence.exec(line)?.[1];
    if (open === undefined) {
      if (mark !== undefined) open = { mark, lines: [] };
    } else if (line.trimEnd() === open.mark) {
      found = open.lines.join("\n");
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  return found;
}

const nothing: FixPlan = { title: "", explanation: "", edits: [] };

export function fixByRules({ thread }: MaterialOf<"bug_fixer">): FixPlan {
  const comment = thread.comments.findLast(({ mayWrite, body }) => mayWrite && lastDiff(body) !== undefined);
  const hunks = comment === undefined ? undefined : readDiff(lastDiff(comment.body) ?? "");
  if (comment === undefined || hunks === undefined) return nothing;
  return {
    title: `Fix ${thread.title}`.slice(0, 120),
    explanation: `This is the diff that ${comment.author} put into the issue, unchanged.`,
    edits: hunks.map(editOf),
  };
}

function editOf({ path, line, find, replace }: Hunk): FileEdit {
  return { path, find: find.join("\n"), replace: replace.join("\n"), line: line ?? null };
}
