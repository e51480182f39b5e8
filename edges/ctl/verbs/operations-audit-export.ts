// `ctl operations audit export`: a part of the audit chain as one file that verifies without us: the head of a bundle and its entries.
import { resolve } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { type WriteText, writeWhole } from "../audit/audit-file.ts";
import {
  brokenAt,
  entries,
  entryOf,
  type IntegrityError,
  logOf,
  logOption,
  orBrokenChain,
  pageSize,
  pagesOf,
  sizeOf,
} from "../audit/audit-pages.ts";
import { rangeOf } from "../audit/audit-range.ts";
import { type BundleCheck, type BundleHeader, checkBundle } from "../audit/bundle-check.ts";
import { Refusal, usageRefusal } from "../failure.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditExport: Verb = {
  name: "operations audit export",
  heading: "Handing out",
  sentence: "Write a part of the audit chain to a file that anybody can verify offline.",
  about:
    "The file appears when it is whole; one that is there is replaced. Without --count it reaches to the newest checkpoint. What is written is compared with that checkpoint: when it differs, nothing is written, and it ends with 10. With --log, what is there is written as it is: what is broken stays broken, a verifier of the file says where, and it ends with 10 as well.",
  arguments: [],
  options: [
    { name: "from-sequence", value: "N", standard: "0", sentence: "Begin with this entry." },
    { name: "count", value: "N", sentence: "How many entries." },
    {
      name: "from",
      value: "DATE",
      sentence: "Begin with the first entry of this date (UTC) or moment, instead of --from-sequence.",
    },
    {
      name: "to",
      value: "DATE",
      sentence: "End with the last entry of this date (UTC), or before this moment, instead of --count.",
    },
    { name: "out", value: "PATH", required: true, sentence: "The file to write." },
    logOption,
  ],
  examples: [
    { command: "ctl operations audit export --out audit.bundle", sentence: "All of it, for an auditor." },
    {
      command: "ctl operations audit export --from-sequence 5000 --count 1000 --out part.bundle",
      sentence: "A thousand entries.",
    },
    {
      command: "ctl operations audit export --from 2026-11-15 --to 2026-11-16 --out days.bundle",
      sentence: "Two days, both whole.",
    },
    { command: "ctl operations audit export --log 1 --out closed.bundle", sentence: "A log that was closed." },
  ],
  operation: "GetAuditBundleHead",
  changesState: false,
  run,
};

type Head = AnswerOf<"getAuditBundleHead">;

async function run(context: Context): Promise<Answer> {
  const path = resolve(context.folder, context.option("out") ?? "");
  const log = logOf(context);
  const client = await context.client();
  const { fromSequence, ...asked } = await rangeOf(context, client, log);
  if (asked.count !== undefined) mustReach(fromSequence, asked.count, await sizeOf(client, log));
  return orBrokenChain(async () => {
    const head = await client.getAuditBundleHead({ fromSequence, ...asked, ...log });
    const header = checkHead(head, fromSequence, asked.count);
    if (log.log !== undefined) return exportAsItIs({ context, client, head, header, path, log: log.log });
    await writeWhole(path, (write) => writeBundle(context, client, head, checkBundle(header), write));
    const data = { path, from_sequence: head.from_sequence, count: head.count };
    return { data, text: `${entries(head.count)} from sequence ${head.from_sequence} on are in ${clean(path)}.` };
  });
}

interface AsItIs {
  readonly context: Context;
  readonly client: Client;
  readonly head: Head;
  readonly header: BundleHeader;
  readonly path: string;
  readonly log: number;
}

