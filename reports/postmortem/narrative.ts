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
  "You write the account of a fall in a fund's value for its investors. Use only the numbered facts. Name in `facts` the ids of every fact that a paragraph uses. Write each number, date and percentage exactly as the fact prints it, in digits. Add none of your own.";

/** Facts and nothing else: no headline, no thesis, no reason that somebody typed. */
export const narrativePrompt = (facts: readonly NumberedFact[]): string =>
  facts.map(({ id, text }) => `${id}: ${text}`).join("\n");

/** Signs, digits and what stands between digits; a per cent sign after them belongs to them. */
const figure = /[-+−]?\d(?:[\d.,:TZ/-]*\d)?(?:Z\b)?(?:\s?%)?/g;
const spelled =
  /\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|half|halved|third|quarter|double|doubled|triple|twice|per ?cent|percent|january|february|march|april|june|july|august|september|october|november|december|(mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;

const figuresIn = (text: string): readonly string[] =>
  [...text.matchAll(figure)].map(([found]) => found.replace("−", "-").replace(/\s/g, ""));

/** Null where it holds; else what is wrong with it. */
export function refusalOf(paragraphs: readonly Paragraph[], facts: readonly NumberedFact[]): string | null {
  const byId = new Map(facts.map(({ id, text }) => [id, text]));
  for (const [index, { text, facts: named }] of paragraphs.entries()) {
    const where = `paragraph ${index + 1}`;
    const unknown = named.find((id) => !byId.has(id));
    if (unknown !== undefined) return `${where} names ${JSON.stringify(unknown)}, which is no fact`;
    // Only plain digits: others would pass unseen.
    if (/(?![0-9])\p{N}/u.test(text)) return `${where} has digits of another script`;
    const word = spelled.exec(text)?.[0];
    if (word !== undefined) return `${where} spells out ${JSON.stringify(word)}`;
    const printed = new Set(named.flatMap((id) => figuresIn(byId.get(id) ?? "")));
    const invented = figuresIn(text).find((each) => !printed.has(each));
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
