// No test that a person waits for holds a bound on real time: a busy machine misses it, and then the test speaks of the machine. What was meant is a state
// that comes, a count of what was done, or a time that passes virtually. The upper floors may measure: they run where nothing else does.
import ts from "typescript";
import { at, type Complaint, isTestCode, isUpperFloor } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

const { SyntaxKind } = ts;

const instead =
  "a bound on real time: wait for the state, count what was done, take virtual time, or move the test to a *.ci.test.ts";

export function* elapsedBounds(file: SourceFile): Iterable<Complaint> {
  if (
    !isTestCode(file.path) ||
    isUpperFloor(file.path) ||
    !/Date\.now|performance\.now|hrtime|stopwatch\(|systemClock\(/.test(file.text)
  )
    return;
  const clocks = clocksOf(file);
  for (const node of file.nodes.get(SyntaxKind.CallExpression) ?? []) {
    if (ts.isCallExpression(node) && boundsTime(file, clocks, node)) yield at(file, node, instead);
  }
}

/** Names of a file that stand for real time: the scopes do not matter, a name that means a time here seldom means something else there. */
interface Clocks {
  /** Called, they say how long something took. */
  readonly stopwatches: Set<string>;
  /** Clocks whose `now()` is the machine's. */
  readonly systemClocks: Set<string>;
  readonly instants: Set<string>;
  readonly durations: Set<string>;
}

function clocksOf(file: SourceFile): Clocks {
  const clocks: Clocks = { stopwatches: new Set(), systemClocks: new Set(), instants: new Set(), durations: new Set() };
  const given = givenValues(file);
  // A duration may be made of durations that stand further down, as in a function that is declared last.
  for (let before = -1; before !== sizeOf(clocks); ) {
    before = sizeOf(clocks);
    for (const [names, value] of given) {
      const kind = kindOf(file, clocks, value);
      if (kind !== undefined) for (const name of names) clocks[kind].add(name);
    }
  }
  return clocks;
}

const sizeOf = (clocks: Clocks): number => Object.values(clocks).reduce((sum, { size }: Set<string>) => sum + size, 0);

/** What each name of the file is given: where it is declared, assigned, looped over, pushed to, or returned from. */
function givenValues(file: SourceFile): readonly (readonly [readonly string[], ts.Node])[] {
  const given: (readonly [readonly string[], ts.Node])[] = [];
  for (const node of file.nodes.get(SyntaxKind.VariableDeclaration) ?? []) {
    if (!ts.isVariableDeclaration(node)) continue;
    const { parent } = node.parent;
    const value = ts.isForOfStatement(parent) ? parent.expression : node.initializer;
    if (value !== undefined) given.push([boundNames(node.name), value]);
  }
  for (const node of file.nodes.get(SyntaxKind.BinaryExpression) ?? []) {
    if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === SyntaxKind.EqualsToken &&
      ts.isIdentifier(node.left)
    ) {
      given.push([[node.left.text], node.right]);
    }
  }
  for (const node of file.nodes.get(SyntaxKind.CallExpression) ?? []) {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) continue;
    const { name, expression } = node.expression;
    if (name.text === "push" && ts.isIdentifier(expression))
      for (const one of node.arguments) given.push([[expression.text], one]);
  }
  for (const node of file.nodes.get(SyntaxKind.FunctionDeclaration) ?? []) {
    if (ts.isFunctionDeclaration(node) && node.name !== undefined) given.push([[node.name.text], node]);
  }
  return given;
}

const boundNames = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []));

function kindOf(file: SourceFile, clocks: Clocks, value: ts.Node): keyof Clocks | undefined {
  if (ts.isFunctionLike(value)) return returnsDuration(file, clocks, value) ? "stopwatches" : undefined;
  if (/\bstopwatch\(\)/.test(value.getText(file.tree)) && !/stopwatch\(\)\(/.test(value.getText(file.tree)))
    return "stopwatches";
  if (/^systemClock\(/.test(value.getText(file.tree))) return "systemClocks";
  if (isDuration(file, clocks, value)) return "durations";
  return isInstant(file, clocks, value) ? "instants" : undefined;
}

function returnsDuration(file: SourceFile, clocks: Clocks, made: ts.SignatureDeclaration): boolean {
  if (ts.isArrowFunction(made) && !ts.isBlock(made.body)) return isDuration(file, clocks, made.body);
  let returns = false;
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression !== undefined)
      returns ||= isDuration(file, clocks, node.expression);
    if (!ts.isFunctionLike(node)) node.forEachChild(visit);
  };
  made.forEachChild(visit);
  return returns;
}

