// What a language model is asked for the words of a post-mortem, and what becomes of an answer and of none.
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import type { LanguageModel, ModelQuestion } from "../../../ports/language-model.ts";
import { narratorBy } from "./narrator.ts";

const facts = [
  { id: "F1", text: "The loss was -12.50 USD." },
  { id: "F2", text: "It began at 2026-11-18T10:00:00Z." },
];
const paragraphs = [{ text: "The loss was -12.50 USD.", facts: ["F1"] }];
const signal = new AbortController().signal;

function modelThat(answer: () => unknown): { model: LanguageModel; asked: ModelQuestion<unknown>[] } {
  const asked: ModelQuestion<unknown>[] = [];
  const model: LanguageModel = {
    model: "configured",
    async ask(question) {
      asked.push(question as ModelQuestion<unknown>);
      const found = question.schema.parse(await answer());
      return { answer: found, model: "answering", inputTokens: 9, outputTokens: 9, costUsd: "0.0012" };
    },
  };
  return { model, asked };
}

it("is handed numbered facts and nothing else, and its answer says who gave it, to what and for how much", async () => {
  const { model, asked } = modelThat(() => ({ paragraphs }));
  const written = await narratorBy(model)(facts, signal);
  const [question] = asked;
  expect(question?.prompt).toBe("F1: The loss was -12.50 USD.\nF2: It began at 2026-11-18T10:00:00Z.");
  const promptSha256 = createHash("sha256").update(`${question?.system}\n${question?.prompt}`).digest("hex");
  expect(written).toEqual({ model: "answering", promptSha256, costUsd: "0.0012", paragraphs });
});

it("that does not answer leaves its reason, and one is not asked about what are no facts", async () => {
  const { model } = modelThat(() =>
    Promise.reject(new Fault("MODEL_UNAVAILABLE", "m fell silent.", { retry: "later" })),
  );
  expect(await narratorBy(model)(facts, signal)).toMatchObject({
    model: "configured",
    costUsd: null,
    paragraphs: { none: "the model gave no text: m fell silent." },
  });
  const { model: unasked, asked } = modelThat(() => ({ paragraphs }));
  const none = await narratorBy(unasked)([{ id: "F1", text: "x".repeat(1_000) }], signal);
  expect([asked.length, none.paragraphs]).toEqual([0, { none: "the model was not asked: there were no facts" }]);
});
