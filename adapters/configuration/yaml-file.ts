// The configuration file as plain data with the line of every key. Everything that YAML allows and a configuration does
// not need (two documents, tags, keys twice, aliases without end) is a complaint with its line, not a surprise.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Complaint } from "./complaint.ts";
import { type Path, pathText } from "./schema-tree.ts";
import { isTree, type Tree } from "./tree.ts";
import { undefinedAliases, type YamlMistake, yamlMistakes } from "./yaml-mistakes.ts";

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

function brokenFile(file: string, value: string, expected: string, line?: number): YamlFile {
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
    // Aliases that stand for nothing were looked for before, so a reference that fails is one too many.
    if (thrown instanceof ReferenceError) return brokenFile(file, "too many aliases", `at most ${aliasesMax} uses`);
    return brokenFile(file, thrown instanceof RangeError ? "nesting without end" : messageOf(thrown), "plain YAML");
  }
}

function read(file: string, text: string): YamlFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: "error", version: "1.2" });
  const lineAt = (offset: number): number => lineCounter.linePos(offset).line;
  const unreadable = document.errors.some((error) => error.code !== "DUPLICATE_KEY");
  const aliases = unreadable ? [] : undefinedAliases(document, lineAt);
  const mistakes = [...yamlMistakes(document, text, lineAt), ...aliases];
  const complaints = mistakes.map((mistake) => mistakeComplaint(file, mistake));
  if (unreadable || aliases.length > 0) return { tree: {}, whereIs: () => file, complaints, broken: true };

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

function mistakeComplaint(file: string, { found, expected, line }: YamlMistake): Complaint {
  return { path: file, value: found, expected, where: `${file}:${line}` };
}

/** `__proto__` is a trap for whoever copies objects, and no key of ours. */
function forbiddenKey(file: string, line: number): Complaint {
  return { path: file, value: "the key __proto__", expected: "a known key", where: `${file}:${line}` };
}

/** Notes the line of every key. Aliases are not followed: what they stand for is reported at the alias. */
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
