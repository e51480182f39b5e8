// A language model behind an endpoint of our own: every way it can answer, and none of what it must not tell.
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { type ModelReply, type ModelServer, startModelServer } from "../../testkit/model-server.ts";
import { systemTimers } from "../system/timers.ts";
import { openLanguageModel } from "./open-language-model.ts";

const schema = z.object({ verdict: z.enum(["PASS", "VETO"]), reason: z.string() });
const key = "sk-very-secret";
let server: ModelServer | undefined;
afterEach(async () => server?.close());

async function ask(reply: ModelReply, options: { readonly waitMs?: number; readonly timeoutMs?: number } = {}) {
  server = await startModelServer(() => reply);
  const model = await openLanguageModel(
    {
      provider: "openai_compatible",
      model: "local-model",
      base_url: server.url,
      api_key: key,
      input_usd_per_million: 3,
      output_usd_per_million: 15,
      timeout_ms_max: options.timeoutMs ?? 5_000,
    },
    systemTimers(),
  );
  const signal = AbortSignal.timeout(options.waitMs ?? 5_000);
  return model?.ask({
    system: "You are careful.",
    prompt: "{}",
    schema,
    schemaName: "verdict",
    answerTokensMax: 100,
    signal,
  });
}

const verdict = JSON.stringify({ verdict: "VETO", reason: "too large" });

describe("a language model", () => {
  it("answers in the agreed form, with what it cost to the last digit", async () => {
    expect(await ask(verdict)).toEqual({
      answer: { verdict: "VETO", reason: "too large" },
      model: "local-model",
      inputTokens: 1_000,
      outputTokens: 50,
      costUsd: "0.00375",
    });
    expect(server?.requests[0]?.authorization).toBe(`Bearer ${key}`);
    expect(server?.requests).toHaveLength(1);
  });

  it.each([
    ["no JSON", "I think it is fine.", "MODEL_UNREADABLE"],
    ["another verdict", '{"verdict":"MAYBE","reason":""}', "MODEL_UNREADABLE"],
    ["a refusal", 401, "MODEL_UNAVAILABLE"],
    ["a failure", 500, "MODEL_UNAVAILABLE"],
  ] as const)("that gives %s is a fault that repeats nothing", async (_name, reply, code) => {
    const thrown = await ask(reply).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Fault);
    expect(thrown).toMatchObject({ code });
    expect(messageOf(thrown)).not.toContain(key);
    expect(messageOf(thrown)).not.toContain("careful");
    expect(server?.requests).toHaveLength(1);
  });

  it.each([
    ["its caller's signal", { waitMs: 100 }],
    ["its own bound", { timeoutMs: 100 }],
  ])("that says nothing is given up by %s", async (_name, options) => {
    await expect(ask("silence", options)).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
  });

  it("is none when none is configured, and says what is missing when half is", async () => {
    const timers = systemTimers();
    expect(await openLanguageModel({ provider: "none", timeout_ms_max: 1 }, timers)).toBeUndefined();
    await expect(openLanguageModel({ provider: "openai", timeout_ms_max: 1 }, timers)).rejects.toThrow(
      "language_model.model",
    );
    const nowhere = { provider: "openai_compatible", model: "m", timeout_ms_max: 1 } as const;
    await expect(openLanguageModel(nowhere, timers)).rejects.toThrow("language_model.base_url");
  });

  it.each(["openai", "anthropic", "google"] as const)(
    "of %s can be opened without asking it anything",
    async (provider) => {
      const opened = await openLanguageModel({ provider, model: "m", api_key: key, timeout_ms_max: 1 }, systemTimers());
      expect(opened?.model).toBe("m");
    },
  );
});
