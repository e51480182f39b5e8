// The file that carries a range of entries out of the house: two lines of header, then one entry per line. Written and read here; judged in
// verify-bundle.ts.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { base64OfHash, hashOfBase64, utf8Of } from "../base64.ts";
import { decodeUtf8 } from "../canonical/canonical-json.ts";
import { isCanonicalJson } from "../canonical/canonical-scan.ts";
import { type CheckpointNote, readCheckpointNote } from "../checkpoint.ts";
import { type Refused, refused } from "../fault.ts";
import type { Hash } from "../hash.ts";
import { isSize, perfectSubtrees } from "../merkle.ts";

export const bundleFirstLine = "portcullis-audit-bundle/v1";
/** Of the second line: more handovers than anybody will ever have fit. */
const headerBytesMax = 4_194_304;
const firstLineBytes = utf8Of(bundleFirstLine);

/** What is written. */
interface BundleParts {
  readonly from: number;
  readonly entries: number;
  /** The note of the checkpoint. */
  readonly checkpoint: string;
  /** The notes of the handovers whose rotation is among the entries, in order of size. */
  readonly handovers: readonly string[];
  readonly left: readonly Hash[];
  readonly right: readonly Hash[];
}

/** What is read. */
export interface BundleHeader {
  readonly from: number;
  readonly entries: number;
  readonly signed: CheckpointNote;
  readonly handovers: readonly CheckpointNote[];
  readonly left: readonly Hash[];
  readonly right: readonly Hash[];
}

/** The two lines before the entries, with their line feeds. */
export function bundleHead({ from, entries, checkpoint, handovers, left, right }: BundleParts): string {
  const header = headerText({
    checkpoint,
    entries,
    from,
    handovers,
    left: left.map(base64OfHash),
    right: right.map(base64OfHash),
  });
  return `${bundleFirstLine}\n${header}\n`;
}

interface HeaderFields {
  readonly checkpoint: string;
  readonly entries: number;
  readonly from: number;
  readonly handovers: readonly string[];
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** RFC 8785 writes strings and whole numbers as JSON.stringify does; the names are listed in their order. */
function headerText({ checkpoint, entries, from, handovers, left, right }: HeaderFields): string {
  return JSON.stringify({ checkpoint, entries, from, handovers, left, right });
}

/** The parts of the tree that stand in the header of a bundle of these entries. */
export function bundleSpans(from: number, entries: number, size: number) {
  return {
    left: perfectSubtrees({ start: 0, end: from }),
    right: perfectSubtrees({ start: Math.min(from + entries, size), end: size }),
  };
}

export function isBundleFirstLine(line: Uint8Array): boolean {
  return line.length === firstLineBytes.length && line.every((byte, at) => byte === firstLineBytes[at]);
}

/** Reads the second line: the header, whole and fitting together. */
export function readBundleHeader(line: Uint8Array): BundleHeader | Refused {
  if (line.length > headerBytesMax) return notABundle(`a header of at most ${headerBytesMax} bytes`, `${line.length}`);
  const fields = isCanonicalJson(line) ? readFields(decodeUtf8(line)) : undefined;
  if (fields === undefined) return notABundle("a header in canonical JSON", "something else");
  const left = hashesOf(fields.left);
  const right = hashesOf(fields.right);
  if (left === undefined || right === undefined) return notABundle("hashes of 32 bytes in base64", "something else");
  const signed = readCheckpointNote(fields.checkpoint);
  if ("malformed" in signed) return refused("CHECKPOINT_MALFORMED", 0, "a checkpoint", signed.malformed);
  const handovers: CheckpointNote[] = [];
  for (const content of fields.handovers) {
    const handover = readCheckpointNote(content);
    if ("malformed" in handover) {
      return refused("CHECKPOINT_MALFORMED", 0, "the checkpoint of a handover", handover.malformed);
    }
    handovers.push(handover);
  }
  return fitting({ from: fields.from, entries: fields.entries, signed, handovers, left, right });
}

/** The fields of canonical JSON; undefined when it is another object, or none. */
function readFields(text: string): HeaderFields | undefined {
  const value: unknown = parseJson(text);
  const { checkpoint, entries, from, handovers, left, right } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof checkpoint !== "string" || !isWhole(entries) || !isWhole(from) || !isSize(from + entries))
    return undefined;
  if (!isTexts(handovers) || !isTexts(left) || !isTexts(right)) return undefined;
  const fields = { checkpoint, entries, from, handovers, left, right };
  // Written again it must be the same text: no name too much.
  return headerText(fields) === text ? fields : undefined;
}

/** The numbers and the counts of hashes of a header belong together. */
function fitting(header: BundleHeader): BundleHeader | Refused {
  const { from, entries, signed, handovers, left, right } = header;
  const { size } = signed.checkpoint;
  if (from > size) return notABundle(`entries from at most ${size} on`, `${from}`);
  const spans = bundleSpans(from, entries, size);
  if (left.length !== spans.left.length) return notABundle(`${spans.left.length} hashes on the left`, `${left.length}`);
  if (right.length < spans.right.length) {
    const missing = `${right.length} of ${spans.right.length} hashes after them`;
    return refused("TRUNCATED", from + entries, `entries up to ${size}`, `${entries} from ${from} on, and ${missing}`);
  }
  if (right.length > spans.right.length) {
    return notABundle(`${spans.right.length} hashes on the right`, `${right.length}`);
  }
  let last = from;
  for (const { checkpoint } of handovers) {
    if (checkpoint.size <= last || checkpoint.size > Math.min(size, from + entries)) {
      const expected = "handovers of rotations among the entries, in order";
      return refused("HANDOVER_INVALID", Math.max(0, checkpoint.size - 1), expected, `one of size ${checkpoint.size}`);
    }
    last = checkpoint.size;
  }
  return header;
}

function notABundle(expected: string, actual: string): Refused {
  return refused("BUNDLE_MALFORMED", 0, expected, actual);
}

function hashesOf(texts: readonly string[]): readonly Hash[] | undefined {
  const hashes = texts.map(hashOfBase64).filter((hash) => hash !== undefined);
  return hashes.length === texts.length ? hashes : undefined;
}

function isWhole(value: unknown): value is number {
  return isSize(value as number);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
