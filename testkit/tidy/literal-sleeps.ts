// No test guesses how long something takes: a sleep that is long enough on one machine is too short on a busy one, and too long on every other day. This
// holds on every floor. A poll may pause between its looks, a bound of a race is none, and virtual time costs nothing. Where it is time itself that is run
// for, as in a siege that lasts, a long test and what serves it say so above the sleep: `tidy: sleeps because …`.
import ts from "typescript";
import { at, type Complaint, isTest, isTestCode } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

const { SyntaxKind } = ts;

/** A pause this short lets others run; nobody relies on what happens in it. */
const sleepMsMax = 50;

export function* literalSleeps(file: SourceFile): Iterable<Complaint> {
  if (!isTestCode(file.path)) return;
  const sleepers = sleepersOf(file);
  for (const node of file.nodes.get(SyntaxKind.CallExpression) ?? []) {
    if (!ts.isCallExpression(node)) continue;
    const duration = durationOf(file, sleepers, node);
    const ms = duration === undefined ? undefined : literalOf(file, duration);
    if (ms !== undefined && ms > sleepMsMax && !isPoll(file, node) && !saysWhy(file, node)) {
      yield at(
        file,
        node,
        `a sleep of ${ms} ms: wait for the state that it stands for (eventually, within, expect.poll), or take virtual time`,
      );
    }
  }
}

interface Sleepers {
  /** Functions that take a number of milliseconds and sleep as long. */
  readonly functions: ReadonlySet<string>;
  /** The same, after a fixture whose time may be the machine's (testkit/conformance/waiting.ts). */
  readonly passing: ReadonlySet<string>;
  /** Timers of the machine. */
  readonly timers: ReadonlySet<string>;
}

function sleepersOf(file: SourceFile): Sleepers {
  const functions = new Set<string>();
  const passing = new Set<string>();
  const timers = new Set<string>();
  for (const node of file.nodes.get(SyntaxKind.ImportSpecifier) ?? []) {
    if (!ts.isImportSpecifier(node)) continue;
    const from = node.parent.parent.parent.moduleSpecifier.getText(file.tree);
    const imported = (node.propertyName ?? node.name).text;
    if (from.includes("timers/promises") && imported === "setTimeout") functions.add(node.name.text);
    if (from.endsWith('/waiting.ts"') && imported === "pass") passing.add(node.name.text);
    if (from.includes("/") && /^(pause|sleep|delay)$/.test(imported)) functions.add(node.name.text);
  }
  const declared = [
    ...(file.nodes.get(SyntaxKind.VariableDeclaration) ?? []),
    ...(file.nodes.get(SyntaxKind.FunctionDeclaration) ?? []),
  ];
  for (const node of declared) {
    if (!(ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node)) || node.name === undefined) continue;
    const value = ts.isVariableDeclaration(node) ? node.initializer : node;
    const text = value?.getText(file.tree) ?? "";
    if (/^systemTimers\(/.test(text)) timers.add(node.name.getText(file.tree));
    if (value !== undefined && ts.isFunctionLike(value) && sleepsAsLongAsAsked(file, value))
      functions.add(node.name.getText(file.tree));
  }
  return { functions, passing, timers };
}

/** Whether one of its parameters is how long it sleeps. */
function sleepsAsLongAsAsked(file: SourceFile, made: ts.SignatureDeclaration): boolean {
  const names = new Set(made.parameters.map(({ name }) => name.getText(file.tree)));
  let sleeps = false;
  const visit = (node: ts.Node): void => {
    const duration = ts.isCallExpression(node) ? sleptBySetTimeout(file, node) : undefined;
    sleeps ||= duration !== undefined && names.has(duration.getText(file.tree));
    node.forEachChild(visit);
  };
  made.forEachChild(visit);
  return sleeps;
}

/** How long a call sleeps, if it is one that does. */
function durationOf(file: SourceFile, sleepers: Sleepers, call: ts.CallExpression): ts.Expression | undefined {
  const { expression: called } = call;
  if (ts.isIdentifier(called) && sleepers.functions.has(called.text)) return call.arguments[0];
  if (ts.isIdentifier(called) && sleepers.passing.has(called.text)) return call.arguments[1];
  if (ts.isPropertyAccessExpression(called)) {
    const from = called.expression.getText(file.tree);
    if (called.name.text === "waitForTimeout") return call.arguments[0];
    // With a signal it is over when the test says so.
    const isPlain = called.name.text === "sleep" && call.arguments.length === 1;
    if (isPlain && (sleepers.timers.has(from) || from === "systemTimers()")) return call.arguments[0];
  }
  return sleptBySetTimeout(file, call);
}

