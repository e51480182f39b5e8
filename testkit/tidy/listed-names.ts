// A test that is about every name of a list takes it from the list. A copy by hand is red with each name that somebody adds, and says nothing that the list
// does not. The lists are those that `npm run gen` writes, and the registries that it writes them from.
import ts from "typescript";
import { operations } from "../../contracts/src/authority.ts";
import { everyCode } from "../../contracts/src/codes.ts";
import { gateNames } from "../../contracts/src/generated/gates.ts";
import { shapes } from "../../contracts/src/generated/shapes.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { operationTable } from "../../edges/client/src/generated/operations.ts";
import { at, type Complaint, isTest } from "./complaint.ts";
import type { SourceFile } from "./source.ts";

const { SyntaxKind } = ts;

/** Fewer than this are examples. */
const namesMin = 6;

/** What the names of each list are, and where a test takes them. */
const lists: readonly (readonly [string, ReadonlySet<string>])[] = [
  ["everyCode() of contracts/src/codes.ts", new Set(everyCode().keys())],
  ["operations of contracts/src/authority.ts", new Set(Object.keys(operations))],
  ["gateNames of contracts/src/generated/gates.ts", new Set<string>(gateNames)],
  ["shapes of contracts/src/generated/shapes.ts", new Set(Object.keys(shapes))],
  ["operationTable of edges/client/src/generated/operations.ts", new Set(Object.keys(operationTable))],
  ["subjects of contracts/src/subjects.ts", new Set(Object.values(subjects).map(({ name }) => name))],
];

export function* listedNames(file: SourceFile): Iterable<Complaint> {
  if (!isTest(file.path)) return;
  for (const node of file.nodes.get(SyntaxKind.ArrayLiteralExpression) ?? []) {
    if (!ts.isArrayLiteralExpression(node) || isPartOfAnother(node)) continue;
    const names = namesOf(node);
    if (names === undefined || names.length < namesMin) continue;
    const list = lists.find(([, known]) => names.every((name) => known.has(name)));
    if (list !== undefined)
      yield at(file, node, `${names.length} names by hand that stand in ${list[0]}: take them from there`);
  }
}

/** The texts of an array that holds nothing else; arrays that are spread into it are written in it. */
function namesOf(array: ts.ArrayLiteralExpression): readonly string[] | undefined {
  const names: string[] = [];
  for (const element of array.elements) {
    const inner = ts.isSpreadElement(element) ? plain(element.expression) : undefined;
    if (ts.isStringLiteralLike(element)) names.push(element.text);
    else if (inner !== undefined && ts.isArrayLiteralExpression(inner)) names.push(...(namesOf(inner) ?? [""]));
    else return undefined;
  }
  return names;
}

const plain = (expression: ts.Expression): ts.Expression =>
  ts.isAsExpression(expression) || ts.isParenthesizedExpression(expression) ? plain(expression.expression) : expression;

function isPartOfAnother(array: ts.ArrayLiteralExpression): boolean {
  let outer: ts.Node = array.parent;
  while (ts.isAsExpression(outer) || ts.isParenthesizedExpression(outer)) outer = outer.parent;
  return ts.isSpreadElement(outer) && ts.isArrayLiteralExpression(outer.parent) && namesOf(outer.parent) !== undefined;
}
