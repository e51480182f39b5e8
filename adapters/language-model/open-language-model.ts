// A language model of any provider through one library. The provider's package is loaded only when it is the configured one.
import type { LanguageModel as ProviderModel } from "ai";
import { Fault } from "../../contracts/src/fault.ts";
import type { LanguageModel } from "../../ports/language-model.ts";
import type { Timers } from "../../ports/timers.ts";
import { modelCost } from "./model-cost.ts";

export interface LanguageModelSettings {
  readonly provider: "none" | "openai" | "anthropic" | "google" | "openai_compatible";
  readonly model?: string | undefined;
  readonly base_url?: string | undefined;
  readonly api_key?: string | undefined;
  readonly input_usd_per_million?: number | undefined;
  readonly output_usd_per_million?: number | undefined;
  readonly timeout_ms_max: number;
}

/** Undefined when none is configured. */
export async function openLanguageModel(
  settings: LanguageModelSettings,
  timers: Timers,
): Promise<LanguageModel | undefined> {
  if (settings.provider === "none") return undefined;
  const name = settings.model;
  if (name === undefined) throw incomplete("language_model.model is missing");
  const model = await providerModel(settings, name);
  const { generateText, NoObjectGeneratedError, Output } = await import("ai");
  return {
    model: name,
    async ask(question) {
      const late = new AbortController();
      const cancel = timers.after(settings.timeout_ms_max, () => late.abort());
      try {
        const result = await generateText({
          model,
          system: question.system,
          prompt: question.prompt,
          output: Output.object({ schema: question.schema, name: question.schemaName }),
          maxOutputTokens: question.answerTokensMax,
          // A second try would take the time of the order that waits; whoever asks decides what silence means.
          maxRetries: 0,
          temperature: 0,
          abortSignal: AbortSignal.any([question.signal, late.signal]),
        });
        const { inputTokens, outputTokens } = result.usage;
        const costUsd = modelCost(settings, inputTokens, outputTokens);
        return { answer: result.output, model: result.response.modelId, inputTokens, outputTokens, costUsd };
      } catch (thrown) {
        // What a provider says may repeat the prompt or the key, so none of it goes further.
        if (NoObjectGeneratedError.isInstance(thrown)) {
          throw new Fault("MODEL_UNREADABLE", `${name} answered in another form than was agreed.`, { retry: "later" });
        }
        const why = question.signal.aborted || late.signal.aborted ? "was not waited for any longer" : statusOf(thrown);
        throw new Fault("MODEL_UNAVAILABLE", `${name} ${why}.`, { retry: "later" });
      } finally {
        cancel();
      }
    },
  };
}

function statusOf(thrown: unknown): string {
  const status =
    typeof thrown === "object" && thrown !== null && "statusCode" in thrown ? thrown.statusCode : undefined;
  return typeof status === "number" ? `answered with HTTP status ${status}` : "could not be reached";
}

async function providerModel(settings: LanguageModelSettings, name: string): Promise<ProviderModel> {
  const { base_url, api_key } = settings;
  const common = {
    ...(base_url === undefined ? {} : { baseURL: base_url }),
    ...(api_key === undefined ? {} : { apiKey: api_key }),
  };
  switch (settings.provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(common)(name);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(common)(name);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI(common)(name);
    }
    default: {
      if (base_url === undefined) throw incomplete("language_model.base_url is missing");
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const made = createOpenAICompatible({
        ...common,
        baseURL: base_url,
        name: "openai_compatible",
        supportsStructuredOutputs: true,
      });
      return made(name);
    }
  }
}

function incomplete(what: string): Fault {
  return new Fault("CONFIGURATION_INVALID", `The language model is not configured completely: ${what}.`, {
    retry: "never",
  });
}
