// The nearest verbs for a command line that names none: by spelling, and by its last word alone, because people forget the group.
import type { Grammar } from "./grammar.ts";

/** At most two names, nearest first. */
export function suggestions(argv: readonly string[], { verbs, groups }: Grammar): readonly string[] {
  const words = argv.filter((word) => !word.startsWith("-")).slice(0, 3);
  // A group that stands there as it should is not what is wrong.
  const others = Object.keys(groups).filter((name) => name !== groupTyped(words, groups));
  const names = [...verbs.map(({ name }) => name), ...others];
  return names
    .map((name) => ({ name, distance: nearness(words, name) }))
    .filter(({ distance }) => distance < farAway)
    .sort((left, right) => left.distance - right.distance || left.name.length - right.name.length)
    .slice(0, 2)
    .map(({ name }) => name);
}

/** The longest group with which the words begin. */
export function groupTyped(words: readonly string[], groups: Grammar["groups"]): string | undefined {
  const begins = words.map((_word, left) => words.slice(0, words.length - left).join(" "));
  return begins.find((begin) => begin in groups);
}

/** Where a verb's words stand among those that were typed, after a group that is not its own. */
export function placeOf(words: readonly string[], parts: readonly string[]): number {
  return words.findIndex((_word, at) => at > 0 && parts.every((part, index) => words[at + index] === part));
}

const farAway = 99;

/**
 * The whole line against the whole name, or its end against the name's end: that is half a step further away, and two steps more for every
 * typed word that is left out, because half of all names end with "list".
 */
function nearness(words: readonly string[], name: string): number {
  const parts = name.split(" ");
  const ends = words.map((_word, left) =>
    near(words.slice(left).join(" "), parts.slice(left - words.length).join(" ")),
  );
  // `halt alpha` is the verb and what it is for: the verb's own word came first.
  const first = words.length > 1 && words[0] === parts.at(-1) && parts.at(-1) !== "list" ? 1.5 : farAway;
  const misplaced = placeOf(words, parts) === -1 ? farAway : 1.75;
  return Math.min(
    near(words.join(" "), name),
    first,
    misplaced,
    ...ends.map((distance, left) => distance + 0.5 + left * 2),
  );
}

/** Short words are near only when they differ in one place: otherwise every short word is near every other. */
function near(typed: string, meant: string): number {
  const distance = editDistance(typed, meant);
  return distance <= (meant.length <= 4 ? 1 : 2) ? distance : farAway;
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 3 || left.length > 64) return farAway;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_none, at) => at);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      let best = Math.min(
        (last[column] ?? farAway) + 1,
        (current[column - 1] ?? farAway) + 1,
        (last[column - 1] ?? farAway) + same,
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, (beforeLast[column - 2] ?? farAway) + 1);
      current.push(best);
    }
    [beforeLast, last] = [last, current];
  }
  return last[right.length] ?? farAway;
}
