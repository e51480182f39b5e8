// What a running process has printed is on its way while a test reads it: a test that reads too early fails on a busy machine and on no other. That
// something was not printed cannot be waited for, so `.not` may read at any time.
import ts from "typescript";
import { at, type Complaint, isTestCode } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

const { SyntaxKind } = ts;

export function* printedOutput(file: SourceFile): Iterable<Complaint> {
  if (!isTestCode(file.path) || !/\.std(out|err)\(\)/.test(file.text)) return;
  for (const node of file.nodes.get(SyntaxKind.CallExpression) ?? []) {
    if (!ts.isCallExpression(node) || node.expression.getText(file.tree) !== "expect") continue;
    const read = node.arguments[0] === undefined ? undefined : readOutput(file, node.arguments[0]);
    if (read === undefined || isWaited(file, node) || isNegated(node)) continue;
    yield at(file, node, `expect(${read}) looks once at what is still being printed: take expect.poll(() => ${read})`);
  }
}

function readOutput(file: SourceFile, expression: ts.Expression): string | undefined {
  let read: string | undefined;
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.arguments.length === 0 && ts.isPropertyAccessExpression(node.expression)) {
      if (/^std(out|err)$/.test(node.expression.name.text)) read ??= node.getText(file.tree);
    }
    if (!ts.isFunctionLike(node)) visit1(node);
  };
  const visit1 = (node: ts.Node): void => node.forEachChild(visit);
  visit(expression);
  return read;
}

/** In what asks again: `within`, `eventually`, `expect.poll`, `vi.waitFor`. */
function isWaited(file: SourceFile, node: ts.Node): boolean {
  for (let inner: ts.Node = node; inner.parent !== undefined; inner = inner.parent) {
    const { parent } = inner;
    if (!ts.isFunctionLike(inner) || !ts.isCallExpression(parent)) continue;
    if (/^(within|eventually|expect\.poll|vi\.waitFor|vi\.waitUntil)$/.test(parent.expression.getText(file.tree)))
      return true;
  }
  return false;
}

const isNegated = (call: ts.CallExpression): boolean =>
  ts.isPropertyAccessExpression(call.parent) && call.parent.name.text === "not";
