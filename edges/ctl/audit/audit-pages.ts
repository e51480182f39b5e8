// The audit log as ctl reads it: pages of exact texts, one line per entry for people, and a broken chain reported with its place.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { isApiError, Refusal } from "../failure.ts";
import { countOf } from "../text/numbers.ts";
import { clean, pairs } from "../text/text.ts";
import type { Answer, Context, VerbOption } from "../verbs/verb.ts";

/** What the server takes in one answer. */
export const pageSize = 500;

export interface Page {
  readonly from: number;
  readonly texts: readonly string[];
  /** How many entries the log had when the page was read. */
  readonly size: number;
}

/** The entries from `from` up to, not including, `end`. The server may send fewer at a time than asked, but not none before the end. */
export async function* pagesOf(client: Client, from: number, end: number): AsyncGenerator<Page> {
  for (let at = from; at < end; ) {
    const page = await client.readAudit({ fromSequence: at, countMax: Math.min(pageSize, end - at) });
    const texts = page.texts.slice(0, end - at);
    if (texts.length === 0) {
      const detail = `The server has no entry ${at}, though it spoke of ${end}.`;
      throw new Refusal(exitCodes.failed, "INTERNAL", detail);
    }
    yield { from: at, texts, size: page.size };
    at += texts.length;
  }
}

export async function sizeOf(client: Client, log: LogAsked = {}): Promise<number> {
  return (await client.readAudit({ fromSequence: 0, countMax: 1, ...log })).size;
}

export const logOption: VerbOption = {
  name: "log",
  value: "N",
  sentence: "Of a log that was closed: its number, as `status` shows it.",
};

interface LogAsked {
  readonly log?: number;
}

export function logOf(context: Context): LogAsked {
  const given = context.option("log");
  return given === undefined ? {} : { log: countOf("log", given, 1) };
}

/** What was found when it was closed, in one line. */
export function closedLine(
  log: NonNullable<AnswerOf<"getAuditStatus">["closed_logs"]>[number],
): readonly [string, string] {
  const { code, sequence } = log.fault;
  const held = log.verified_size === 0 ? "no checkpoint held" : `the first ${entries(log.verified_size)} held`;
  return ["Closed log", `${log.log} (${clean(log.origin)}): ${code} at ${sequence}, ${held}; closed ${log.closed_at}`];
}

/** As JSON reads it; a text that is no JSON stays a text, so that it is seen. */
export function entryOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // Whether the chain is whole is for `verify` to say; here it is only shown.
    return text;
  }
}

const dataLengthMax = 120;

/** Long data is cut for people; JSON and CSV have all of it. */
export function shortData(data: unknown): string {
  const text = JSON.stringify(data) ?? "";
  return text.length <= dataLengthMax ? text : `${text.slice(0, dataLengthMax)}…`;
}

export function entryLine(text: string): string {
  const entry = entryOf(text);
  if (typeof entry !== "object" || entry === null) return clean(text);
  const { sequence, timestamp, actor, action, subject_id, data } = entry as Readonly<Record<string, unknown>>;
  return clean([sequence, timestamp, actor, action, subject_id, shortData(data)].map(String).join("  "));
}

export interface IntegrityError {
  readonly code: string;
  readonly sequence: number;
  readonly expected: string;
  readonly actual: string;
}

/** A verification that found the chain broken has done its work: it is answered, with an exit code of its own. */
export async function orBrokenChain(verify: () => Promise<Answer>): Promise<Answer> {
  try {
    return await verify();
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.code !== "CHAIN_INTEGRITY") throw thrown;
    const error = integrityErrorOf(thrown.problem);
    const detail = thrown.detail ?? "The audit chain is broken.";
    const data = { verified: false, code: thrown.code, detail, ...(error && { chain_integrity_error: error }) };
    return { data, text: brokenText(detail, error), exit: exitCodes.verificationFailed };
  }
}

function brokenText(detail: string, error: IntegrityError | undefined): string {
  return error === undefined ? clean(detail) : `${brokenAt(error)}\n${clean(detail)}`;
}

/** Where the chain is broken, what should stand there and what does. */
export function brokenAt({ code, sequence, expected, actual }: IntegrityError): string {
  const facts = pairs([
    ["Sequence", String(sequence)],
    ["Code", code],
    ["Expected", expected],
    ["Actual", actual],
  ]);
  return `The audit chain is broken at sequence ${sequence}.\n${facts}`;
}

function integrityErrorOf(problem: unknown): IntegrityError | undefined {
  const found = (problem as { readonly chain_integrity_error?: unknown } | undefined)?.chain_integrity_error;
  if (typeof found !== "object" || found === null) return undefined;
  const { code, sequence, expected, actual } = found as Readonly<Record<string, unknown>>;
  return { code: String(code), sequence: Number(sequence), expected: String(expected), actual: String(actual) };
}

const levels: Readonly<Record<string, string>> = {
  L0: "consistent in itself, and nothing more",
  L1: "as our own signed checkpoints say",
  L2: "as enough witnesses have cosigned",
};

/** What a clean verification and an inspection both say. */
export function verdictLines(verdict: {
  readonly trust_level: string;
  readonly unanchored_count: number;
  readonly covered_size: number;
}): readonly (readonly [string, string])[] {
  const meaning = levels[verdict.trust_level];
  return [
    ["Trust level", `${verdict.trust_level}${meaning === undefined ? "" : ` (${meaning})`}`],
    ["Covered", verdict.covered_size === 0 ? "by no checkpoint" : `the first ${entries(verdict.covered_size)}`],
    ["Unanchored", `${entries(verdict.unanchored_count)} after the last checkpoint that this rests on`],
  ];
}

export function entries(count: number): string {
  return count === 1 ? "1 entry" : `${count} entries`;
}
