// What a rule over several keys is handed, and how it reads and complains.
import { type Complaint, complaintAt, shownValue } from "../complaint.ts";
import type { Environment } from "../environment.ts";
import { nodeAt, type Path } from "../schema-tree.ts";
import { type Tree, valueAt } from "../tree.ts";

export interface CheckInput {
  readonly tree: Tree;
  readonly environment: Environment;
  whereIs(path: Path): string;
}

/** The value in force: what was set, else the default. */
export function effective(input: CheckInput, path: Path): unknown {
  return valueAt(input.tree, path) ?? nodeAt(path)?.fallback;
}

export function complain(input: CheckInput, path: Path, expected: string): Complaint {
  const value = shownValue(valueAt(input.tree, path), path, nodeAt(path));
  return complaintAt(path, { value, expected, where: input.whereIs(path) });
}
