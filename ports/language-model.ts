// A language model that answers one question with text that matches a schema. It is asked by the risk officer's gate and by whoever
// writes narratives; nothing it says is an instruction to us.
//
// What every adapter promises (testkit/conformance/language-model.ts):
//  1. It gives up when the signal aborts, and within its own bound in any case, with a Fault (MODEL_UNAVAILABLE).
//  2. What it returns matched the schema; anything else is a Fault (MODEL_UNREADABLE).
//  3. Keys and prompts are in no error and no log.
import type { Schema } from "../contracts/src/schema.ts";

export interface ModelQuestion<Answer> {
  /** Who the model is to be. */
  readonly system: string;
  /** The data, as text. */
  readonly prompt: string;
  readonly schema: Schema<Answer>;
  readonly schemaName: string;
  readonly answerTokensMax: number;
  readonly signal: AbortSignal;
}

interface ModelAnswer<Answer> {
  readonly answer: Answer;
  readonly model: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Decimal text in USD from the configured prices; undefined when those or the counts are unknown. */
  readonly costUsd: string | undefined;
}

export interface LanguageModel {
  readonly model: string;
  ask<Answer>(question: ModelQuestion<Answer>): Promise<ModelAnswer<Answer>>;
}
