// An attack on a bundle as an attack on the table: the same lines as rows, the same notes as checkpoints.
import type { Attack } from "../attacks/shape.ts";
import type { StoredContent } from "./stored-log.ts";

export interface NoRows {
  /** Why the attack has no counterpart in the table. */
  readonly none: string;
}

export function storedContent({ name, bytes, answer, database }: Attack): StoredContent | NoRows {
  if (database !== undefined && "none" in database) return database;
  if (answer === "usage") return { none: "It is about what the auditor types; the platform reads its own keys." };
  if (name.startsWith("proof:")) return { none: "A proof is a file of its own; the table has nothing like it." };
  if (answer === "BUNDLE_MALFORMED") return { none: "It is about the file around the entries; a table has none." };
  const [, headerText = "", ...lines] = linesOf(Buffer.from(bytes));
  const header = JSON.parse(headerText.toString("utf8")) as Readonly<Record<string, unknown>>;
  if (header["from"] !== 0) return { none: "It is about what stands before a range; the table has all of it." };
  const notes = [...(header["handovers"] as string[]), String(header["checkpoint"])];
  if (notes.some((note) => note.includes("\0"))) return { none: "PostgreSQL keeps no text with a zero character." };
  const checkpoints = new Map(notes.map((note) => [sizeOf(note) ?? lines.length, note]));
  return { texts: lines, checkpoints: [...checkpoints].map(([size, note]) => ({ size, note })) };
}

function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/** The row of a checkpoint stands under the size that its note names, if it names one. */
function sizeOf(note: string): number | undefined {
  const size = Number(/^[0-9]{1,15}$/.exec(note.split("\n")[1] ?? "")?.[0]);
  return Number.isSafeInteger(size) ? size : undefined;
}

/** What the running platform's verification must say of these rows. */
export function answerOfRows({ answer, sequence, database }: Attack, { texts }: StoredContent): string {
  if (database !== undefined && "answer" in database) return lineOf(database.answer, database.sequence ?? sequence);
  // Witnesses answer later than the log signs, so what they have not cosigned yet is not broken: the level says it.
  if (answer === "WITNESSES_MISSING") return "L1";
  // A note that cannot be read has no size, but its row has one.
  if (answer === "CHECKPOINT_MALFORMED" && sequence === 0) return lineOf(answer, texts.length);
  return lineOf(answer, sequence);
}

function lineOf(answer: string, sequence: number): string {
  return /^L[0-2]$/.test(answer) ? answer : `${answer} at ${sequence}`;
}
