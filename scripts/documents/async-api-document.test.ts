// The AsyncAPI document: valid by the project's own schema, and true to the subjects.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { streamFrames } from "../../contracts/src/stream-frames.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { asyncApiDocument, type Frames } from "./async-api-document.ts";

const require = createRequire(import.meta.url);
const meta = JSON.parse(readFileSync(require.resolve("@asyncapi/specs/schemas/3.0.0-without-$id.json"), "utf8"));

interface Document {
  readonly channels: Readonly<
    Record<
      string,
      { readonly address: string; readonly messages: Readonly<Record<string, { readonly payload: object }>> }
    >
  >;
  readonly operations: Readonly<Record<string, { readonly action: string }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

describe("the AsyncAPI document", () => {
  // One compiler of the big schema for both documents.
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(meta);
  const complaints = (document: object): readonly string[] => {
    validate(document);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };

  it("is valid, and would not be with a mistake in it", { timeout: 60_000 }, () => {
    const document = asyncApiDocument(streamFrames);
    expect(complaints(document)).toEqual([]);
    expect(complaints({ ...document, operations: { odd: { action: "shout" } } })).not.toEqual([]);
  });

  it("has a channel for every subject, whose payload refers to nothing that is missing", () => {
    const { channels, components } = asyncApiDocument(streamFrames) as Document;
    for (const { name } of Object.values(subjects)) expect(channels[name]?.address).toBe(name);
    const references = JSON.stringify(channels).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name = ""] of references) expect(Object.keys(components.schemas)).toContain(name);
    expect(JSON.stringify(channels)).not.toContain("#/definitions/");
  });

  it("describes the frames of a stream, by who sends them", () => {
    const frames: Frames = {
      sent: [{ name: "welcome", sentence: "Hello.", schema: z.object({ type: z.literal("welcome") }) }],
      received: [{ name: "subscribe", sentence: "Follow.", schema: z.object({ type: z.literal("subscribe") }) }],
    };
    const { channels, operations } = asyncApiDocument(frames) as Document;
    expect(Object.keys(channels["stream"]?.messages ?? {})).toEqual(["welcome", "subscribe"]);
    expect(operations).toMatchObject({ "send.stream": { action: "send" }, "receive.stream": { action: "receive" } });
  });
});
