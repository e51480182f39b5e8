// What is wrong with a text that is not valid YAML, in words and at the line where a person would look. The parser's own
// words are not repeated: some quote the file, which may hold a secret, and its positions are often where it gave up.
import { type Document, isCollection, isScalar, visit, type YAMLError } from "yaml";

export interface YamlMistake {
  readonly found: string;
  readonly expected: string;
  readonly line: number;
}

type Words = readonly [found: string, expected: string];
type LineAt = (offset: number) => number;

const inside = "that closes it, and everything between indented deeper than the key";
const mistakesMax = 50;
const pairs = "brackets in pairs, and quotes around a value that has one in it";
const members = "a comma between the members of { } or [ ]";
const oneValue = "one value behind each key, and quotes around a value that has quotes, brackets or `: ` in it";

/** By the beginning of the parser's message, where its code alone says too little. */
const wordsByMessage: readonly (readonly [RegExp, Words])[] = [
  [/^Missing closing/, ["a quote that is never closed", "the same quote at the end of the value"]],
  [/^Flow map .*end with a/, ["a { without its }", `a } ${inside}`]],
  [/^Flow sequence .*end with a/, ["a [ without its ]", `a ] ${inside}`]],
  [/^Flow end indicator/, ["a closing bracket too far to the left", "it indented deeper than its key"]],
  [
    /^All sequence items|^A block sequence may not/,
    ["a list item that is not in line with the others", "all items of a list indented alike"],
  ],
  [/^Implicit map keys need/, ["a key without a colon", "a colon and a space behind every key"]],
  [/^Sequence item without/, ["a line without a dash in a list", "a dash and a space before every item of the list"]],
  [/^Missing (,|space)/, ["brackets whose members run together", `${members}, a space behind each colon`]],
  [/^Comments must/, ["a # directly behind a value", "a space before the #, or quotes around the value"]],
  [/^Unexpected (,|empty item)/, ["a comma too many", "a member before each comma"]],
  [/^Unexpected flow-(map|seq)-end/, ["a closing bracket that nothing opened", pairs]],
  [/^Unexpected .*at node end/, ["something behind the end of a value", oneValue]],
  [/^Block scalar header/, ["something behind | or >", "the text on the lines below, indented"]],
  [/^Unexpected block-seq-ind/, ["a list item where a key belongs", "the list indented below its own key"]],
];

const wordsByCode: Readonly<Record<string, Words>> = {
  ALIAS_PROPS: ["an anchor or tag before an alias", "the alias alone"],
  BAD_ALIAS: [
    "an alias or anchor without a proper name",
    "a name behind it, or quotes around a value that begins with * or &",
  ],
  BAD_DIRECTIVE: ["a line that begins with %", "no directives"],
  BAD_DQ_ESCAPE: [
    "an unknown backslash sequence in double quotes",
    "single quotes around the value, or each backslash twice",
  ],
  BAD_INDENT: ["a key that is not in line with the others", "all keys of a map indented alike"],
  BAD_PROP_ORDER: ["an anchor or tag in the wrong place", "it directly before the value"],
  BAD_SCALAR_START: ["a value that begins with a reserved character", "quotes around the value"],
  BLOCK_AS_IMPLICIT_KEY: [
    "a key where a value has begun already",
    "one key on a line, all keys of a map indented alike, and quotes around a value that has `: ` in it",
  ],
  BLOCK_IN_FLOW: ["brackets whose members run together", members],
  DUPLICATE_KEY: ["the same key twice", "every key once in its map"],
  KEY_OVER_1024_CHARS: ["a key of more than 1024 characters", "a known key"],
  MISSING_CHAR: ["something missing", "plain `key: value` lines"],
  MULTILINE_IMPLICIT_KEY: ["a line that is no key with its value", "`key: value`, with a space behind the colon"],
  MULTIPLE_ANCHORS: ["two anchors on one value", "one at most"],
  MULTIPLE_DOCS: ["a second document", "one document in the file"],
  MULTIPLE_TAGS: ["tags", "plain values without tags"],
  RESOURCE_EXHAUSTION: ["nesting without end", "a few levels"],
  TAB_AS_INDENT: ["a tab at the beginning of a line", "spaces for indentation"],
  TAG_RESOLVE_FAILED: ["a tag", "plain values without tags"],
  UNEXPECTED_TOKEN: ["something out of place", "plain `key: value` lines"],
};

/** The parser's findings, one for each place: what follows on the same line is nearly always the same slip once more. */
export function yamlMistakes(document: Document.Parsed, text: string, lineAt: LineAt): readonly YamlMistake[] {
  const all = [...document.errors, ...document.warnings].slice(0, mistakesMax);
  const spans = all.some(isUnclosed) ? spansOf(document) : [];
  const lastChar = Math.max(0, text.trimEnd().length - 1);
  const lines = new Set<number>();
  const offsets = new Set<number>();
  return all.flatMap((error) => {
    const [found, expected] = wordsFor(error);
    const line = lineAt(Math.min(placeOf(error, spans, all), lastChar));
    // A key given twice is a finding of its own, whatever else its line has.
    if (error.code !== "DUPLICATE_KEY") {
      if (lines.has(line) || offsets.has(error.pos[0])) return [];
      lines.add(line);
      offsets.add(error.pos[0]);
    }
    return [{ found, expected, line }];
  });
}

function wordsFor(error: YAMLError): Words {
  const special = wordsByMessage.find(([pattern]) => pattern.test(error.message))?.[1];
  return special ?? wordsByCode[error.code] ?? ["something that is not YAML", "plain `key: value` lines"];
}

function isUnclosed(error: YAMLError): boolean {
  return /^Missing closing|^Flow (map|sequence) .*end with a/.test(error.message);
}

/** Where the mistake was made, as far as that can be told. */
function placeOf(error: YAMLError, spans: readonly Span[], all: readonly YAMLError[]): number {
  const [at] = error.pos;
  if (isUnclosed(error)) return spans.findLast(({ begin, end }) => begin < at && at <= end)?.begin ?? at;
  if (error.code === "BLOCK_AS_IMPLICIT_KEY") {
    // A value that goes on in the next line: it is that line which is indented too far.
    const over = all.find((other) => other.code === "MULTILINE_IMPLICIT_KEY" && other.pos[0] === at);
    return over === undefined ? at : over.pos[1] - 1;
  }
  return at;
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Everything in quotes or brackets, the outer before the inner, so that the last one around a place is the innermost. */
function spansOf(document: Document.Parsed): readonly Span[] {
  const spans: Span[] = [];
  visit(document, {
    Node: (_key, node) => {
      const marked = (isScalar(node) && node.type?.startsWith("QUOTE_")) || (isCollection(node) && node.flow === true);
      if (marked && node.range) spans.push({ begin: node.range[0], end: node.range[2] });
    },
  });
  return spans;
}

/**
 * The lines of aliases that stand for nothing. Their names are not shown: a password that begins with a star looks like one.
 */
export function undefinedAliases(document: Document.Parsed, lineAt: LineAt): readonly YamlMistake[] {
  const anchors = new Set<string>();
  const mistakes: YamlMistake[] = [];
  visit(document, {
    Alias: (_key, alias) => {
      if (anchors.has(alias.source)) return;
      const expected = "its anchor (&name) before it, or quotes around a value that begins with *";
      mistakes.push({ found: "an alias without an anchor", expected, line: lineAt(alias.range?.[0] ?? 0) });
    },
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchors.add(node.anchor);
    },
  });
  return mistakes;
}
