// `ctl treasury reference set`: replaces one kind of reference data by what a file says. It sends the current version plus 1, so that two people
// cannot overwrite each other unseen.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { usageRefusal } from "../failure.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { kindOf, kindOption } from "../reference-kinds.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryReferenceSet: Verb = {
  name: "treasury reference set",
  heading: "Reference data",
  sentence: "Replace one kind of reference data by what a file says.",
  about:
    "The file is JSON: the list that `reference show` prints, or its whole document. What is not in it is gone afterwards.",
  arguments: [],
  options: [
    kindOption,
    { name: "file", value: "PATH", required: true, sentence: "The file with the new content." },
    reasonOption,
  ],
  examples: [
    {
      command: "ctl treasury reference set --kind restricted --file restricted.json --reason earnings",
      sentence: "A new restricted list.",
    },
  ],
  operation: "SetReferenceData",
  changesState: true,
  run,
};

type Content = Record<string, unknown>[];

async function run(context: Context): Promise<Answer> {
  const kind = kindOf(context);
  const content = await contentOf(resolve(context.folder, context.option("file") ?? ""), kind);
  const client = await context.client();
  const before = await client.getReferenceData({ kind });
  const after = await client.setReferenceData({ kind, version: before.version + 1, content, ...reasonOf(context) });
  const counts = `${after.content.length} records, ${before.content.length} before`;
  return { data: after, text: `${kind} is at version ${after.version} (${counts}).` };
}

async function contentOf(path: string, kind: string): Promise<Content> {
  let read: unknown;
  try {
    read = parseJson(await readFile(path, "utf8"));
  } catch (thrown) {
    throw usageRefusal(`${path} cannot be read as JSON: ${messageOf(thrown)}.`);
  }
  if (isDocument(read)) {
    if (read.kind !== undefined && read.kind !== kind) {
      throw usageRefusal(`${path} has ${String(read.kind)}, and --kind says ${kind}.`);
    }
    read = read.content;
  }
  if (!Array.isArray(read)) {
    throw usageRefusal(
      `${path} has no list of records.`,
      "`ctl treasury reference show` prints one in the right form.",
    );
  }
  return read as Content;
}

function isDocument(value: unknown): value is { readonly kind?: unknown; readonly content: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "content" in value;
}
