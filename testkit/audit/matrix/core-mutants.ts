// The core's verifier with one check taken away, for every check there is: a guard that never refuses, one part of a guard that never applies, a
// choice that always takes the good branch. The checks are found in the syntax tree, so that a new one cannot be forgotten.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import ts from "typescript";

export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** The condition that was taken away. */
  readonly check: string;
  readonly source: string;
}

/** Everything that a verdict on a bundle or a proof passes through. */
const files: readonly string[] = [
  "base64.ts",
  "bundle.ts",
  "canonical-scan.ts",
  "chain-check.ts",
  "checkpoint.ts",
  "cosignature.ts",
  "entry-layout.ts",
  "frontier.ts",
  "genesis.ts",
  "key-entry.ts",
  "key-ring.ts",
  "policy.ts",
  "proof.ts",
  "signed-note.ts",
  "timestamp.ts",
  "tlog-proof.ts",
  "trusted-checkpoint.ts",
  "verify-bundle.ts",
];

/** Functions of these files that no verdict passes through; their own tests look at them. */
const elsewhere: ReadonlySet<string> = new Set([
  ...["inclusionSpans", "consistencySpans", "verifyConsistency", "isRootOfSize"],
  ...["readPolicy", "makePolicy", "partsOfText", "partsOfJson"],
  ...["rootOfParts", "readHashedLayout", "isNoteText", "isTimestamp", "verifyBundle", "hash", "timestamp"],
]);

/** What says no: a refusal, a position of failure, nothing, false. */
const saysNo =
  /\b(refused|failedAt|malformed|notABundle|otherRoot|fault|broken|bad|unlike)\b|^\(?(undefined|false|null)\b/;

export function mutants(): readonly Mutant[] {
  return files.flatMap((name) => {
    const path = fileURLToPath(new URL(`../../../core/audit/${name}`, import.meta.url));
    const source = readFileSync(path, "utf8");
    const tree = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
    const found: Mutant[] = [];
    const take = (node: ts.Expression, by: string): void => {
      const start = node.getStart(tree);
      found.push({
        file: path,
        line: tree.getLineAndCharacterOfPosition(start).line + 1,
        check: node.getText(tree).replaceAll(/\s+/g, " "),
        source: `${source.slice(0, start)}(${by})${source.slice(node.getEnd())}`,
      });
    };
    const visit = (node: ts.Node): void => {
      const isNamed = ts.isFunctionDeclaration(node) || ts.isGetAccessorDeclaration(node);
      if (isNamed && elsewhere.has(node.name?.getText(tree) ?? "")) return;
      if (ts.isIfStatement(node) && refuses(node, tree))
        for (const part of partsOf(node.expression)) take(part, "false");
      if (ts.isConditionalExpression(node)) {
        if (saysNo.test(node.whenTrue.getText(tree))) take(node.condition, "false");
        else if (saysNo.test(node.whenFalse.getText(tree))) take(node.condition, "true");
      }
      if (ts.isReturnStatement(node) && node.expression !== undefined && isAnd(node.expression)) {
        for (const part of andParts(node.expression)) take(part, "true");
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return found;
  });
}

/** Whether what the condition guards is a way to say no, and nothing else. */
function refuses({ thenStatement, elseStatement }: ts.IfStatement, tree: ts.SourceFile): boolean {
  if (elseStatement !== undefined) return false;
  const last = ts.isBlock(thenStatement) ? thenStatement.statements.at(-1) : thenStatement;
  if (last === undefined || !ts.isReturnStatement(last)) return false;
  return saysNo.test(last.expression?.getText(tree) ?? "undefined");
}

/** `a || b || c` is three checks. */
function partsOf(condition: ts.Expression): readonly ts.Expression[] {
  if (!ts.isBinaryExpression(condition) || condition.operatorToken.kind !== ts.SyntaxKind.BarBarToken)
    return [condition];
  return [...partsOf(condition.left), ...partsOf(condition.right)];
}

function isAnd(node: ts.Expression): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
}

function andParts(node: ts.Expression): readonly ts.Expression[] {
  return isAnd(node) ? [...andParts(node.left), ...andParts(node.right)] : [node];
}

/** The verifier as one file of JavaScript, with the mutant in place of its original, or whole. */
export async function bundled(mutant?: Mutant): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./core-verifier.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    logLevel: "silent",
    plugins: [
      {
        name: "mutant",
        setup(it) {
          it.onLoad({ filter: /core[\\/]audit[\\/][a-z0-9-]+\.ts$/ }, ({ path }) =>
            mutant !== undefined && basename(path) === basename(mutant.file)
              ? { contents: mutant.source, loader: "ts" }
              : undefined,
          );
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? "";
}
