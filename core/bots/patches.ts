// Reads the patches that GitHub gives of a pull request's files: which lines of the new file were added, and what they say.

export interface AddedLine {
  readonly line: number;
  readonly text: string;
}

const hunkHead = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

export function addedLines(patch: string): readonly AddedLine[] {
  const added: AddedLine[] = [];
  let line = 0;
  for (const text of patch.split("\n")) {
    const head = hunkHead.exec(text);
    if (head !== null) line = Number(head[3]);
    else if (line === 0 || text.startsWith("-") || text.startsWith("\\")) continue;
    else {
      if (text.startsWith("+")) added.push({ line, text: text.slice(1) });
      line += 1;
    }
  }
  return added;
}

export interface Hunk {
  readonly path: string;
  /** Undefined where the file is new. */
  readonly line: number | undefined;
  readonly find: readonly string[];
  readonly replace: readonly string[];
}

/** A unified diff as edits; undefined where any of it is not what a diff has. */
export function readDiff(diff: string): readonly Hunk[] | undefined {
  const lines = diff.split("\n");
  const hunks: Hunk[] = [];
  let path: string | undefined;
  let isNew = false;
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const head = hunkHead.exec(line);
    if (line.startsWith("--- ")) {
      isNew = line.startsWith("--- /dev/null");
      path = pathOf(lines[at + 1]);
      if (path === undefined) return undefined;
      at += 2;
    } else if (head !== null) {
      if (path === undefined) return undefined;
      const hunk = readHunk(lines, at + 1, Number(head[2] ?? 1), Number(head[4] ?? 1));
      if (hunk === undefined) return undefined;
      hunks.push({ path, line: isNew ? undefined : Number(head[1]), find: hunk.find, replace: hunk.replace });
      at = hunk.next;
    } else if (line === "" || /^(diff --git |index |new file mode 100644$|\\ No newline)/.test(line)) at += 1;
    else return undefined;
  }
  return hunks.length === 0 ? undefined : hunks;
}

function pathOf(line: string | undefined): string | undefined {
  return /^\+\+\+ (?:b\/)?([^\t"]{1,500})(?:\t.*)?$/.exec(line ?? "")?.[1];
}

function readHunk(
  lines: readonly string[],
  from: number,
  oldCount: number,
  newCount: number,
): { readonly find: readonly string[]; readonly replace: readonly string[]; readonly next: number } | undefined {
  const find: string[] = [];
  const replace: string[] = [];
  let at = from;
  while (find.length < oldCount || replace.length < newCount) {
    const line = lines[at];
    if (line === undefined) return undefined;
    // Some editors take the space of an empty line of context away.
    const mark = line === "" ? " " : line[0];
    if (mark === " " || mark === "-") find.push(line.slice(1));
    if (mark === " " || mark === "+") replace.push(line.slice(1));
    if (mark !== " " && mark !== "-" && mark !== "+" && mark !== "\\") return undefined;
    at += 1;
  }
  return find.length === oldCount && replace.length === newCount ? { find, replace, next: at } : undefined;
}
