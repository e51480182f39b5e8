// Whether identity and the language model answer, asked of servers of our own: every way they can answer, and nothing of the key in a complaint.
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Health } from "../../ports/health.ts";
import type { Upstream } from "../../ports/upstream.ts";
import { identityUpstream } from "./identity-upstream.ts";
import { modelUpstream } from "./model-upstream.ts";

const key = "sk-very-secret";
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Asked {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

async function serve(status: number | "silence") {
  const asked: Asked[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push({ path: url, headers });
    if (status !== "silence") response.writeHead(status).end("{}");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const health = async (one: Upstream | undefined, signal = AbortSignal.timeout(20_000)): Promise<Health> =>
  one === undefined
    ? { status: "failing", complaint: "there is none" }
    : one.ask(signal).catch((thrown: unknown) => ({ status: "failing", complaint: messageOf(thrown) }));

const modelAt = (base_url: string, provider: "openai" | "anthropic" | "google" | "openai_compatible", api_key = key) =>
  modelUpstream({ provider, model: "local", base_url, api_key, timeout_ms_max: 1_000 });

describe("the language model as an upstream", () => {
  it("is none when none is configured", () => {
    expect(modelUpstream({ provider: "none", timeout_ms_max: 1_000 })).toBeUndefined();
  });

  it.each([
    ["openai", { authorization: `Bearer ${key}` }],
    ["openai_compatible", { authorization: `Bearer ${key}` }],
    ["anthropic", { "x-api-key": key, "anthropic-version": "2023-06-01" }],
    ["google", { "x-goog-api-key": key }],
  ] as const)("of %s is asked for its models with the key where it belongs", async (provider, headers) => {
    const { url, asked } = await serve(200);
    expect(await health(modelAt(`${url}/v1/`, provider))).toEqual({ status: "ok" });
    expect(asked).toEqual([{ path: "/v1/models", headers: expect.objectContaining(headers) }]);
  });

  it.each([
    [404, { status: "ok" }],
    [401, { status: "failing", complaint: "It refuses our key (status 401)." }],
    [429, { status: "failing", complaint: "It was asked too often (status 429)." }],
    [503, { status: "failing", complaint: "It answers with status 503." }],
  ] as const)("that answers with %i is read so", async (status, expected) => {
    const { url } = await serve(status);
    expect(await health(modelAt(url, "openai_compatible"))).toEqual(expected);
  });

  it("that wants a key where we have none answers all the same", async () => {
    const { url } = await serve(401);
    const none = modelUpstream({ provider: "openai_compatible", model: "local", base_url: url, timeout_ms_max: 1_000 });
    expect(await health(none)).toEqual({ status: "ok" });
  });

  it("that nobody reaches, or that is silent, fails without the key", async () => {
    const { url } = await serve("silence");
    const silent = await health(modelAt(url, "openai"), AbortSignal.timeout(50));
    expect(silent).toEqual({ status: "failing", complaint: "It did not answer in time." });
    const nobody = await health(modelAt("http://127.0.0.1:1", "openai"));
    expect(nobody.status).toBe("failing");
    expect(JSON.stringify([silent, nobody])).not.toContain(key);
  });
});

describe("identity as an upstream", () => {
  const verifier = (own: Health) => ({ health: () => own });

  it("with the embedded provider is what this process knows of who may call", async () => {
    const wrong: Health = { status: "failing", complaint: "the store does not answer" };
    expect(await health(identityUpstream({ verifier: verifier(wrong), issuer: undefined }))).toEqual(wrong);
    expect(await health(identityUpstream({ verifier: verifier({ status: "ok" }), issuer: undefined }))).toEqual({
      status: "ok",
    });
  });

  it("with an issuer of the user's own is also whether that answers now, though its keys are still good", async () => {
    const [well, ill] = [await serve(200), await serve(502)];
    const of = (issuer: string) => identityUpstream({ verifier: verifier({ status: "ok" }), issuer });
    expect(await health(of(`${well.url}/realm`))).toEqual({ status: "ok" });
    expect(well.asked[0]?.path).toBe("/realm/.well-known/openid-configuration");
    expect(await health(of(ill.url))).toEqual({
      status: "failing",
      complaint: `The issuer ${ill.url} answers with status 502.`,
    });
    expect((await health(of("http://127.0.0.1:1"))).status).toBe("failing");
  });
});
