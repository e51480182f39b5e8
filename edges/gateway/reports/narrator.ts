// Has the words of a post-mortem written by the configured language model, from numbered facts alone. What it answers is checked where the document is
// built; that it did not answer is said there as well, and the template's words stand.
import { createHash } from "node:crypto";
import { messageOf } from "../../../contracts/src/fault.ts";
import type { LanguageModel } from "../../../ports/language-model.ts";
import {
  narrativeAnswer,
  narrativePrompt,
  narrativeSystem,
  numberedFacts,
  type WrittenNarrative,
} from "../../../reports/postmortem/narrative.ts";

/** Never rejects: a report without a model's words is a report. */
export type Narrator = (facts: unknown, signal: AbortSignal) => Promise<WrittenNarrative>;

/** Twelve short paragraphs. */
const answerTokensMax = 2_000;

export const narratorBy =
  (model: LanguageModel): Narrator =>
  async (given, signal) => {
    const facts = numberedFacts.safeParse(given);
    const prompt = facts.success ? narrativePrompt(facts.data) : "";
    const promptSha256 = createHash("sha256").update(`${narrativeSystem}\n${prompt}`).digest("hex");
    const unanswered = { model: model.model, promptSha256, costUsd: null };
    if (!facts.success) return { ...unanswered, paragraphs: { none: "the model was not asked: there were no facts" } };
    try {
      const question = { system: narrativeSystem, prompt, schema: narrativeAnswer, schemaName: "narrative" };
      const answered = await model.ask({ ...question, answerTokensMax, signal });
      const { answer, model: name, costUsd } = answered;
      return { model: name, promptSha256, costUsd: costUsd ?? null, paragraphs: answer.paragraphs };
    } catch (thrown) {
      return { ...unanswered, paragraphs: { none: `the model gave no text: ${messageOf(thrown)}` } };
    }
  };
