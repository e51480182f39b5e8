// Subject patterns as one PostgreSQL regular expression, so that the server decides which payloads are worth sending.
// It must agree with contracts' `matches`, which the test holds against it.
import { isLeftOut, validatePatterns } from "../../../contracts/src/subjects.ts";

const special = /[.*+?^${}()|[\]\\]/g;

/** Matches a subject when at least one pattern does and none leaves it out. An empty list matches nothing. */
export function regexOf(patterns: readonly string[]): string {
  validatePatterns(patterns);
  const wanted = patterns.filter((pattern) => !isLeftOut(pattern)).map(wordsOf);
  const unwanted = patterns.filter(isLeftOut).map((pattern) => wordsOf(pattern.slice(1)));
  if (wanted.length === 0) return "^(?!)";
  const except = unwanted.length === 0 ? "" : `(?!(?:${unwanted.join("|")})$)`;
  return `^${except}(?:${wanted.join("|")})$`;
}

function wordsOf(pattern: string): string {
  return pattern
    .split(".")
    .map((word) => {
      if (word === "*") return "[^.]+";
      if (word === ">") return "[^.]+(?:\\.[^.]+)*";
      return word.replace(special, "\\$&");
    })
    .join("\\.");
}
