// Makes the files of a fix from its edits, exactly or not at all: every edit finds its text where it says, once, and none touches another.
import type { FileEdit } from "../../contracts/src/records/bot-plans.ts";
import { hasHidden } from "./hidden.ts";
import { whyProtected } from "./protected-paths.ts";
import { findSecret } from "./secrets.ts";

/** A file as the commit has it that the fix builds on. */
export interface RepositoryFile {
  readonly path: string;
  readonly mode: string;
  /** Undefined where it is none that people read: binary, too large, or not UTF-8. */
  readonly content: string | undefined;
}

export interface ChangedFile {
  readonly path: string;
  readonly mode: "100644" | "100755";
  readonly content: string;
}

type Applied = { readonly files: readonly ChangedFile[] } | { readonly refused: string };

const filesMax = 10;
const linesMax = 400;
const newFileBytesMax = 200_000;

class Unfit extends Error {}

/** `paths` is every path of the commit, so that a new file replaces nothing. */
export function applyEdits(
  edits: readonly FileEdit[],
  files: ReadonlyMap<string, RepositoryFile>,
  paths: ReadonlySet<string>,
): Applied {
  try {
    return { files: changedFiles(edits, files, paths) };
  } catch (thrown) {
    if (thrown instanceof Unfit) return { refused: thrown.message };
    throw thrown;
  }
}

function changedFiles(
  edits: readonly FileEdit[],
  files: ReadonlyMap<string, RepositoryFile>,
  paths: ReadonlySet<string>,
): readonly ChangedFile[] {
  const byPath = grouped(edits);
  if (byPath.size > filesMax) throw new Unfit(`The fix changes ${byPath.size} files; ${filesMax} are allowed.`);
  const lines = edits.reduce((sum, edit) => sum + changedLines(edit), 0);
  if (lines > linesMax) throw new Unfit(`The fix changes ${lines} lines; ${linesMax} are allowed.`);
  const lowered = new Set([...paths].map((path) => path.toLowerCase()));
  return [...byPath].flatMap(([path, ofPath]) => {
    const why = whyProtected(path);
    if (why !== undefined) throw new Unfit(`${why}.`);
    for (const { replace } of ofPath) inspect(path, replace);
    const file = files.get(path);
    if (file === undefined) return [newFile(path, ofPath, paths, lowered)];
    const content = edited(file, ofPath);
    return content === file.content ? [] : [{ path, mode: modeOf(file), content }];
  });
}

function grouped(edits: readonly FileEdit[]): Map<string, FileEdit[]> {
  const byPath = new Map<string, FileEdit[]>();
  for (const edit of edits) byPath.set(edit.path, [...(byPath.get(edit.path) ?? []), edit]);
  return byPath;
}

/** What a reader of the change could not see, or must not be published. */
function inspect(path: string, text: string): void {
  if (hasHidden(text)) throw new Unfit(`The change of ${path} holds characters that nobody can see.`);
  const secret = findSecret(text);
  if (secret !== undefined) throw new Unfit(`The change of ${path} looks as if it held ${secret}.`);
}

function modeOf({ path, mode }: RepositoryFile): "100644" | "100755" {
  if (mode === "100644" || mode === "100755") return mode;
  throw new Unfit(`${path} is no ordinary file.`);
}

function newFile(
  path: string,
  edits: readonly FileEdit[],
  paths: ReadonlySet<string>,
  lowered: ReadonlySet<string>,
): ChangedFile {
  const [edit, ...more] = edits;
  if (edit === undefined || more.length > 0 || edit.find !== "")
    throw new Unfit(`There is no file ${path} that can be read.`);
  const lower = path.toLowerCase();
  const above = lower.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
  // A folder of the commit stands among its paths by what lies in it.
  const isFolder = [...lowered].some((each) => each.startsWith(`${lower}/`));
  if (isFolder || above.some((each) => lowered.has(each) && !isFolderOf(each, paths))) {
    throw new Unfit(`${path} would replace something that is there.`);
  }
  if (edit.replace.length > newFileBytesMax || edit.replace === "")
    throw new Unfit(`${path} would be empty or too long.`);
  return { path, mode: "100644", content: edit.replace.endsWith("\n") ? edit.replace : `${edit.replace}\n` };
}

function isFolderOf(lower: string, paths: ReadonlySet<string>): boolean {
  return [...paths].some((path) => path.toLowerCase().startsWith(`${lower}/`));
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly replace: string;
}

function edited(file: RepositoryFile, edits: readonly FileEdit[]): string {
  modeOf(file);
  const { path, content } = file;
  if (content === undefined) throw new Unfit(`${path} is no text that can be changed here.`);
  const spans = edits.map((edit) => spanOf(path, content, edit)).sort((left, right) => left.from - right.from);
  let out = "";
  let at = 0;
  for (const { from, to, replace } of spans) {
    if (from < at) throw new Unfit(`Two changes of ${path} touch each other.`);
    out += content.slice(at, from) + replace;
    at = to;
  }
  return out + content.slice(at);
}

function spanOf(path: string, content: string, { find, replace, line }: FileEdit): Span {
  if (find === "") throw new Unfit(`A change of ${path} does not say what it replaces.`);
  if (line !== null) return anchored(path, content, find, replace, line);
  const from = content.indexOf(find);
  if (from < 0) throw new Unfit(`What is to be replaced does not stand in ${path}.`);
  if (content.indexOf(find, from + 1) >= 0) throw new Unfit(`What is to be replaced stands in ${path} more than once.`);
  return { from, to: from + find.length, replace };
}

/** Whole lines, at exactly that line. */
function anchored(path: string, content: string, find: string, replace: string, line: number): Span {
  let from = 0;
  for (let at = 1; at < line; at += 1) {
    const end = content.indexOf("\n", from);
    if (end < 0) throw new Unfit(`${path} has no line ${line}.`);
    from = end + 1;
  }
  const to = from + find.length;
  const isWhole = to === content.length || content[to] === "\n";
  if (!content.startsWith(find, from) || !isWhole)
    throw new Unfit(`Line ${line} of ${path} is not what the change says.`);
  // Lines that go away take their ends with them.
  return replace === "" ? { from, to: Math.min(to + 1, content.length), replace } : { from, to, replace };
}

function changedLines({ find, replace }: FileEdit): number {
  const [left, right] = [find.split("\n"), replace.split("\n")];
  let same = 0;
  while (same < left.length && same < right.length && left[same] === right[same]) same += 1;
  let tail = 0;
  const most = Math.min(left.length, right.length) - same;
  while (tail < most && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  return left.length + right.length - 2 * (same + tail);
}
