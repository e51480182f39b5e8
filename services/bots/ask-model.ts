// Answers the questions of a mind: the persona's instructions, form and bound are chosen here, the mind says the text alone. It counts what was spent.
import { Fault } from "../../contracts/src/fault.ts";
import { type Prices, promptsCostMost, tokenCost } from "../../core/bots/budget.ts";
import type { Material } from "../../core/bots/material.ts";
import type { Persona, Question } from "../../core/bots/personas.ts";
import { promptBytesMax } from "../../core/bots/prompts.ts";
import type { Sha256 } from "../../ports/hashing.ts";
import type { LanguageModel } from "../../ports/language-model.ts";

/** A model without prices is none: what it costs could not be held to a budget. */
export interface BotModel extends Prices {
  readonly model: LanguageModel;
}

export interface Spent {
  nano: bigint;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  model: string | undefined;
  promptSha256: string | undefined;
}

export function nothingSpent(): Spent {
  return { nano: 0n, inputTokens: undefined, outputTokens: undefined, model: undefined, promptSha256: undefined };
}

/** What providers add to a text: the form of the answer and a frame of their own. */
const frameBytes = 4_000;
/** What a mind puts around its material. */
const noteBytes = 1_000;

/** The most that each question of a persona may hold, by what its mind is handed: it knows nothing else. The first of two names files without their content. */
export function promptBytes(persona: Persona, material: Material): readonly number[] {
  const whole = Math.min(promptBytesMax, bytesOf(JSON.stringify(material)) + noteBytes);
  if (material.persona !== "bug_fixer") return persona.questions.map(() => whole);
  const files = material.files.map(({ path }) => ({ path, content: "" }));
  return [Math.min(whole, bytesOf(JSON.stringify({ ...material, files })) + noteBytes), whole];
}

/** The most that all questions can cost. */
export function costMost(persona: Persona, model: BotModel | undefined, bytes: readonly number[]): bigint {
  if (model === undefined) return 0n;
  return promptsCostMost(
    model,
    persona.questions.map(({ instructions, answerTokensMax }, at) => ({
      bytes: (bytes[at] ?? promptBytesMax) + bytesOf(instructions) + frameBytes,
      answerTokensMax,
    })),
  );
}

export function createAsking(
  persona: Persona,
  { model, bytes }: { readonly model: BotModel | undefined; readonly bytes: readonly number[] },
  sha256: Sha256,
  signal: AbortSignal,
): { readonly spent: Spent; ask(text: string): Promise<unknown> } {
  const spent = nothingSpent();
  let asked = 0;
  return {
    spent,
    async ask(text) {
      const question = persona.questions[asked];
      const most = bytes[asked] ?? 0;
      asked += 1;
      // A longer text than its material allows for was not paid for.
      if (model === undefined || question === undefined || bytesOf(text) > most) return undefined;
      spent.promptSha256 = hex(sha256(`${spent.promptSha256 ?? ""}${question.instructions}\n${text}`));
      return askOnce(question, text, model, spent, signal);
    },
  };
}

/** What cannot be metered costs what it could have cost. */
async function askOnce(
  question: Question,
  text: string,
  model: BotModel,
  spent: Spent,
  signal: AbortSignal,
): Promise<unknown> {
  const { instructions, schema, schemaName, answerTokensMax } = question;
  const most = tokenCost(model, bytesOf(text) + bytesOf(instructions) + frameBytes, answerTokensMax);
  try {
    const said = await model.model.ask({
      system: instructions,
      prompt: text,
      schema,
      schemaName,
      answerTokensMax,
      signal,
    });
    const { inputTokens, outputTokens } = said;
    spent.model = said.model.slice(0, 200);
    spent.nano +=
      inputTokens === undefined || outputTokens === undefined ? most : tokenCost(model, inputTokens, outputTokens);
    spent.inputTokens = sum(spent.inputTokens, inputTokens);
    spent.outputTokens = sum(spent.outputTokens, outputTokens);
    return said.answer;
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    spent.nano += most;
    return undefined;
  }
}

function sum(before: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? before : (before ?? 0) + more;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
