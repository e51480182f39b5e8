// What CAT says about a submission file: which file of feedback is about what, and what stands in it. Nobody vouches for what lies in that folder: what is not
// exactly as expected is unreadable, and changes nothing.
//
//  1. A name is letters, digits and `_ . -`, and leads nowhere.
//  2. A number of up to 20 digits is read as its digits.
import { parseJson } from "../../contracts/src/parse-json.ts";

type FeedbackStage = "ack" | "integrity" | "ingestion" | "ingestion-error" | "linkage-error";

interface FeedbackName {
  readonly stage: FeedbackStage;
  /** Of the submission file that it is about; of linkage errors the words that it begins with. */
  readonly base: string;
  readonly isCompressed: boolean;
}

/** A receipt of a stage. */
interface FeedbackReceipt {
  readonly status: "Success" | "Failure";
  readonly code?: string;
  readonly errorCount?: number;
}

/** One record that is rejected. */
interface FeedbackError {
  readonly codes: readonly string[];
  /** As CAT numbers it; a repair must say it. */
  readonly errorRoeId: string;
  /** As we named the record. */
  readonly firmRoeId: string;
}

type FeedbackContent =
  | { readonly receipt: FeedbackReceipt }
  | { readonly errors: readonly FeedbackError[] }
  /** Why it cannot be read. */
  | { readonly problem: string };

const nameLengthMax = 200;
const receiptStages = ["ack", "integrity", "ingestion"] as const;
const errorsMax = 200_000;
const codesMax = 100;

/** Undefined for what is no feedback at all. */
export function readFeedbackName(name: string): FeedbackName | undefined {
  const isName = name.length <= nameLengthMax && /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name) && !name.includes("..");
  if (!isName) return undefined;
  const [, base, stage] = /^(.+)\.(ack|integrity|ingestion)\.json$/.exec(name) ?? [];
  const receipt = receiptStages.find((one) => one === stage);
  if (base !== undefined && receipt !== undefined) return { stage: receipt, base, isCompressed: false };
  const [, rejected] = /^(.+)\.ingestion\.error\.json\.bz2$/.exec(name) ?? [];
  if (rejected !== undefined) return { stage: "ingestion-error", base: rejected, isCompressed: true };
  const [, linked] = /^(.+)\.linkage\.error_\d{1,9}\.json\.bz2$/.exec(name) ?? [];
  return linked === undefined ? undefined : { stage: "linkage-error", base: linked, isCompressed: true };
}

export function readFeedback({ stage }: Pick<FeedbackName, "stage">, text: string): FeedbackContent {
  try {
    const isReceipt = receiptStages.some((one) => one === stage);
    return isReceipt ? { receipt: receiptOf(text, stage) } : { errors: errorsOf(text) };
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : "It cannot be read." };
  }
}

function receiptOf(text: string, stage: FeedbackStage): FeedbackReceipt {
  const { stage: said, status, code, errorCount } = objectOf(text, "The receipt");
  if (said !== undefined && (typeof said !== "string" || said.toLowerCase() !== stage)) {
    throw new RangeError(`Its stage is not ${stage}.`);
  }
  if (status !== "Success" && status !== "Failure") throw new RangeError("Its status is neither Success nor Failure.");
  const named = textOf(code);
  const count = errorCount === undefined || errorCount === null ? undefined : Number(errorCount);
  const isCount = count === undefined || (Number.isSafeInteger(count) && count >= 0);
  if (!isCount) throw new RangeError("Its errorCount is no count.");
  return { status, ...(named !== undefined && { code: named }), ...(count !== undefined && { errorCount: count }) };
}

function errorsOf(text: string): readonly FeedbackError[] {
  if (text !== "" && !text.endsWith("\n")) throw new RangeError("Its last line has no end: it is cut off.");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > errorsMax) throw new RangeError(`It has more than ${errorsMax} lines.`);
  return lines.map((line, index) => errorOf(line, `Line ${index + 1}`));
}

function errorOf(line: string, where: string): FeedbackError {
  const { errorCode, errorROEID, errorRecord } = objectOf(line, where);
  const listed = Array.isArray(errorCode) ? (errorCode as unknown[]) : [errorCode];
  const codes = listed.flatMap((code) => textOf(code) ?? []);
  if (codes.length === 0 || codes.length > codesMax) throw new RangeError(`${where} has no errorCode.`);
  const errorRoeId = textOf(errorROEID);
  if (errorRoeId === undefined || !/^\d{1,20}$/.test(errorRoeId)) throw new RangeError(`${where} has no errorROEID.`);
  const record =
    typeof errorRecord === "string" ? objectOf(errorRecord, `${where}, errorRecord`) : (errorRecord as object | null);
  const firmRoeId = textOf((record as Readonly<Record<string, unknown>> | null | undefined)?.["firmROEID"]);
  if (firmRoeId === undefined) throw new RangeError(`${where} has no firmROEID in its errorRecord.`);
  return { codes, errorRoeId, firmRoeId };
}

/** A short text, or a number as its digits. */
function textOf(value: unknown): string | undefined {
  const isText = typeof value === "string" || typeof value === "number";
  const text = isText ? String(value) : "";
  return /^[\x20-\x7e]{1,64}$/.test(text) ? text : undefined;
}

/** A text without an end takes all that follows: it is no JSON, and is looked at once. */
const textsAndNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/g;

function objectOf(text: string, what: string): Readonly<Record<string, unknown>> {
  const exact = text.replace(textsAndNumbers, (token) => (/^\d{16,20}$/.test(token) ? `"${token}"` : token));
  let read: unknown;
  try {
    read = parseJson(exact);
  } catch {
    throw new RangeError(`${what} is no JSON.`);
  }
  if (typeof read !== "object" || read === null || Array.isArray(read)) throw new RangeError(`${what} is no object.`);
  return read as Readonly<Record<string, unknown>>;
}
