// How long a text can be that matches a pattern, so that a text with a form of its own need not say its length as well. It knows what patterns of
// requests are made of; whatever it does not know counts as without end.

/** In UTF-16 units; infinite where the pattern sets no end. */
export function longestMatch({ source, flags }: Pick<RegExp, "source" | "flags">): number {
  if (!source.startsWith("^") || !source.endsWith("$") || source.endsWith("\\$")) return Number.POSITIVE_INFINITY;
  const reading: Reading = { source, at: 1, end: source.length - 1, unit: flags.includes("u") ? 2 : 1 };
  // Of several on the outside only the first begins at the beginning, and only the last ends at the end.
  const length = readSequence(reading);
  return reading.at === reading.end ? length : Number.POSITIVE_INFINITY;
}

interface Reading {
  readonly source: string;
  at: number;
  readonly end: number;
  /** What one character may take. */
  readonly unit: number;
}

/** Up to the bracket that closes them, or to the end. */
function readAlternatives(reading: Reading): number {
  let longest = 0;
  for (;;) {
    longest = Math.max(longest, readSequence(reading));
    if (reading.at >= reading.end || reading.source[reading.at] !== "|") return longest;
    reading.at += 1;
  }
}

function readSequence(reading: Reading): number {
  let length = 0;
  while (reading.at < reading.end && !"|)".includes(reading.source[reading.at] ?? "")) {
    const atom = readAtom(reading);
    const times = readTimes(reading);
    // Nothing, however often, stays nothing.
    if (atom > 0 && times > 0) length += atom * times;
  }
  return length;
}

function readAtom(reading: Reading): number {
  const { source, unit } = reading;
  const character = source[reading.at];
  if (character === "(") return readGroup(reading);
  if (character === "^" || character === "$") {
    reading.at += 1;
    return 0;
  }
  if (character === "[") {
    while (source[reading.at] !== "]" && reading.at < reading.end) skipCharacter(reading);
    reading.at += 1;
  } else {
    skipCharacter(reading);
  }
  return unit;
}

const nothing = /^\(\?<?[=!]/;
const grouping = /^\(\?(?::|<[a-zA-Z]\w*>)/;

function readGroup(reading: Reading): number {
  const rest = reading.source.slice(reading.at);
  const begin = grouping.exec(rest)?.[0] ?? nothing.exec(rest)?.[0] ?? "(";
  reading.at += begin.length;
  const inner = readAlternatives(reading);
  reading.at += 1;
  return nothing.test(rest) ? 0 : inner;
}

/** One character, or an escape of one: `\.`, `\u0041`, `\x41`, `\p{Cc}`. */
function skipCharacter(reading: Reading): void {
  const escaped = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/.exec(
    reading.source.slice(reading.at),
  );
  reading.at += escaped?.[0].length ?? 1;
}

const times = /^(?:([*+?])|\{(\d+)(,)?(\d+)?\})\??/;

/** How often the atom before may stand there at most. */
function readTimes(reading: Reading): number {
  const found = times.exec(reading.source.slice(reading.at, reading.end));
  if (found === null) return 1;
  const [whole, sign, least, comma, most] = found;
  reading.at += whole.length;
  if (sign !== undefined) return sign === "?" ? 1 : Number.POSITIVE_INFINITY;
  if (comma === undefined) return Number(least);
  return most === undefined ? Number.POSITIVE_INFINITY : Number(most);
}
