// Which subjects the server shall send: all patterns where it can filter by several, else the narrowest single pattern
// that covers them, and the rest is sorted out here. Patterns that overlap go the second way too: servers refuse them.
import { byEveryLogin, foreignDurableSubjects } from "../../contracts/src/foreign-events.ts";
import { isLeftOut, matchesAny } from "../../contracts/src/subjects.ts";

interface ServerFilter {
  readonly subjects: readonly string[];
  /** True when the server may send events that nobody asked for. */
  readonly loose: boolean;
}

export function serverFilter(patterns: readonly string[], severalAllowed: boolean): ServerFilter {
  const needed = withoutCovered(patterns.filter((pattern) => !isLeftOut(pattern)));
  // A server cannot leave a subject out.
  const loose = patterns.some(isLeftOut);
  if (needed.length === 1) return { subjects: needed, loose };
  if (severalAllowed && !anyOverlap(needed)) return { subjects: needed, loose };
  return { subjects: [commonPattern(needed)], loose: true };
}

/** The same subjects as programs outside publish them, below the prefixes of their logins. */
export function belowLogins(patterns: readonly string[]): readonly string[] {
  return foreignDurableSubjects.filter((name) => matchesAny(patterns, name)).map(byEveryLogin);
}

function withoutCovered(patterns: readonly string[]): readonly string[] {
  const unique = [...new Set(patterns)];
  return unique.filter((one) => !unique.some((other) => other !== one && covers(other, one)));
}

/** Whether every subject under `narrow` also lies under `wide`. */
function covers(wide: string, narrow: string): boolean {
  const wideWords = wide.split(".");
  const narrowWords = narrow.split(".");
  for (const [place, word] of wideWords.entries()) {
    const other = narrowWords[place];
    if (other === undefined) return false;
    if (word === ">") return true;
    if (other === ">" || (word !== "*" && word !== other)) return false;
  }
  return wideWords.length === narrowWords.length;
}

function anyOverlap(patterns: readonly string[]): boolean {
  return patterns.some((one, index) => patterns.slice(index + 1).some((other) => overlap(one, other)));
}

function overlap(one: string, other: string): boolean {
  const oneWords = one.split(".");
  const otherWords = other.split(".");
  for (let place = 0; ; place++) {
    const left = oneWords[place];
    const right = otherWords[place];
    if (left === undefined || right === undefined) return left === right;
    if (left === ">" || right === ">") return true;
    if (left !== right && left !== "*" && right !== "*") return false;
  }
}

/** The common leading words and a closing `>`: "a.b.c" and "a.b.d" give "a.b.>". */
function commonPattern(patterns: readonly string[]): string {
  const [first = "", ...rest] = patterns;
  const words = first.split(".");
  const shared: string[] = [];
  for (const [place, word] of words.entries()) {
    const isLast = place === words.length - 1;
    const agreed = rest.every((other) => other.split(".")[place] === word && other.split(".").length > place + 1);
    if (isLast || word === "*" || word === ">" || !agreed) break;
    shared.push(word);
  }
  return [...shared, ">"].join(".");
}