/** A log that was closed is evidence: what is there is written, and what is wrong with it is said. */
async function exportAsItIs({ context, client, head, header, path, log }: AsItIs): Promise<Answer> {
  const check = checkBundle(header);
  const end = head.from_sequence + head.count;
  let error: IntegrityError | undefined;
  let count = 0;
  await writeWhole(path, async (write) => {
    await write(head.head);
    const progress = progressOf(context, head.count);
    for (let next = head.from_sequence; next < end; ) {
      const { texts } = await client.readAudit({ fromSequence: next, countMax: Math.min(pageSize, end - next), log });
      if (texts.length === 0) break;
      for (const text of texts) error ??= check.entry(text);
      await write(`${texts.join("\n")}\n`);
      count += texts.length;
      const last = sequenceOf(texts.at(-1) ?? "");
      next = typeof last === "number" && last >= next ? last + 1 : next + texts.length;
      progress(Math.min(next, end) - head.from_sequence);
    }
    error ??= check.end();
  });
  const data = { path, from_sequence: head.from_sequence, count, log, ...(error && { chain_integrity_error: error }) };
  const there = `${entries(count)} of log ${log} are in ${clean(path)}, as they are.`;
  if (error === undefined) return { data, text: there };
  return { data, text: `${there}\n${brokenAt(error)}`, exit: exitCodes.verificationFailed };
}

/** The log only grows, so what it has now it still has when the head is asked for. */
function mustReach(from: number, count: number, size: number): void {
  if (from + count <= size) return;
  const left = Math.max(0, size - from);
  const there = `the log has ${entries(size)}, ${left} of them from sequence ${from} on`;
  const hint = left === 0 ? undefined : "Leave --count out to export up to the newest checkpoint.";
  throw usageRefusal(`There are not ${entries(count)} to export: ${there}.`, hint);
}

/** What was asked for, what the server says it gives and what the head itself says must be one. */
function checkHead({ head, from_sequence, count }: Head, from: number, asked: number | undefined): BundleHeader {
  const [format, headerLine, ...rest] = head.split("\n");
  const header = entryOf(headerLine ?? "") as Partial<BundleHeader> | null;
  const isBundle = format === "portcullis-audit-bundle/v1" && rest.length === 1 && rest[0] === "";
  const agrees = header?.from === from_sequence && header.entries === count;
  if (!isBundle || !agrees || from_sequence !== from || (asked !== undefined && asked !== count)) {
    throw wrong("The head of the bundle is not the one that was asked for.");
  }
  const { checkpoint = "", left = [], right = [] } = header;
  return { from, entries: count, checkpoint, left, right };
}

async function writeBundle(
  context: Context,
  client: Client,
  head: Head,
  check: BundleCheck,
  write: WriteText,
): Promise<void> {
  const end = head.from_sequence + head.count;
  let next = head.from_sequence;
  const progress = progressOf(context, head.count);
  await write(head.head);
  for await (const { texts } of pagesOf(client, head.from_sequence, end)) {
    for (const text of texts) {
      if (text.includes("\n") || sequenceOf(text) !== next) throw wrong(`Entry ${next} is not where it should be.`);
      mustBeRight(check.entry(text));
      next += 1;
    }
    await write(`${texts.join("\n")}\n`);
    progress(next - head.from_sequence);
  }
  if (next !== end) throw wrong(`${next - head.from_sequence} of ${entries(head.count)} came.`);
  mustBeRight(check.end());
}

function mustBeRight(error: IntegrityError | undefined): void {
  if (error === undefined) return;
  const { code, sequence, expected, actual } = error;
  throw wrong(`The audit chain is broken at sequence ${sequence}: ${code}, expected ${expected}, found ${actual}.`);
}

function sequenceOf(text: string): unknown {
  return (entryOf(text) as { readonly sequence?: unknown } | null)?.sequence;
}

/** At most one line a second, and none for what is over at once. */
function progressOf({ clock, terminal }: Context, count: number): (done: number) => void {
  let saidAt: Instant = clock.now();
  return (done) => {
    if (done < count && millisecondsBetween(saidAt, clock.now()) < 1_000) return;
    saidAt = clock.now();
    terminal.say(`${done} of ${entries(count)}`);
  };
}

function wrong(detail: string): Refusal {
  const hint = "Nothing was written; `ctl operations audit verify` looks closer.";
  return new Refusal(exitCodes.verificationFailed, "CHAIN_INTEGRITY", detail, hint);
}
