// What the architecture rules read: a source file with its imports, calls, strings and functions, read from the syntax tree.
import ts from "typescript";

export interface SourceFile {
  /** Relative to the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

export interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
  readonly line: number;
}

export function parseSource(path: string, text: string): SourceFile {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) };
}

export function lineOf(file: SourceFile, node: ts.Node): number {
  return file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line + 1;
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  node.forEachChild((child) => visit(child, see));
}

/** Static and dynamic imports and re-exports. */
export function importsOf(file: SourceFile): readonly Import[] {
  const found: Import[] = [];
  visit(file.tree, (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const typeOnly = node.importClause?.isTypeOnly ?? false;
      found.push({ target: node.moduleSpecifier.text, typeOnly, line: lineOf(file, node) });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      found.push({ target: node.moduleSpecifier.text, typeOnly: node.isTypeOnly, line: lineOf(file, node) });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments;
      if (target && ts.isStringLiteral(target)) {
        found.push({ target: target.text, typeOnly: false, line: lineOf(file, node) });
      }
    }
  });
  return found;
}

/** Functions with the number of lines that are their own: a nested function's lines count for the nested one. */
export function functionsOf(
  file: SourceFile,
): readonly { name: string; lines: number; line: number; reason: boolean }[] {
  const found: { name: string; lines: number; line: number; reason: boolean }[] = [];
  visit(file.tree, (node) => {
    if (!isFunction(node)) return;
    const total = span(file, node);
    let nested = 0;
    node.forEachChild(function count(child): void {
      if (isFunction(child) && span(file, child) > 3) nested += span(file, child) - 1;
      else child.forEachChild(count);
    });
    const leading = file.text.slice(node.getFullStart(), node.getStart(file.tree));
    found.push({
      name: nameOf(node),
      lines: total - nested,
      line: lineOf(file, node),
      reason: leading.includes("tidy: long because "),
    });
  });
  return found;
}

function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isConstructorDeclaration(node)
  );
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
