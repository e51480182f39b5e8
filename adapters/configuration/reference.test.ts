// docs/configuration.md says what the schema says, and its example is a valid configuration.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withKeyTable } from "../../scripts/documents/configuration.ts";
import { complaintLine } from "./complaint.ts";
import { loadConfiguration } from "./load-configuration.ts";
import { namedKeys } from "./schema-tree.ts";

const path = new URL("../../docs/configuration.md", import.meta.url);

it("the table of keys is fresh", () => {
  const document = readFileSync(path, "utf8");
  expect(document, "`npm run gen` writes it anew").toBe(withKeyTable(document));
});

it("every key has a sentence", () => {
  for (const { path, node } of namedKeys) expect(node.facts?.sentence, path).toMatch(/\.$/);
});

it("the example is valid", () => {
  const example = /<!-- example.*?```yaml\n(.*?)```/s.exec(readFileSync(path, "utf8"))?.[1] ?? "";
  expect(example).toContain("funds:");
  const loaded = loadConfiguration({ environment: { PORTCULLIS_CONFIG: "x.yaml" }, readFile: () => example });
  expect(loaded.ok ? [] : loaded.complaints.map(complaintLine)).toEqual([]);
});
