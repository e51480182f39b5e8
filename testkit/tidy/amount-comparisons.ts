// Finds comparisons of two amounts with the language's own operators. A plain amount keeps its place in its lowest bits, so that such a
// comparison compiles, is right most of the time, and is wrong about money the rest of it. Only types can tell an amount from a number,
// so this rule asks the compiler; the others in this folder need the text alone.
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import type { Complaint } from "./complaint.ts";
import { nodesOf } from "./source.ts";

/** Those that know how an amount is kept. */
const insiders: ReadonlySet<string> = new Set(["core/money/amount.ts", "core/money/exact.ts", "core/money/plain.ts"]);
const operators: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

/** In the files at those paths; a text that is handed in stands for a file that need not be there. */
export function amountComparisons(
  root: string,
  paths: readonly string[],
  texts: ReadonlyMap<string, string>,
): readonly Complaint[] {
  const program = programOf(root, paths, texts);
  const checker = program.getTypeChecker();
  const found: Complaint[] = [];
  for (const path of paths) {
    const tree = program.getSourceFile(join(root, path));
    if (tree === undefined) throw new Error(`${path} is not there`);
    if (insiders.has(path)) continue;
    for (const node of nodesOf(tree).get(ts.SyntaxKind.BinaryExpression) ?? []) {
      if (!ts.isBinaryExpression(node) || !operators.has(node.operatorToken.kind)) continue;
      if (isNoAmount(node.left) || isNoAmount(node.right)) continue;
      if (!isAmount(checker, node.left) || !isAmount(checker, node.right)) continue;
      const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
      const operator = node.operatorToken.getText(tree);
      found.push({ path, line, message: `two amounts compared with ${operator}: take isMore, isEqual or isIdentical` });
    }
  }
  return found;
}

function programOf(root: string, paths: readonly string[], texts: ReadonlyMap<string, string>): ts.Program {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    lib: ["lib.es2023.d.ts"],
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  const textAt = (path: string): string | undefined => texts.get(relative(root, path));
  host.fileExists = (path) => textAt(path) !== undefined || fileExists(path);
  host.readFile = (path) => textAt(path) ?? readFile(path);
  host.getSourceFile = (path, languageVersion) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, languageVersion);
  };
  // An amount is the core's own: what packages are made of does not matter, and would cost most of the time.
  host.resolveModuleNameLiterals = (names, from) =>
    names.map(({ text }) => ({
      resolvedModule: text.startsWith(".")
        ? { resolvedFileName: join(dirname(from), text), extension: ts.Extension.Ts }
        : undefined,
    }));
  return ts.createProgram(
    paths.map((path) => join(root, path)),
    options,
    host,
  );
}

/** At first sight: a literal, undefined, a length. */
function isNoAmount(expression: ts.Expression): boolean {
  return (
    ts.isLiteralExpression(expression) ||
    (ts.isPrefixUnaryExpression(expression) && ts.isLiteralExpression(expression.operand)) ||
    ts.isTypeOfExpression(expression) ||
    expression.kind === ts.SyntaxKind.TrueKeyword ||
    expression.kind === ts.SyntaxKind.FalseKeyword ||
    (ts.isIdentifier(expression) && expression.text === "undefined") ||
    (ts.isPropertyAccessExpression(expression) && expression.name.text === "length")
  );
}

/** Whether it may hold a plain amount: those are numbers with a brand, alone or as one of several. */
function isAmount(checker: ts.TypeChecker, expression: ts.Expression): boolean {
  const type = checker.getTypeAtLocation(expression);
  const parts = type.isUnion() ? type.types : [type];
  return parts.some((part) => part.getProperties().some(({ name }) => name.includes("plainBrand")));
}
