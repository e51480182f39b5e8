// The section `language_model` of the configuration: whom the risk officer's gate asks, and who writes the words of post-mortems. Absent means that nobody can be asked.
import { z } from "zod";
import { key } from "./key-facts.ts";
import { clearText, section, text, usd, whole } from "./key-forms.ts";
import { isHttpUrl } from "./value-forms.ts";

export const languageModel = section({
  provider: key(z.enum(["none", "openai", "anthropic", "google", "openai_compatible"]).default("none"), {
    sentence:
      "Whose language model the risk officer's gate asks, and writes the words of post-mortems that the platform makes.",
    environment: "PORTCULLIS_LANGUAGE_MODEL_PROVIDER",
  }),
  model: key(text().optional(), {
    sentence: "The model's name, as its provider has it.",
    environment: "PORTCULLIS_LANGUAGE_MODEL",
    expected: "text of 1 to 1024 characters",
    whenAbsent: "none; needed with a provider",
  }),
  base_url: key(z.string().refine(isHttpUrl).optional(), {
    sentence: "Where the provider answers; needed for `openai_compatible`, for example a model of your own.",
    environment: "PORTCULLIS_LANGUAGE_MODEL_URL",
    expected: "a URL such as http://127.0.0.1:11434/v1",
    whenAbsent: "the provider's own address",
  }),
  insecure: clearText("a model", "PORTCULLIS_LANGUAGE_MODEL_INSECURE"),
  api_key: key(text().optional(), {
    sentence: "The key for it.",
    environment: "PORTCULLIS_LANGUAGE_MODEL_KEY",
    secrecy: "whole",
    expected: "text of 1 to 1024 characters",
    whenAbsent: "none",
  }),
  input_usd_per_million: key(usd().optional(), {
    sentence: "What a million tokens of input cost, in USD, for the record of each question.",
    whenAbsent: "costs are not computed",
  }),
  output_usd_per_million: key(usd().optional(), {
    sentence: "What a million tokens of output cost, in USD.",
    whenAbsent: "costs are not computed",
  }),
  timeout_ms_max: key(whole(100, 60_000).default(30_000), {
    sentence: "How long any question may take, whatever a fund's own bound is, in milliseconds.",
  }),
});
