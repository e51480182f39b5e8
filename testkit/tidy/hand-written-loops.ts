// Finds loops of services that wait by themselves. A loop that sleeps in its body is a living part that says its trouble, backs off and ends in its own way,
// as thirty of them did: that is services/shared/loop.ts. What waits until an answer comes, or lets others have their turn, is in the file beside it.
import ts from "typescript";
import { at, type Complaint, isTest } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

const { SyntaxKind } = ts;

const mayWait: ReadonlySet<string> = new Set(["services/shared/loop.ts", "services/shared/waiting.ts"]);
const loopKinds = [
  SyntaxKind.WhileStatement,
  SyntaxKind.DoStatement,
  SyntaxKind.ForStatement,
  SyntaxKind.ForOfStatement,
  SyntaxKind.ForInStatement,
];

export function* handWrittenLoops(file: SourceFile): Iterable<Complaint> {
  if (!file.path.startsWith("services/") || isTest(file.path) || mayWait.has(file.path)) return;
  if (!/sleep/i.test(file.text)) return;
  const sleepers = sleepersOf(file);
  const loops = new Set<ts.Node>();
  for (const node of file.nodes.get(SyntaxKind.AwaitExpression) ?? []) {
    if (!ts.isAwaitExpression(node) || !isSleep(node.expression, sleepers)) continue;
    const loop = loopAround(node);
    if (loop !== undefined) loops.add(loop);
  }
  for (const loop of loops) {
    const message =
      "a loop that sleeps: take startLoop of services/shared/loop.ts, or pollUntil of waiting.ts beside it";
    yield at(file, loop, message);
  }
}

/** `timers.sleep(...)`, whatever the timers are called, or a function of the file that does nothing else. */
function isSleep(called: ts.Node, sleepers: ReadonlySet<string>): boolean {
  if (!ts.isCallExpression(called)) return false;
  const { expression } = called;
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text === "sleep";
  return ts.isIdentifier(expression) && (expression.text === "sleep" || sleepers.has(expression.text));
}

function sleepersOf(file: SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of file.nodes.get(SyntaxKind.FunctionDeclaration) ?? []) {
    if (ts.isFunctionDeclaration(node) && node.name !== undefined && doesOnlySleep(node.body))
      names.add(node.name.text);
  }
  for (const node of file.nodes.get(SyntaxKind.VariableDeclaration) ?? []) {
    if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name)) continue;
    const { initializer: value } = node;
    const isSleeper = value !== undefined && ts.isArrowFunction(value) && doesOnlySleep(value.body);
    const isSleepItself = value !== undefined && ts.isPropertyAccessExpression(value) && value.name.text === "sleep";
    if (isSleeper || isSleepItself) names.add(node.name.text);
  }
  return names;
}

function doesOnlySleep(body: ts.ConciseBody | undefined): boolean {
  if (body === undefined) return false;
  if (!ts.isBlock(body)) return isSleep(withoutAwait(body), new Set());
  const [only, ...more] = body.statements;
  if (only === undefined || more.length > 0) return false;
  const does = ts.isExpressionStatement(only) || ts.isReturnStatement(only) ? only.expression : undefined;
  return does !== undefined && isSleep(withoutAwait(does), new Set());
}

function withoutAwait(node: ts.Expression): ts.Expression {
  return ts.isAwaitExpression(node) ? node.expression : node;
}

/** The nearest loop in the same function: what a callback awaits is waited for by who calls it. */
function loopAround(node: ts.Node): ts.Node | undefined {
  for (let outer: ts.Node | undefined = node.parent; outer !== undefined; outer = outer.parent) {
    if (loopKinds.includes(outer.kind)) return outer;
    if (ts.isFunctionLike(outer)) return undefined;
  }
  return undefined;
}
