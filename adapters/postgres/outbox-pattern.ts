// Subject patterns as one PostgreSQL regular expression, so that the server decides which payloads are worth sending.
// It must agree with contracts' `matches`, which the test holds against it.
import { validatePattern } from "../../contracts/src/subjects.ts";

const special = /[.*+?^${}()|[\]\\]/g;

/** Matches a subject when at least one pattern does. An empty list matches nothing. */
export function regexOf(patterns: readonly string[]): string {
  for (const pattern of patterns) validatePattern(pattern);
  if (patterns.length === 0) return "^(?!)";
  return `^(?:${patterns.map(wordsOf).join("|")})$`;
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
