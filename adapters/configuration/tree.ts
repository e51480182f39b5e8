// Plain nested data as it comes from a file, and the one way to look into it: only at what is there by its own name.
import type { Path } from "./schema-tree.ts";

export type Tree = Readonly<Record<string, unknown>>;

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value that a path leads to; undefined when it leads nowhere. */
export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** A copy with one value set, or taken away. A section that is no map is left as it is: it has its own complaint. */
export function changedAt(tree: Tree, path: readonly string[], value: unknown): Tree {
  const [name, ...rest] = path;
  if (name === undefined) return tree;
  if (rest.length === 0) {
    const { [name]: _old, ...others } = tree;
    return value === undefined ? others : { ...others, [name]: value };
  }
  const inner = Object.hasOwn(tree, name) ? tree[name] : {};
  return isTree(inner) ? { ...tree, [name]: changedAt(inner, rest, value) } : tree;
}
