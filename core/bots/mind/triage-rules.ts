// What the triager says without a model: labels by an issue's words, what is missing of a short one, and issues that read alike.
import type { TriagePlan } from "../../../contracts/src/records/bot-plans.ts";
import type { MaterialOf, OtherIssue } from "../material.ts";

/** Text at hand, best first, each with how alike it is: 1 is the same. */
export type FindSimilar = (
  text: string,
  among: readonly OtherIssue[],
) => readonly { readonly number: number; readonly score: number }[];

const kinds: readonly { readonly label: string; readonly words: RegExp }[] = [
  {
    label: "bug",
    words:
      /\b(bugs?|crash(es|ed)?|errors?|exceptions?|fail(s|ed|ure)?|broken|regression|panics?|stack ?trace|wrong|does(n't| not) work)\b/i,
  },
  { label: "documentation", words: /\b(docs?|documentation|documented|readme|typos?|spelling)\b/i },
  { label: "question", words: /\b(question|how (do|can|to|should)|is it possible|is there a way|why (do|does|is))\b/i },
];

const bodyCharactersMin = 50;
const alikeMin = 0.75;
const missing = [
  "The steps that lead to it.",
  "What you expected, and what happened instead.",
  "The version, and the system that it runs on.",
];

export function triageByRules(material: MaterialOf<"triager">, similar: FindSimilar): TriagePlan {
  const { thread, labels, words, others } = material;
  const text = `${thread.title}\n${thread.body}`;
  const lowered = text.toLowerCase();
  const named = Object.entries(words).flatMap(([word, label]) => (hasWord(lowered, word.toLowerCase()) ? [label] : []));
  const known = kinds.flatMap((kind) => (kind.words.test(text) ? [kind.label] : []));
  const there = new Set(labels.map((label) => label.toLowerCase()));
  const wanted = [...new Set([...named, ...known])].filter((label) => there.has(label.toLowerCase()));
  const alike = similar(text, others).filter(({ score }) => score >= alikeMin);
  return {
    labels: wanted.slice(0, 3),
    missing: thread.body.trim().length < bodyCharactersMin ? missing : [],
    duplicates: alike.slice(0, 3).map(({ number }) => number),
  };
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true;
  }
  return false;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}
