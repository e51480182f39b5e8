// Where a text stops being JSON, as line and column: whoever wrote it by hand into a form of somebody else's has no other help. The language's own
// reader says it only sometimes, and repeats what was sent, which may be a secret.

const space = /[ \t\n\r]*/y;
const scalar =
  /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/uy;

/** What may come next. */
type Wanted = "value" | "value or ]" | "name" | "name or }" | "colon" | "comma or end";

/** How many characters stand before the first that cannot be there; undefined for JSON. */
export function jsonFlawOffset(text: string): number | undefined {
  const opened: ("{" | "[")[] = [];
  // Some senders begin with a byte order mark, which is read over everywhere.
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let wanted: Wanted = "value";
  for (;;) {
    at += matchAt(space, text, at);
    if (at >= text.length) return wanted === "comma or end" && opened.length === 0 ? undefined : at;
    const next = step(wanted, text, at, opened);
    if (next === undefined) return at;
    at += next.length;
    wanted = next.wanted;
  }
}

interface Step {
  readonly length: number;
  readonly wanted: Wanted;
}

function step(wanted: Wanted, text: string, at: number, opened: ("{" | "[")[]): Step | undefined {
  const character = text[at];
  if (wanted === "colon") return character === ":" ? { length: 1, wanted: "value" } : undefined;
  if (wanted === "comma or end") return afterValue(character, opened);
  if (wanted === "name or }" && character === "}") return closed(opened);
  if (wanted === "value or ]" && character === "]") return closed(opened);
  const isName = wanted === "name" || wanted === "name or }";
  if (!isName && (character === "{" || character === "[")) {
    opened.push(character);
    return { length: 1, wanted: character === "{" ? "name or }" : "value or ]" };
  }
  if (isName && character !== '"') return undefined;
  const length = matchAt(scalar, text, at);
  return length === 0 ? undefined : { length, wanted: isName ? "colon" : "comma or end" };
}

function afterValue(character: string | undefined, opened: ("{" | "[")[]): Step | undefined {
  const within = opened.at(-1);
  if (within === undefined) return undefined;
  if (character === ",") return { length: 1, wanted: within === "{" ? "name" : "value" };
  return character === (within === "{" ? "}" : "]") ? closed(opened) : undefined;
}

function closed(opened: ("{" | "[")[]): Step {
  opened.pop();
  return { length: 1, wanted: "comma or end" };
}

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** "line 2, column 14", both counted from 1. */
export function placeIn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}