/** `new Promise((resolve) => setTimeout(resolve, ms))`; what resolves to something says that a race was lost, and is a bound. */
function sleptBySetTimeout(file: SourceFile, call: ts.CallExpression): ts.Expression | undefined {
  if (call.expression.getText(file.tree) !== "setTimeout") return undefined;
  const [awake, duration, value] = call.arguments;
  const executor = executorAround(call);
  const resolve = executor?.parameters[0]?.name.getText(file.tree);
  if (awake === undefined || resolve === undefined || value !== undefined) return undefined;
  const text = awake.getText(file.tree).replaceAll(/\s+/g, "");
  return text === resolve || text === `()=>${resolve}()` || text === `()=>${resolve}(undefined)` ? duration : undefined;
}

function executorAround(call: ts.Node): ts.SignatureDeclaration | undefined {
  for (let node: ts.Node = call; node.parent !== undefined; node = node.parent) {
    if (ts.isFunctionLike(node) && ts.isNewExpression(node.parent)) return node;
  }
  return undefined;
}

/** A number that is written there, or a constant of the file that is one. */
function literalOf(file: SourceFile, expression: ts.Expression): number | undefined {
  if (ts.isNumericLiteral(expression)) return Number(expression.text);
  if (ts.isParenthesizedExpression(expression)) return literalOf(file, expression.expression);
  if (ts.isBinaryExpression(expression)) {
    const [left, right] = [literalOf(file, expression.left), literalOf(file, expression.right)];
    if (left === undefined || right === undefined) return undefined;
    const operator = expression.operatorToken.kind;
    if (operator === SyntaxKind.AsteriskToken) return left * right;
    if (operator === SyntaxKind.PlusToken) return left + right;
    return operator === SyntaxKind.MinusToken ? left - right : undefined;
  }
  if (!ts.isIdentifier(expression)) return undefined;
  const constant = (file.nodes.get(SyntaxKind.VariableDeclaration) ?? []).find(
    (node): node is ts.VariableDeclaration =>
      ts.isVariableDeclaration(node) &&
      node.name.getText(file.tree) === expression.text &&
      node.initializer !== undefined,
  );
  return constant?.initializer === undefined || constant.initializer === expression
    ? undefined
    : literalOf(file, constant.initializer);
}

/** Between two looks, or as the bound of a race. */
function isPoll(file: SourceFile, call: ts.Node): boolean {
  for (let node: ts.Node = call; node.parent !== undefined; node = node.parent) {
    if (
      ts.isCallExpression(node.parent) &&
      /^(Promise\.(race|any)|expect\.poll|vi\.waitFor|eventually|within)$/.test(
        node.parent.expression.getText(file.tree),
      )
    )
      return true;
    if (ts.isIterationStatement(node, false) && endsEarly(node)) return true;
  }
  return false;
}

/** A loop that looks: it ends when something holds, not after a number of rounds. */
function endsEarly(loop: ts.IterationStatement): boolean {
  if (ts.isWhileStatement(loop) || ts.isDoStatement(loop)) return true;
  const ends = (node: ts.Node): boolean =>
    ts.isReturnStatement(node) ||
    ts.isBreakStatement(node) ||
    (!ts.isFunctionLike(node) && (node.forEachChild(ends) ?? false));
  const asks = (node: ts.Node): boolean =>
    ts.isCallExpression(node) ||
    ts.isPrefixUnaryExpression(node) ||
    isConjunction(node) ||
    (node.forEachChild(asks) ?? false);
  return ends(loop.statement) || (ts.isForStatement(loop) && loop.condition !== undefined && asks(loop.condition));
}

/** More than a bound on the rounds. */
const isConjunction = (node: ts.Node): boolean =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.AmpersandAmpersandToken;

function saysWhy(file: SourceFile, call: ts.Node): boolean {
  if (isTest(file.path) && !file.path.includes(".long.test.")) return false;
  let statement = call;
  while (!ts.isStatement(statement) && statement.parent !== undefined) statement = statement.parent;
  return /tidy: sleeps because \S/.test(file.text.slice(statement.getFullStart(), statement.getStart(file.tree)));
}
