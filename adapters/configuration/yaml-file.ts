// The configuration file as plain data with the line of every key. Everything that YAML allows and a configuration does
// not need (two documents, tags, keys twice, aliases without end) is a complaint with its line, not a surprise.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLError } from "yaml";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Complaint } from "./complaint.ts";
import { type Path, pathText } from "./schema-tree.ts";
import { isTree, type Tree } from "./tree.ts";

export interface YamlFile {
  readonly tree: Tree;
  /** `file:line` of the key, or of the nearest thing around it. */
  whereIs(path: Path): string;
  readonly complaints: readonly Complaint[];
  /** True when the file could not be read to its end, so that what seems missing may well be there. */
  readonly broken: boolean;
}

const charsMax = 262_144;
const aliasesMax = 50;

export function brokenFile(file: string, value: string, expected: string, line?: number): YamlFile {
  const where = line === undefined ? file : `${file}:${line}`;
  return { tree: {}, whereIs: () => file, complaints: [{ path: file, value, expected, where }], broken: true };
}

/** Reads a file's text. Never throws, whatever the text. */
export function readYaml(file: string, text: string): YamlFile {
  if (text.length > charsMax) {
    return brokenFile(file, `${text.length} characters`, `a file of at most ${charsMax} characters`);
  }
  try {
    return read(file, text);
  } catch (thrown) {
    const excessive = thrown instanceof ReferenceError;
    const reason = thrown instanceof RangeError ? "nesting without end" : messageOf(thrown);
    return brokenFile(
      file,
      excessive ? "too many aliases" : reason,
      excessive ? `at most ${aliasesMax} uses` : "plain YAML",
    );
  }
}

function read(file: string, text: string): YamlFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: "error", version: "1.2" });
  const lineAt = (offset: number): number => lineCounter.linePos(offset).line;
  const complaints = [...document.errors, ...document.warnings].map((error) => syntaxComplaint(file, error, lineAt));
  const broken = document.errors.some((error) => error.code !== "DUPLICATE_KEY");
  if (broken) return { tree: {}, whereIs: () => file, complaints, broken };

  const lines = new Map<string, number>();
  recordLines(document.contents, [], lines, lineAt, (line) => complaints.push(forbiddenKey(file, line)));
  const root: unknown = document.toJS({ maxAliasCount: aliasesMax });
  const whereIs = (path: Path): string => {
    for (let length = path.length; length > 0; length -= 1) {
      const line = lines.get(pathText(path.slice(0, length)));
      if (line !== undefined) return `${file}:${line}`;
    }
    return file;
  };
  if (root === null || root === undefined) return { tree: {}, whereIs, complaints, broken: false };
  if (!isTree(root)) {
    const value = Array.isArray(root) ? "a list" : "a single value";
    return brokenFile(file, value, "a map of keys at the top of the file", lineAt(document.contents?.range?.[0] ?? 0));
  }
  return { tree: root, whereIs, complaints, broken: false };
}

const syntaxWords: Readonly<Record<string, readonly [found: string, expected: string]>> = {
  DUPLICATE_KEY: ["the same key twice", "every key once in its map"],
  TAB_AS_INDENT: ["a tab at the beginning of a line", "spaces for indentation"],
  MULTIPLE_DOCS: ["a second document", "one document in the file"],
  TAG_RESOLVE_FAILED: ["a tag", "plain values without tags"],
  BAD_ALIAS: ["an alias without its anchor", "an anchor before its aliases"],
};

function syntaxComplaint(file: string, error: YAMLError, lineAt: (offset: number) => number): Complaint {
  const [value, expected] = syntaxWords[error.code] ?? [`a mistake in the YAML (${error.code})`, "valid YAML"];
  return { path: file, value, expected, where: `${file}:${lineAt(error.pos[0])}` };
}

/** `__proto__` is a trap for whoever copies objects, and no key of ours. */
function forbiddenKey(file: string, line: number): Complaint {
  return { path: file, value: "the key __proto__", expected: "a known key", where: `${file}:${line}` };
}

/** Notes the line of every key. Aliases are not followed: what they stand for is told at the alias. */
function recordLines(
  node: unknown,
  path: Path,
  lines: Map<string, number>,
  lineAt: (offset: number) => number,
  forbid: (line: number) => void,
): void {
  if (isMap(node)) {
    for (const pair of node.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : "";
      const line = lineAt(isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : (node.range?.[0] ?? 0));
      if (name === "__proto__") forbid(line);
      lines.set(pathText([...path, name]), line);
      recordLines(pair.value, [...path, name], lines, lineAt, forbid);
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      const range = isMap(item) || isSeq(item) || isScalar(item) || isAlias(item) ? item.range : undefined;
      if (range) lines.set(pathText([...path, index]), lineAt(range[0]));
      recordLines(item, [...path, index], lines, lineAt, forbid);
    }
  }
}