/** Whether anything in the expression itself, not in functions that it hands on, has that property. */
function has(expression: ts.Node, property: (node: ts.Node) => boolean): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    found ||= property(node);
    if (!found && !ts.isFunctionLike(node)) node.forEachChild(visit);
  };
  visit(expression);
  return found;
}

const isUsed = (node: ts.Node, names: ReadonlySet<string>): boolean =>
  ts.isIdentifier(node) &&
  names.has(node.text) &&
  !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node);

function readsClock(file: SourceFile, clocks: Clocks, node: ts.Node): boolean {
  if (!ts.isCallExpression(node)) return false;
  const read = node.expression.getText(file.tree);
  if (/^(Date\.now|performance\.now|process\.hrtime(\.bigint)?|systemClock\(.*\)\.now)$/.test(read)) return true;
  return (
    ts.isPropertyAccessExpression(node.expression) &&
    read.endsWith(".now") &&
    isUsed(node.expression.expression, clocks.systemClocks)
  );
}

const isInstant = (file: SourceFile, clocks: Clocks, expression: ts.Node): boolean =>
  has(expression, (node) => readsClock(file, clocks, node));

function isDuration(file: SourceFile, clocks: Clocks, expression: ts.Node): boolean {
  return has(expression, (node) => {
    if (isUsed(node, clocks.durations)) return true;
    if (ts.isCallExpression(node)) {
      const name = node.expression.getText(file.tree);
      if (clocks.stopwatches.has(name) || name === "stopwatch()") return true;
      return name === "millisecondsBetween" && node.arguments.some((one) => isInstant(file, clocks, one));
    }
    if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== SyntaxKind.MinusToken) return false;
    const sides = [node.left, node.right];
    if (sides.some((side) => isInstant(file, clocks, side))) return true;
    return sides.every((side) => has(side, (one) => isUsed(one, clocks.instants)));
  });
}

/** An upper bound: said by the matcher, by its negation, or by a comparison inside `expect`. */
function boundsTime(file: SourceFile, clocks: Clocks, call: ts.CallExpression): boolean {
  const matcher = call.expression;
  if (ts.isIdentifier(matcher) && matcher.text === "expect") {
    return call.arguments[0] !== undefined && has(call.arguments[0], (node) => comparesTime(file, clocks, node));
  }
  if (!ts.isPropertyAccessExpression(matcher) || !/^toBe(Less|Greater)Than/.test(matcher.name.text)) return false;
  const subject = expectedOf(matcher.expression);
  const [bound] = call.arguments;
  if (subject === undefined || bound === undefined) return false;
  const negated = /\.not$/.test(matcher.expression.getText(file.tree));
  const lesser = matcher.name.text.startsWith("toBeLess") !== negated ? subject : bound;
  return isDuration(file, clocks, lesser);
}

function comparesTime(file: SourceFile, clocks: Clocks, node: ts.Node): boolean {
  if (!ts.isBinaryExpression(node)) return false;
  const operator = node.operatorToken.kind;
  if (operator === SyntaxKind.LessThanToken || operator === SyntaxKind.LessThanEqualsToken)
    return isDuration(file, clocks, node.left);
  if (operator === SyntaxKind.GreaterThanToken || operator === SyntaxKind.GreaterThanEqualsToken)
    return isDuration(file, clocks, node.right);
  return false;
}

/** What stands in the `expect(…)` at which a chain of matchers begins. */
function expectedOf(chain: ts.Expression): ts.Expression | undefined {
  if (ts.isCallExpression(chain)) return chain.arguments[0];
  return ts.isPropertyAccessExpression(chain) ? expectedOf(chain.expression) : undefined;
}
