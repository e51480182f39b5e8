// The work of filings as it is done in a process of its own: what it is handed, and what it answers, both as plain JSON.
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { readFeedback, readFeedbackName } from "../../core/filings/feedback.ts";
import type { FilingFiles } from "../../ports/filing-files.ts";
import type { FeedbackListed, FilingTransport } from "../../ports/filing-transport.ts";
import type { FileToSend, RangeToCompress, ReadFeedback } from "../../ports/filing-work.ts";
import { systemSha256OfBytes } from "../system/signing.ts";
import { type Bzip2, openBzip2 } from "./bzip2.ts";
import { folderTransport } from "./folder-transport.ts";
import { type SftpPlace, sftpTransport } from "./sftp-transport.ts";

/** Where a regime's files go. The key travels over the channel between the two processes alone. */
export type FilingTarget =
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "sftp"; readonly place: SftpPlace; readonly privateKey: string };

export type FilingJob =
  | { readonly kind: "compress"; readonly range: RangeToCompress }
  | { readonly kind: "send"; readonly target: FilingTarget; readonly files: readonly FileToSend[] }
  | { readonly kind: "list"; readonly target: FilingTarget }
  | { readonly kind: "read"; readonly target: FilingTarget; readonly names: readonly string[] }
  /** Content in base 64. */
  | { readonly kind: "given"; readonly name: string; readonly content: string };

export type FilingJobAnswer =
  | { readonly compressed: string }
  | { readonly changed: true }
  | { readonly outcomes: readonly ("SENT" | "THERE")[] }
  | { readonly listed: readonly FeedbackListed[] }
  | { readonly read: readonly ReadFeedback[] }
  | { readonly failed: { readonly code: string; readonly sentence: string } };

/** What a job is done with. */
interface FilingTools {
  readonly files: FilingFiles;
  open(target: FilingTarget): Promise<FilingTransport>;
  bzip2(): Promise<Bzip2>;
  /** Of one feedback file, before and after it is decompressed. */
  readonly feedbackBytesMax: number;
}

/** On this machine. */
export function realTools(files: FilingFiles): FilingTools {
  const open = async (target: FilingTarget): Promise<FilingTransport> =>
    target.kind === "folder" ? folderTransport(target) : sftpTransport(target);
  return { files, open, bzip2: openBzip2, feedbackBytesMax: 100_000_000 };
}

export async function doFilingJob(job: FilingJob, tools: FilingTools): Promise<FilingJobAnswer> {
  try {
    return await answerTo(job, tools);
  } catch (thrown) {
    const code = thrown instanceof Fault && thrown.code === "FILING_NAME_TAKEN" ? thrown.code : "FILING_UNREACHABLE";
    return { failed: { code, sentence: messageOf(thrown) } };
  }
}

async function answerTo(job: FilingJob, tools: FilingTools): Promise<FilingJobAnswer> {
  switch (job.kind) {
    case "compress":
      return compress(job.range, tools);
    case "send":
      return over(tools, job.target, async (transport) => ({ outcomes: await send(transport, job.files, tools) }));
    case "list":
      return over(tools, job.target, async (transport) => ({ listed: await transport.feedback() }));
    case "read":
      return over(tools, job.target, async (transport) => {
        const read: ReadFeedback[] = [];
        for (const name of job.names) {
          read.push(await understood(tools, name, await transport.read(name, tools.feedbackBytesMax).catch(problemOf)));
        }
        return { read };
      });
    case "given":
      return { read: [await understood(tools, job.name, Buffer.from(job.content, "base64"))] };
  }
}

async function compress(
  { path, from, portions }: RangeToCompress,
  { files, ...tools }: FilingTools,
): Promise<FilingJobAnswer> {
  const whole = new Uint8Array(portions.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const { bytes, sha256 } of portions) {
    const portion = await files.read(path, from + at, bytes);
    if (portion.length !== bytes || hex(portion) !== sha256) return { changed: true };
    whole.set(portion, at);
    at += bytes;
  }
  const bzip2 = await tools.bzip2();
  return { compressed: Buffer.from(bzip2.compress(whole)).toString("base64") };
}

async function send(
  transport: FilingTransport,
  toSend: readonly FileToSend[],
  { files }: Pick<FilingTools, "files">,
): Promise<readonly ("SENT" | "THERE")[]> {
  const outcomes: ("SENT" | "THERE")[] = [];
  for (const { path, name, sha256 } of toSend) {
    const size = await files.size(path);
    const content = size === undefined ? undefined : await files.read(path, 0, size);
    if (content === undefined || hex(content) !== sha256) {
      throw new Fault("FILING_UNREACHABLE", `${path.join("/")} is not what was sealed`, { retry: "later" });
    }
    outcomes.push(await transport.put({ name, content }));
  }
  return outcomes;
}

async function understood(
  tools: Pick<FilingTools, "bzip2" | "feedbackBytesMax">,
  name: string,
  content: Uint8Array | { readonly problem: string },
): Promise<ReadFeedback> {
  if ("problem" in content) return { name, bytes: 0, sha256: hex(Buffer.from(content.problem)), ...content };
  const seen = { name, bytes: content.length, sha256: hex(content) };
  const named = readFeedbackName(name);
  const { feedbackBytesMax } = tools;
  if (named === undefined) return { ...seen, problem: "Its name is not one of feedback." };
  if (content.length > feedbackBytesMax) return { ...seen, problem: `It has more than ${feedbackBytesMax} bytes.` };
  try {
    const bytes = named.isCompressed ? (await tools.bzip2()).decompress(content, feedbackBytesMax) : content;
    return { ...seen, ...readFeedback(named, new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch (thrown) {
    return { ...seen, problem: `It cannot be read: ${messageOf(thrown)}.` };
  }
}

const problemOf = (thrown: unknown): { readonly problem: string } => ({ problem: messageOf(thrown) });

async function over<T>(
  { open }: Pick<FilingTools, "open">,
  target: FilingTarget,
  run: (transport: FilingTransport) => Promise<T>,
): Promise<T> {
  const transport = await open(target);
  try {
    return await run(transport);
  } finally {
    await transport.close();
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(systemSha256OfBytes(bytes), "latin1").toString("hex");
}
