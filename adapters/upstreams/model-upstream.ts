// The language model as something that the platform needs: its provider's list of models is asked for, which costs no tokens and shows that the key is
// accepted. A server without such a list answers that there is none, and answers.
import type { Upstream } from "../../ports/upstream.ts";
import type { LanguageModelSettings } from "../language-model/open-language-model.ts";
import { httpStatus } from "./http-status.ts";

type Provider = Exclude<LanguageModelSettings["provider"], "none">;

const addresses: Readonly<Record<Provider, string | undefined>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  openai_compatible: undefined,
};

const refused: readonly number[] = [401, 403];
const tooMany = 429;
const failed = 500;

/** Undefined when none is configured. */
export function modelUpstream({ provider, base_url, api_key }: LanguageModelSettings): Upstream | undefined {
  const address = provider === "none" ? undefined : (base_url ?? addresses[provider]);
  if (provider === "none" || address === undefined) return undefined;
  const url = `${address.replace(/\/$/, "")}/models`;
  const headers = api_key === undefined ? {} : keyHeaders(provider, api_key);
  return {
    name: "model",
    async ask(signal) {
      const status = await httpStatus({ url, headers, signal });
      if (refused.includes(status) && api_key !== undefined) return failing(`It refuses our key (status ${status}).`);
      if (status === tooMany) return failing("It was asked too often (status 429).");
      return status < failed ? { status: "ok" } : failing(`It answers with status ${status}.`);
    },
  };
}

const failing = (complaint: string) => ({ status: "failing", complaint }) as const;

function keyHeaders(provider: Provider, key: string): Readonly<Record<string, string>> {
  if (provider === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  return provider === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}
