// `ctl treasury reference set`: replaces one kind of reference data by what a file says. It sends the current version plus 1, so that two people
// cannot overwrite each other unseen.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { canonicalText } from "../../../contracts/src/text/canonical-text.ts";
import type { Client } from "../../client/src/types.ts";
import { isApiError, usageRefusal } from "../failure.ts";
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { kindOf, kindOption } from "../reference-kinds.ts";
import { type Column, listing } from "../text/listing.ts";
import { withPreview } from "../text/preview-text.ts";
import { clean, moment } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

/** None is needed to sign. */
const { required: _required, ...kindWhenSetting } = kindOption;

export const treasuryReferenceSet: Verb = {
  name: "treasury reference set",
  heading: "Reference data",
  sentence: "Replace one kind of reference data by what a file says.",
  about:
    "The file is JSON: the list that `reference show` prints, or its whole document. What is not in it is gone afterwards. A change that loosens (docs/authority.md says which) asks for your second factor (exit 5 without). While a halt covers the fund it waits for a second person (exit 8), who signs it with --cosign within 15 minutes.",
  arguments: [],
  options: [
    kindWhenSetting,
    { name: "file", value: "PATH", sentence: "The file with the new content." },
    {
      name: "dry-run",
      sentence: "Only show what would change, and what that makes of limits and headroom. Nothing changes.",
    },
    { name: "cosign", value: "REQUEST_ID", sentence: "Sign somebody else's request instead." },
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
    {
      command: "ctl treasury reference set --kind borrow --file borrow.json --dry-run",
      sentence: "See it first.",
    },
    {
      command: "ctl treasury reference set --cosign 5f0c1c2e-7a8b-4c3d-9e10-0123456789ab --totp 123456",
      sentence: "Sign it during a halt, as somebody else.",
    },
  ],
  operation: "SetReferenceData",
  changesState: true,
  run: (context) => {
    const requestId = context.option("cosign");
    return requestId === undefined ? replace(context) : sign(context, requestId);
  },
};

type Content = Record<string, unknown>[];

async function replace(context: Context): Promise<Answer> {
  if (context.option(kindOption.name) === undefined)
    throw usageRefusal("--kind is missing.", "Say which kind, or give --cosign.");
  const kind = kindOf(context);
  const file = context.option("file");
  if (file === undefined) throw usageRefusal("--file is missing.", "Give the file with the new content, or --cosign.");
  const content = await contentOf(resolve(context.folder, file), kind);
  const client = await context.client();
  const before = await client.getReferenceData({ kind });
  if (context.switched("dry-run")) {
    return dryRun(context, await client.setReferenceData({ kind, version: before.version + 1, content, dryRun: true }));
  }
  const after = await set(context, client, { kind, version: before.version + 1, content, ...reasonOf(context) });
  if (after.pending === true) return waiting(context, after);
  const counts = `${after.content.length} records, ${before.content.length} before`;
  return { data: after, text: `${kind} is at version ${after.version} (${counts}).` };
}

type Document = Awaited<ReturnType<Client["setReferenceData"]>>;
type FieldChange = NonNullable<Document["would_change"]>["changes"][number];

const changeColumns: readonly Column<FieldChange>[] = [
  { name: "field", key: true, of: ({ field }) => field },
  { name: "before", key: true, text: true, of: ({ before }) => before },
  { name: "after", key: true, text: true, of: ({ after }) => after },
  { name: "effect", always: true, of: ({ effect }) => effect },
];

async function dryRun(context: Context, document: Document): Promise<Answer> {
  const { kind, version, would_change: would } = document;
  const takes = [
    ...(would?.takes_second_factor === true ? ["It loosens: it takes a reason and your second factor."] : []),
    ...(would?.takes_second_person === true ? ["A halt is in force: somebody else must sign it, too."] : []),
  ];
  const answer = await listing(context, {
    columns: changeColumns,
    rows: would?.changes ?? [],
    none: "Nothing would change.",
    data: document,
    lead: [`Version ${version} of ${kind} would change this. Nothing was changed.`, ...takes].join("\n"),
  });
  return withPreview(context, answer, would?.preview, would?.preview_missing);
}

function waiting(context: Context, asked: Document): Answer {
  const until = asked.expires_at === undefined ? "" : ` until ${moment(asked.expires_at, context.clock.now())}`;
  return {
    data: asked,
    text: `Nothing has changed yet: a halt is in force, so somebody else must sign request ${clean(asked.request_id ?? "")}${until}.`,
    exit: exitCodes.pending,
    next: [`Somebody else: ctl treasury reference set --cosign ${clean(asked.request_id ?? "")} --totp CODE`],
  };
}

/** What is signed is the server's to say, before a code is asked for. */
async function sign(context: Context, requestId: string): Promise<Answer> {
  if (context.option("file") !== undefined) throw usageRefusal("Give --file or --cosign, not both.");
  const client = await context.client();
  const named = { action: "CosignReferenceData", parameters: { request_id: requestId } } as const;
  const done = await provenCall(context, client, named, (proof) =>
    client.cosignReferenceData({ requestId, ...(proof === undefined ? {} : { stepUpProof: proof }) }),
  );
  return { data: done, text: `${done.kind} is at version ${done.version}, signed by you.` };
}

type Named = Parameters<typeof stepUpProof>[2];

/** The server says whether a code is needed, so that one is asked for only when nothing else stands in the way. */
async function provenCall<Done>(
  context: Context,
  client: Client,
  named: Named,
  call: (proof?: string) => Promise<Done>,
): Promise<Done> {
  try {
    return await call();
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.code !== "STEP_UP_REQUIRED") throw thrown;
    const isGiven = context.option("totp") !== undefined || context.option("recovery-code") !== undefined;
    if (!isGiven && !context.terminal.interactive) throw thrown;
    if (thrown.detail !== undefined) context.terminal.say(clean(thrown.detail));
    return call(await stepUpProof(context, client, named));
  }
}

type Change = Parameters<Client["setReferenceData"]>[0];

function set(context: Context, client: Client, change: Change): Promise<Document> {
  const { kind, version, content, reason = "" } = change;
  const hash = createHash("sha256").update(canonicalText(content)).digest("hex");
  const parameters = { kind, version, hash, reason: reason.trim() };
  return provenCall(context, client, { action: "SetReferenceData", parameters }, (proof) =>
    client.setReferenceData({ ...change, ...(proof === undefined ? {} : { stepUpProof: proof }) }),
  );
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
