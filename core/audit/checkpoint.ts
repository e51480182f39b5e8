// A checkpoint: what the log says it is at one size. Three lines under a signature; more or other lines are refused, because what a witness did not
// look at must not ride along with what it signed.
import { base64OfHash, hashOfBase64, readDecimal } from "./base64.ts";
import { type Hash, hashOfHex } from "./hash.ts";
import {
  isKeyName,
  type Malformed,
  type Note,
  readNote,
  type SignMessage,
  signNote,
  type VerifierKey,
} from "./signed-note.ts";

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
}

/** A checkpoint with the note it was read from; its signatures are not verified yet. */
export interface CheckpointNote {
  readonly checkpoint: Checkpoint;
  readonly note: Note;
}

/** The root of the tree of no entries: the SHA-256 of nothing. */
export const emptyRoot: Hash = hashOfHex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");

/** The three lines. Throws a RangeError on what no checkpoint says. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  const text = `${origin}\n${size}\n${base64OfHash(root)}\n`;
  const read = readCheckpointText(text);
  if ("malformed" in read) throw new RangeError(`not a checkpoint: ${read.malformed}`);
  return text;
}

/** The checkpoint as a note with the signatures of these keys. */
export function signCheckpoint(
  checkpoint: Checkpoint,
  signers: readonly { readonly key: VerifierKey; readonly sign: SignMessage }[],
): string {
  for (const { key } of signers) {
    if (key.name !== checkpoint.origin) throw new RangeError(`${key.name} cannot sign for ${checkpoint.origin}`);
  }
  return signNote(checkpointText(checkpoint), signers);
}

/** What a note's text says as a checkpoint. */
export function readCheckpointText(text: string): Checkpoint | Malformed {
  const [origin = "", sizeText = "", rootText = "", ...rest] = text.split("\n");
  if (rest.length !== 1 || rest[0] !== "") return { malformed: "not exactly three lines" };
  if (!isKeyName(origin)) return { malformed: "the first line is not an origin" };
  const size = readDecimal(sizeText);
  if (size === undefined) return { malformed: "the second line is not a size" };
  const root = hashOfBase64(rootText);
  if (root === undefined) return { malformed: "the third line is not a root" };
  if (size === 0 && root !== emptyRoot) return { malformed: "size 0 with the root of another tree" };
  return { origin, size, root };
}

/** Reads a note that is a checkpoint; nothing is verified yet. */
export function readCheckpointNote(content: string): CheckpointNote | Malformed {
  const note = readNote(content);
  if ("malformed" in note) return note;
  const checkpoint = readCheckpointText(note.text);
  return "malformed" in checkpoint ? checkpoint : { checkpoint, note };
}
