// Tests make their HTTP connections in one place. The runtime's own `fetch` keeps a connection for the next request, and a busy machine comes back to it
// when the server has just ended it: the test is then red with ECONNRESET, and nothing is wrong.
import ts from "typescript";
import { at, type Complaint, isTestCode } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

const { SyntaxKind } = ts;

const home = "testkit/http/";

export function* testConnections(file: SourceFile): Iterable<Complaint> {
  if (!isTestCode(file.path) || file.path.startsWith(home)) return;
  for (const node of file.nodes.get(SyntaxKind.Identifier) ?? []) {
    if (!ts.isIdentifier(node)) continue;
    if (node.text === "fetch" && isTheRuntimes(file, node)) {
      yield at(
        file,
        node,
        `bare fetch: take fetchOnNewConnection of ${home}, which asks over no connection that has stood idle`,
      );
    }
    if (
      node.text === "keepAlive" &&
      ts.isPropertyAssignment(node.parent) &&
      node.parent.initializer.kind !== SyntaxKind.FalseKeyword
    ) {
      yield at(file, node, `keepAlive: take keptConnections of ${home}, which ends what stands idle for 1 s`);
    }
  }
  for (const node of file.nodes.get(SyntaxKind.NewExpression) ?? []) {
    if (ts.isNewExpression(node) && /(^|\.)Agent$/.test(node.expression.getText(file.tree))) {
      yield at(file, node, `new Agent: take keptConnections of ${home}, or ownConnection for one request`);
    }
  }
}

/** A use of the global function, not a property, a parameter or a declaration of that name. */
function isTheRuntimes(file: SourceFile, node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return parent.expression.getText(file.tree) === "globalThis";
  if (ts.isTypeQueryNode(parent)) return false;
  const isName = "name" in parent && parent.name === node;
  return !isName || ts.isShorthandPropertyAssignment(parent) ? !isDeclared(file, "fetch") : false;
}

function isDeclared(file: SourceFile, name: string): boolean {
  const kinds = [
    SyntaxKind.VariableDeclaration,
    SyntaxKind.Parameter,
    SyntaxKind.FunctionDeclaration,
    SyntaxKind.ImportSpecifier,
    SyntaxKind.BindingElement,
  ];
  return kinds.some((kind) =>
    (file.nodes.get(kind) ?? []).some(
      (node) => "name" in node && (node.name as ts.Node | undefined)?.getText(file.tree) === name,
    ),
  );
}
