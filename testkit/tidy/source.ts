// What the architecture rules look at: a source file with its imports, calls, strings and functions, read from the syntax tree.
import ts from "typescript";

export interface SourceFile {
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  /** Every node of the tree by its kind: walked once, and a rule reads only what it is about. */
  readonly nodes: ReadonlyMap<ts.SyntaxKind, readonly ts.Node[]>;
}

export interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
  readonly line: number;
}

export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  return { path, text, tree, nodes: nodesOf(tree) };
}

export function nodesOf(tree: ts.Node): ReadonlyMap<ts.SyntaxKind, readonly ts.Node[]> {
  const nodes = new Map<ts.SyntaxKind, ts.Node[]>();
  const collect = (node: ts.Node): void => {
    const alike = nodes.get(node.kind);
    if (alike === undefined) nodes.set(node.kind, [node]);
    else alike.push(node);
    node.forEachChild(collect);
  };
  collect(tree);
  return nodes;
}

export function lineOf(file: SourceFile, node: ts.Node): number {
  return file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line + 1;
}

const { SyntaxKind } = ts;

/** Static and dynamic imports and re-exports. */
export function importsOf(file: SourceFile): readonly Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, target: ts.Node | undefined, typeOnly: boolean): void => {
    if (target !== undefined && ts.isStringLiteral(target)) {
      found.push({ target: target.text, typeOnly, line: lineOf(file, node) });
    }
  };
  for (const node of file.nodes.get(SyntaxKind.ImportDeclaration) ?? []) {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, node.importClause?.isTypeOnly ?? false);
  }
  for (const node of file.nodes.get(SyntaxKind.ExportDeclaration) ?? []) {
    if (ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, node.isTypeOnly);
  }
  for (const { parent: node } of file.nodes.get(SyntaxKind.ImportKeyword) ?? []) {
    if (ts.isCallExpression(node)) add(node, node.arguments[0], false);
  }
  return found;
}

/** Functions with the number of lines that are their own: a nested function's lines count for the nested one. */
export function functionsOf(
  file: SourceFile,
): readonly { name: string; lines: number; line: number; reason: boolean }[] {
  const functions = [...functionKinds]
    .flatMap((kind) => file.nodes.get(kind) ?? [])
    .filter(isFunction)
    .map((node) => ({ node, total: span(file, node) }));
  const nested = new Map<ts.Node, number>();
  for (const { node, total } of functions) {
    const outer = total > 3 ? outerFunction(node) : undefined;
    if (outer !== undefined) nested.set(outer, (nested.get(outer) ?? 0) + total - 1);
  }
  return functions.map(({ node, total }) => ({
    name: nameOf(node),
    lines: total - (nested.get(node) ?? 0),
    line: lineOf(file, node),
    reason: file.text.slice(node.getFullStart(), node.getStart(file.tree)).includes("tidy: long because "),
  }));
}

function outerFunction(node: ts.Node): ts.Node | undefined {
  let outer: ts.Node | undefined = node.parent;
  while (outer !== undefined && !isFunction(outer)) outer = outer.parent;
  return outer;
}

const functionKinds: ReadonlySet<ts.SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
]);

function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return functionKinds.has(node.kind);
}

function span(file: SourceFile, node: ts.Node): number {
  const start = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line;
  return file.tree.getLineAndCharacterOfPosition(node.getEnd()).line - start + 1;
}

function nameOf(node: ts.FunctionLikeDeclaration): string {
  if (node.name && ts.isIdentifier(node.name)) return node.name.text;
  const holder = node.parent;
  if ((ts.isVariableDeclaration(holder) || ts.isPropertyAssignment(holder)) && ts.isIdentifier(holder.name)) {
    return holder.name.text;
  }
  return "(anonymous)";
}
