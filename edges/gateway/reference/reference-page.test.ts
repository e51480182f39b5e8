// The reference for people: every operation with its curl line, nothing that a browser would run, and nothing of the documents as markup.
import { describe, expect, it } from "vitest";
import { atOnce } from "../../../contracts/src/bounds/at-once.ts";
import { curlLine, type ReferenceDocument, type ReferenceOperation, referencePage } from "./reference-page.ts";

const document: ReferenceDocument = {
  info: { title: "A <b>title</b>", version: "0.1.0" },
  tags: [{ name: "market data", description: "Prices & more." }],
  paths: {
    "/v1/quotes/{symbol}": {
      get: {
        operationId: "getQuote",
        tags: ["market data"],
        summary: "Get <the> price.",
        description: "ReadMarketData: Get <the> price. Anyone may.",
        security: [],
        parameters: [
          { in: "path", name: "symbol", required: true, schema: { type: "string" }, example: "BTC USD" },
          { in: "query", name: "interval", schema: { type: "string", enum: ["1m", "5m"] }, example: "1m" },
        ],
        responses: { 200: { content: { "application/json": { example: { bid: "<1>" } } } } },
      },
      post: {
        operationId: "setQuote",
        tags: ["market data"],
        deprecated: true,
        security: [{ bearer: [] }],
        parameters: [{ in: "path", name: "symbol", required: true, schema: { type: "string" }, example: "A" }],
        requestBody: {
          content: {
            "application/json": { schema: { $ref: "#/components/schemas/Body" }, example: { reason: "it's" } },
          },
        },
        responses: { 200: { content: { "text/event-stream": {} } } },
      },
      put: { operationId: "elsewhere", tags: ["market data"], servers: [{}], responses: {} },
    },
  },
  components: {
    schemas: { Body: { properties: { reason: { type: "string", description: "Why." } }, required: ["reason"] } },
  },
};

describe("the reference", () => {
  const page = atOnce(referencePage(document, "http://127.0.0.1:8081"));

  it("has every operation of its own listener, its parameters and its fields", () => {
    expect(page).toContain('id="getQuote"');
    expect(page).toContain('<span class="deprecated">deprecated</span>');
    expect(page).toContain("1m | 5m");
    expect(page).toContain("Why.");
    expect(page).not.toContain("elsewhere");
  });

  it("says once what every change takes, and lists a chapter's operations where there are several", () => {
    const key = { in: "header", name: "Idempotency-Key", schema: { type: "string" }, description: "A name." };
    const many = Object.fromEntries(
      ["a", "b", "c"].map((name) => [
        `/v1/${name}`,
        {
          post: {
            operationId: name,
            tags: ["market data"],
            summary: `Does ${name}.`,
            security: [{ bearer: [] }],
            parameters: [key],
            responses: {},
          },
        },
      ]),
    );
    const shown = atOnce(referencePage({ ...document, paths: many }, "http://h"));
    expect(shown.match(/Idempotency-Key/g)).toHaveLength(1);
    expect(shown).toMatch(/<li><a href="#b">.*?Does b\./);
    expect(page).not.toContain('class="contents"');
    expect(page).not.toContain("/v1/stream");
    const [getOnly] = [{ get: document.paths["/v1/quotes/{symbol}"]?.["get"] as ReferenceOperation }];
    const open = atOnce(referencePage({ ...document, paths: { "/v1/quotes/{symbol}": getOnly } }, "http://h"));
    expect(open).toContain("ws://h/v1/stream");
  });

  it("shows what documents say as text, and runs nothing", () => {
    expect(page).toContain("A &lt;b&gt;title&lt;/b&gt;");
    expect(page).not.toMatch(/<script|style=|\son\w+=|https?:\/\/(?!127\.0\.0\.1)/);
  });

  it("writes curl lines that a shell takes as they are", () => {
    const at = (method: "get" | "post") => ({
      method: method.toUpperCase(),
      path: "/v1/quotes/{symbol}",
      // biome-ignore lint/style/noNonNullAssertion: both stand above.
      operation: document.paths["/v1/quotes/{symbol}"]![method]!,
    });
    expect(curlLine(at("get"), "http://h")).toBe("curl -sS 'http://h/v1/quotes/BTC%20USD?interval=1m'");
    expect(curlLine(at("post"), "http://h")).toBe(
      `curl -sS -N --max-time 2 -X POST -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"reason":"it'\\''s"}' 'http://h/v1/quotes/A'`,
    );
  });
});
