// Text that others wrote reaches people through the cleaner of contracts/src/text/clean.ts: on a page by <Theirs>, <Quoted>, <Fields> and <Unbroken>, in a line by `clean` or
// `quoted`. A page or a line of ctl that shows such a field as it came is named.
import ts from "typescript";
import { at, type Complaint, isTest } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

/** The fields that hold what a person, a machine or an outside system wrote. */
const theirs =
  /^(reason|sentence|detail|complaint|actor|note|thesis|headline|message|ends|about|source|program|\w+_by)$/;
const cleaning: ReadonlySet<string> = new Set(["clean", "quoted", "pairs", "fieldLines", "haltLine", "utcText"]);
const readAttributes: ReadonlySet<string> = new Set(["title", "aria-label", "alt", "placeholder"]);
const said: ReadonlySet<string> = new Set(["say", "write"]);

const message = (field: string): string =>
  `${field} is somebody else's text, shown as it came: take <Theirs> or <Quoted> of edges/web/panels/theirs.tsx, or clean of contracts/src/text/clean.ts`;

export function* rawText(file: SourceFile): Iterable<Complaint> {
  if (!/^edges\/(web|ctl)\//.test(file.path) || isTest(file.path)) return;
  for (const { node, expression } of shownIn(file)) {
    const field = rawField(expression);
    if (field !== undefined) yield at(file, node, message(field));
  }
}

interface Shown {
  readonly node: ts.Node;
  readonly expression: ts.Expression;
}

function* shownIn(file: SourceFile): Iterable<Shown> {
  for (const node of file.nodes.get(ts.SyntaxKind.JsxExpression) ?? []) {
    if (!ts.isJsxExpression(node) || node.expression === undefined) continue;
    const { parent } = node;
    if (ts.isJsxAttribute(parent) && !readAttributes.has(parent.name.getText(file.tree))) continue;
    // Of a component it is a property, which the component shows.
    const isOfComponent = ts.isJsxAttribute(parent) && /^[A-Z]/.test(parent.parent.parent.tagName.getText(file.tree));
    if (!isOfComponent) yield { node, expression: node.expression };
  }
  for (const node of file.nodes.get(ts.SyntaxKind.CallExpression) ?? []) {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) continue;
    if (!said.has(node.expression.name.text) || !file.path.startsWith("edges/ctl/")) continue;
    for (const expression of node.arguments) yield { node, expression };
  }
}

/** The first field that becomes part of what is shown: what is only compared or counted does not. */
function rawField(node: ts.Node): string | undefined {
  if (ts.isJsxElement(node) || ts.isJsxSelfClosingElement(node) || ts.isJsxFragment(node)) return undefined;
  if (ts.isIdentifier(node)) return theirs.test(node.text) ? node.text : undefined;
  if (ts.isPropertyAccessExpression(node)) return theirs.test(node.name.text) ? node.name.text : undefined;
  if (ts.isConditionalExpression(node)) return rawField(node.whenTrue) ?? rawField(node.whenFalse);
  if (ts.isBinaryExpression(node)) return rawOperand(node);
  if (ts.isCallExpression(node)) return rawCall(node);
  return node.forEachChild(rawField);
}

function rawOperand({ operatorToken, left, right }: ts.BinaryExpression): string | undefined {
  const { kind } = operatorToken;
  if (kind === ts.SyntaxKind.AmpersandAmpersandToken) return rawField(right);
  const joins = [ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.PlusToken];
  return joins.includes(kind) ? (rawField(left) ?? rawField(right)) : undefined;
}

function rawCall({ expression, arguments: given }: ts.CallExpression): string | undefined {
  if (ts.isIdentifier(expression) && cleaning.has(expression.text)) return undefined;
  const of = ts.isPropertyAccessExpression(expression) ? rawField(expression.expression) : undefined;
  return of ?? given.map(rawField).find((field) => field !== undefined);
}
