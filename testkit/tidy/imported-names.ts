// Who takes what from whom, read from the import lines of all sources without parsing them: fast enough to be counted with every check.
import { posix } from "node:path";

export interface ImportedNames {
  /** Which files each file imports, in whatever way. */
  readonly imports: ReadonlyMap<string, ReadonlySet<string>>;
  /** Which names are taken from a file; `*` where somebody takes all of them. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
}

const statement =
  /^(?:import|export)\s+(?:type\s+)?([\w$]+\s*,?\s*)?(\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?\s*from\s*["']([^"']+)["']/gm;
const bare = /^import\s+["']([^"']+)["']/gm;
const lazy = /\bimport\(\s*(?:\/\*[^*]*\*\/\s*)?["']([^"']+)["']/g;

export function importedNames(texts: ReadonlyMap<string, string>): ImportedNames {
  const imports = new Map<string, Set<string>>();
  const taken = new Map<string, Set<string>>();
  const note = (from: string, target: string, names: readonly string[]): void => {
    if (!target.startsWith(".")) return;
    const other = posix.normalize(posix.join(posix.dirname(from), target));
    setOf(imports, from).add(other);
    for (const name of names) setOf(taken, other).add(name);
  };
  for (const [path, text] of texts) {
    for (const [, first, braces, target = ""] of text.matchAll(statement)) {
      note(path, target, [...(first === undefined ? [] : ["default"]), ...namesIn(braces)]);
    }
    for (const [, target = ""] of text.matchAll(bare)) note(path, target, []);
    for (const [, target = ""] of text.matchAll(lazy)) note(path, target, ["*"]);
  }
  return { imports, taken };
}

function namesIn(braces: string | undefined): readonly string[] {
  if (braces === undefined) return [];
  if (!braces.startsWith("{")) return ["*"];
  return braces
    .slice(1, -1)
    .split(",")
    .map((name) =>
      name
        .trim()
        .replace(/^type\s+/, "")
        .replace(/\s+as\s+.*$/, ""),
    )
    .filter((name) => name !== "");
}

function setOf(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key) ?? new Set();
  map.set(key, known);
  return known;
}

const declared =
  /^export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:const|let|function\*?|interface|type|class|enum)\s+([\w$]+)/gm;

export function exportsOf(text: string): readonly string[] {
  return [...text.matchAll(declared)].map(([, name = ""]) => name);
}
