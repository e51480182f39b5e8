// The words of a post-mortem. A language model may write them from numbered facts, and is believed in nothing: every number, date and percentage must be the
// printed form of a fact that the paragraph names, else the template's text stands, with why the other was refused.
import { z } from "zod";

export interface NumberedFact {
  /** F1, F2 and so on. */
  readonly id: string;
  readonly text: string;
}

export const numberedFacts = z
  .array(z.object({ id: z.string().max(10), text: z.string().max(500) }))
  .min(1)
  .max(100);

const paragraph = z.object({ text: z.string().min(1).max(2_000), facts: z.array(z.string()).max(50) });
export type Paragraph = z.infer<typeof paragraph>;

/** What a model is asked to answer. */
export const narrativeAnswer = z.object({ paragraphs: z.array(paragraph).min(1).max(12) });

/** A model's answer, with what it was asked and what that cost. */
export interface WrittenNarrative {
  /** Or why it gave none. */
  readonly paragraphs: readonly Paragraph[] | { readonly none: string };
  readonly model: string;
  readonly promptSha256: string;
  readonly costUsd: string | null;
}

export const narrative = z.object({
  source: z.enum(["model", "template"]),
  model: z.string().nullable(),
  prompt_sha256: z.string().nullable(),
  cost_usd: z.string().nullable(),
  /** Why a model's text was not taken; null where none was refused. */
  refused: z.string().nullable(),
  facts: z.array(z.object({ id: z.string(), text: z.string() })),
  paragraphs: z.array(paragraph),
});
export type Narrative = z.infer<typeof narrative>;

export const narrativeSystem =
  "You write the account of a fall in a fund's value for its investors. Use only the numbered facts. Name in `facts` the ids of every fact that a paragraph uses. Write each number, date and percentage exactly as the fact prints it, in digits and with its unit. Add none of your own, spell none out (not even one), and name no month or day of the week. Use plain ASCII.";

/** Facts and nothing else: no headline, no thesis, no reason that somebody typed. */
export const narrativePrompt = (facts: readonly NumberedFact[]): string =>
  facts.map(({ id, text }) => `${id}: ${text}`).join("\n");

const units =
  "[A-Z]{3}|bps?|bn|mn|[kKmMbx]|basis points?|points?|pts?|times|fold|years?|months?|weeks?|days?|hours?|minutes?|seconds?|ms|shares?|lots?|contracts?|trades?|orders?";
/** Signs, digits, what stands between digits and what is glued to them; a per cent sign or a unit after them belongs to them. */
const figure = new RegExp(
  `[A-Za-z_$#]*(?:[-+−–—]\\s?)?\\d(?:[\\d.,:TZ/-]*\\d)?[A-Za-z_$#]*(?<percent>\\s?%)?(?<unit>\\s(?:${units})\\b)?`,
  "g",
);
const tens = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety";
const teens = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen";
const large = "dozen|hundred|thousand|million|billion|trillion";
const ordinals =
  "third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|[a-z]+teenth|[a-z]+tieth|[a-z]+dredth|[a-z]+sandth|[a-z]+llionth";
const parts = "half|halves|halved|quarter|double|doubled|triple|tripled|quadrupled?|twice|thrice|[a-z]+fold";
const signs = "minus|per ?cent|percentages?|basis points?";
const months =
  "january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec";
const days = "(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|today|tomorrow|weekend|midnight|noon";
const spelled = new RegExp(
  `\\b(?:zero|nil|one|two|three|four|five|six|seven|eight|nine|(?:${teens}|${tens}|${large})s?|(?:${ordinals})s?|${parts}|quarters|${signs}|${months}|${days})\\b`,
  "gi",
);
/** The month, which as another word begins no sentence here. */
const may = /\bMay\b/g;
/** What facts are printed in, and the quotes and dashes of a sentence. Any other character may look like a digit or a sign, or be a number in another script. */
const strange = /[^\n\x20-\x7e‘’“”–—…−]/u;

/** A date or a time: what stands after it is no unit of it. */
const moment = /\d[-:]\d/;

/** As they are printed, with and without the unit after them. */
function figuresIn(text: string): readonly { readonly found: string; readonly whole: string; readonly bare: string }[] {
  const plain = (found: string): string => found.replace(/[−–—]/g, "-").replace(/\s/g, "");
  return [...text.matchAll(figure)].map(({ 0: found, groups }) => {
    const bare = plain(found.slice(0, found.length - (groups?.["unit"]?.length ?? 0)));
    return { found: found.trim(), whole: moment.test(bare) ? bare : plain(found), bare };
  });
}

const wordsIn = (text: string): readonly string[] =>
  [spelled, may].flatMap((pattern) => [...text.matchAll(pattern)].map(([word]) => word));

/** By its number, since it may be one that cannot be seen. */
const named16 = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Null where it holds; else what is wrong with it. */
export function refusalOf(paragraphs: readonly Paragraph[], facts: readonly NumberedFact[]): string | null {
  const byId = new Map(facts.map(({ id, text }) => [id, text]));
  for (const [index, { text, facts: named }] of paragraphs.entries()) {
    const where = `paragraph ${index + 1}`;
    const unknown = named.find((id) => !byId.has(id));
    if (unknown !== undefined) return `${where} names ${JSON.stringify(unknown)}, which is no fact`;
    const character = strange.exec(text)?.[0];
    if (character !== undefined) return `${where} has ${named16(character)}, a character that no fact is printed in`;
    const texts = named.map((id) => byId.get(id) ?? "");
    const words = new Set(texts.flatMap(wordsIn));
    const word = wordsIn(text).find((each) => !words.has(each));
    if (word !== undefined) return `${where} spells out ${JSON.stringify(word)}`;
    const printed = new Set(texts.flatMap((each) => figuresIn(each).flatMap(({ whole, bare }) => [whole, bare])));
    const invented = figuresIn(text).find(({ whole }) => !printed.has(whole))?.found;
    if (invented !== undefined) return `${where} has ${JSON.stringify(invented)}, which no fact that it names prints`;
  }
  return null;
}

/** The model's where it holds, else the template's. */
export function narrativeOf(
  facts: readonly NumberedFact[],
  template: readonly Paragraph[],
  written: WrittenNarrative | undefined,
): Narrative {
  const given = written?.paragraphs ?? template;
  const refused = "none" in given ? given.none : written === undefined ? null : refusalOf(given, facts);
  const paragraphs = "none" in given || refused !== null ? template : given;
  return {
    source: written !== undefined && refused === null ? "model" : "template",
    model: written?.model ?? null,
    prompt_sha256: written?.promptSha256 ?? null,
    cost_usd: written?.costUsd ?? null,
    refused,
    facts: facts.map(({ id, text }) => ({ id, text })),
    paragraphs: paragraphs.map((each) => ({ text: each.text, facts: [...each.facts] })),
  };
}
