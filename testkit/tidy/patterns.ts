// Patterns of the product that cost more than time in proportion to the length of what they read: each regular expression is held against texts that are
// pumped up from its own letters, at one length and at eight times that.
import ts from "typescript";
import { processorMs } from "../processor-ms.ts";
import type { SourceFile } from "./source.ts";

export interface Pattern {
  readonly path: string;
  readonly line: number;
  readonly expression: RegExp;
}

export interface SlowPattern extends Pattern {
  readonly pump: string;
  readonly shortMs: number;
  readonly longMs: number;
}

const shortLength = 2_048;
const times = 8;
/** In proportion would be eight. */
const ratioMax = 12;
/** Less than this is noise; what grows with the square takes far longer at this length. */
const noticeableMs = 25;

export function patternsOf({ path, tree }: SourceFile): readonly Pattern[] {
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf("/");
      const expression = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
      found.push({ path, line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1, expression });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** A slash where a pattern may begin; comments that begin a line are none. */
const slashOfPattern = /[(,=:[!&|?{};+\n>]\s*\/(?![/*])[^\n]*\/|\breturn \/(?![/*])/;

/** A quick look, because most files have none and parsing is most of the work. It says yes too often, and never no where there is one. */
export function mayHavePattern(text: string): boolean {
  return slashOfPattern.test(text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, ""));
}

const commonPumps = [
  "a",
  "A",
  "0",
  " ",
  "\t",
  "\n",
  '"',
  "'",
  "/",
  "\\",
  ".",
  "-",
  "_",
  "=",
  ":",
  "@",
  "{",
  "[",
  "<",
  "a ",
  "a.",
  "a-",
  "0.",
  '\\"',
  `"a":'`,
  "a://",
  "a=",
];
const lead = ["", "-", "x"];

/** Texts that make this pattern begin again and again, and never end. */
function pumpsOf({ expression }: Pattern): readonly string[] {
  const letters = expression.source
    .replaceAll(/\(\?<?[:!=]|\[\^?[^\]]*\]|\{[0-9,]+\}|\\[bBdDsSwWpPu]/g, " ")
    .split(/[\s()|?*+^$\\]+/)
    .filter((piece) => piece.length > 0)
    .slice(0, 12);
  const joined = letters.slice(0, 4).join("");
  return [
    ...new Set([
      ...commonPumps,
      ...letters,
      ...letters.map((one) => `${one}a`),
      ...letters.map((one) => `${one}"`),
      ...letters.filter((one) => /^[a-z]+$/.test(one)).map((one) => `${one}://`),
      joined,
      `${joined}"`,
      `"${joined}":'`,
    ]),
  ].filter((pump) => pump.length > 0);
}

function timeOf(expression: RegExp, text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && (round === 0 || best > noticeableMs); round += 1) {
    best = Math.min(
      best,
      processorMs(() => void text.replace(expression, "")),
    );
  }
  return best;
}

/** The first text at which it is slow. */
export function slowness(pattern: Pattern): SlowPattern | undefined {
  const { source, flags } = pattern.expression;
  // Without the flag only the first match counts, which is never slower.
  const expression = new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
  for (const pump of pumpsOf(pattern)) {
    for (const begin of lead) {
      const textOf = (length: number): string => begin + pump.repeat(Math.ceil(length / pump.length)).slice(0, length);
      const longMs = timeOf(expression, `${textOf(shortLength * times)}\u0000`);
      if (longMs < noticeableMs) continue;
      const shortMs = timeOf(expression, `${textOf(shortLength)}\u0000`);
      if (longMs > shortMs * ratioMax) return { ...pattern, pump, shortMs, longMs };
    }
  }
  return undefined;
}
