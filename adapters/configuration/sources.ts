// Where every value of the configuration in force came from, by its path.
import type { Configuration } from "./schema.ts";
import { isLeaf, type KeyNode, keyTree, type Path, pathText } from "./schema-tree.ts";
import { type Tree, valueAt } from "./tree.ts";

export type Source =
  | { readonly from: "default" }
  | { readonly from: "file"; readonly where: string }
  | { readonly from: "environment"; readonly name: string };

/** By path, as `http.port` or `funds[0].fund_id`; a list of plain values is one entry. */
export type Sources = ReadonlyMap<string, Source>;

interface SourcesInput {
  readonly configuration: Configuration;
  /** What was set, before defaults. */
  readonly tree: Tree;
  whereIs(path: Path): string;
  /** The variable that set a path. */
  readonly variableOf: ReadonlyMap<string, string>;
  /** True when `fund` was given, which the configuration has as its only member of `funds`. */
  readonly singleFund: boolean;
}

export function sourcesOf(input: SourcesInput): Sources {
  const sources = new Map<string, Source>();
  visitLeaves(input.configuration, (path) => {
    const [first, second, ...rest] = path;
    const written: Path = input.singleFund && first === "funds" && second === 0 ? ["fund", ...rest] : path;
    const variable = input.variableOf.get(pathText(written));
    if (variable !== undefined) sources.set(pathText(path), { from: "environment", name: variable });
    else if (valueAt(input.tree, written) !== undefined)
      sources.set(pathText(path), { from: "file", where: input.whereIs(written) });
    else sources.set(pathText(path), { from: "default" });
  });
  return sources;
}

type LeafVisitor = (path: Path, value: unknown, node: KeyNode) => void;

/** Calls back for every key of a configuration, the absent ones included. */
function visitLeaves(value: unknown, visit: LeafVisitor, node: KeyNode = keyTree, path: Path = []): void {
  if (isLeaf(node)) {
    visit(path, value, node);
    return;
  }
  for (const [name, child] of node.children) {
    if (node === keyTree && name === "fund") continue;
    visitLeaves((value as Record<string, unknown> | undefined)?.[name], visit, child, [...path, name]);
  }
  const element = node.element;
  if (element === undefined || typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    visitLeaves(inner, visit, element, [...path, node.kind === "list" ? Number(name) : name]);
  }
}
