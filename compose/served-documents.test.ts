// What is given out about the interfaces is what the generator wrote, and nobody waits for the whole of its making.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemTimers } from "../adapters/system/timers.ts";
import { servedDocuments } from "./served-documents.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly servers?: readonly object[] }>>>>;
}

const committed = (path: string): Document =>
  JSON.parse(readFileSync(join(import.meta.dirname, "..", path), "utf8")) as Document;

function served() {
  let turns = 0;
  const timers = {
    soon: (run: () => void): void => {
      turns += 1;
      systemTimers().soon(run);
    },
  };
  const documents = servedDocuments({ timers, publicUrl: () => "http://127.0.0.1:8081" });
  return { documents, turns: () => turns };
}

test("OpenAPI is what is committed, and says where what only the public listener serves is", async () => {
  const { documents, turns } = served();
  const [own, open] = [committed("edges/client/openapi.json"), committed("edges/client/openapi.public.json")];
  const both = (await documents.openApi()) as Document;
  expect(Object.keys(both.paths)).toEqual([...new Set([...Object.keys(own.paths), ...Object.keys(open.paths)])].sort());
  for (const [path, methods] of Object.entries(both.paths)) {
    const servers = Object.values(methods).flatMap((operation) => operation.servers ?? []);
    const isOther = own.paths[path] === undefined;
    expect([path, servers.length > 0], path).toEqual([path, isOther]);
    if (!isOther) expect(methods).toEqual(own.paths[path]);
  }
  // Reading each of the two and putting them together are turns of their own.
  expect(turns()).toBeGreaterThanOrEqual(2);
});

test("the public listener's own document and AsyncAPI are what is committed", async () => {
  const { documents } = served();
  expect(await documents.publicOpenApi()).toEqual(committed("edges/client/openapi.public.json"));
  expect(await documents.asyncApi()).toEqual(committed("contracts/asyncapi.json"));
});
