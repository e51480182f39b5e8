// `ctl treasury reference set`: replaces one kind of reference data by what a file says. It sends the current version plus 1, so that two people
// cannot overwrite each other unseen.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { canonicalText } from "../../../contracts/src/text/canonical-text.ts";
import type { Client } from "../../client/src/types.ts";
import { isApiError, usageRefusal } from "../failure.ts";
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { kindOf, kindOption } from "../reference-kinds.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryReferenceSet: Verb = {
  name: "treasury reference set",
  heading: "Reference data",
  sentence: "Replace one kind of reference data by what a file says.",
  about:
    "The file is JSON: the list that `reference show` prints, or its whole document. What is not in it is gone afterwards. A change that loosens (docs/authority.md says which) asks for your second factor (exit 5 without).",
  arguments: [],
  options: [
    kindOption,
    { name: "file", value: "PATH", required: true, sentence: "The file with the new content." },
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    {
      command: "ctl treasury reference set --kind restricted --file restricted.json --reason earnings",
      sentence: "A longer restricted list.",
    },
    {
      command: "ctl treasury reference set --kind fx --file fx.json --reason fixing --totp 123456",
      sentence: "New rates, which loosen.",
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
  const after = await set(context, client, { kind, version: before.version + 1, content, ...reasonOf(context) });
  const counts = `${after.content.length} records, ${before.content.length} before`;
  return { data: after, text: `${kind} is at version ${after.version} (${counts}).` };
}

type Change = Parameters<Client["setReferenceData"]>[0];

/** The server says whether a code is needed, so that one is asked for only when nothing else stands in the way. */
async function set(context: Context, client: Client, change: Change) {
  try {
    return await client.setReferenceData(change);
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.code !== "STEP_UP_REQUIRED") throw thrown;
    const isGiven = context.option("totp") !== undefined || context.option("recovery-code") !== undefined;
    if (!isGiven && !context.terminal.interactive) throw thrown;
    if (thrown.detail !== undefined) context.terminal.say(clean(thrown.detail));
    const { kind, version, content, reason = "" } = change;
    const hash = createHash("sha256").update(canonicalText(content)).digest("hex");
    const parameters = { kind, version, hash, reason: reason.trim() };
    const proof = await stepUpProof(context, client, { action: "SetReferenceData", parameters });
    return client.setReferenceData({ ...change, stepUpProof: proof });
  }
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
